package client_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/client"
)

// revocable is a legacy server over HTTP without a network, whose stream opens until access is taken away.
type revocable struct {
	stream  *io.PipeReader // of the first GET
	cut     *io.PipeWriter
	revoked bool
	granted int // tries after which access is there again; 0 is never
	tries   int // of GETs since it was taken away
	asked   int // for news of a resource
}

// RoundTrip implements http.RoundTripper.
func (r *revocable) RoundTrip(req *http.Request) (*http.Response, error) {
	res := &http.Response{StatusCode: 202, Header: http.Header{}, Body: http.NoBody, ContentLength: -1, Request: req}
	say := func(body string) (*http.Response, error) {
		res.StatusCode, res.Body = 200, io.NopCloser(strings.NewReader(body))
		res.Header.Set("Content-Type", jsonType)
		res.Header.Set("Mcp-Session-Id", "s-1")
		return res, nil
	}
	switch {
	case req.Method == http.MethodGet && r.revoked:
		if r.tries++; r.tries != r.granted {
			res.StatusCode = http.StatusUnauthorized
			return res, nil
		}
		r.stream, r.cut = io.Pipe()
		fallthrough
	case req.Method == http.MethodGet:
		res.StatusCode, res.Body = 200, r.stream
		res.Header.Set("Content-Type", "text/event-stream")
		return res, nil
	case req.Method == http.MethodDelete:
		return res, nil
	}
	body, err := io.ReadAll(req.Body)
	switch {
	case err != nil:
		return nil, err
	case bytes.Contains(body, []byte(`"initialize"`)):
		return say(strings.ReplaceAll(strings.Replace(initializOK, `"tools":{}`, `"resources":{"subscribe":true}`, 1), "{id}", "1"))
	case bytes.Contains(body, []byte(`"resources/subscribe"`)):
		r.asked++
		return say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`, 1+r.asked))
	}
	return res, nil
}

// A client whose access is taken away finds its stream refused. It tries again, since credentials may be about to be renewed, but
// not for ever: who waits for news is told that there will be none.
//
// Seen to fail: it tried for ever, and Next waited with it.
func TestSubscriptionEndsWithoutAccess(t *testing.T) {
	for _, c := range []struct {
		name    string
		granted int // the try that is let in again
		tries   int
		err     error
	}{
		{"access is gone", 0, 8, client.ErrUnauthorized},
		{"other credentials in time", 8, 8, context.DeadlineExceeded}, // of the wait for news
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &revocable{granted: c.granted}
				server.stream, server.cut = io.Pipe()
				dialled, err := client.DialHTTP(t.Context(), "http://server.example/mcp", client.Options{
					Mode: client.Legacy, HTTPClient: &http.Client{Transport: server},
				})
				if err != nil {
					t.Fatal(err)
				}
				sub := subscribe(t, dialled, uris("a:1"), client.SubscribeOptions{Reconnect: true})
				synctest.Wait()
				server.revoked = true
				server.cut.Close()
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				e, err := sub.Next(ctx)
				for err == nil && e.Kind == client.Gap {
					e, err = sub.Next(ctx)
				}
				synctest.Wait()
				if !errors.Is(err, c.err) || server.tries != c.tries {
					t.Errorf("got %+v, %v after %d tries", e, err, server.tries)
				}
				if c.granted == 0 {
					comesBack(t, server, dialled)
				}
				server.cut.Close()
				if err := dialled.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// comesBack gives a client its access back: with the first request that is let in the stream is there again.
func comesBack(t *testing.T, server *revocable, c *client.Client) {
	t.Helper()
	server.granted = server.tries + 1
	sub := subscribe(t, c, uris("a:1"))
	synctest.Wait()
	if server.tries != server.granted {
		t.Fatal("the stream is not asked for again")
	}
	if _, err := io.WriteString(server.cut, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/updated\",\"params\":{\"uri\":\"a:1\"}}\n\n"); err != nil {
		t.Error(err)
	}
	for e, err := range sub.Events(t.Context()) {
		if err != nil || e.Kind == client.ResourceUpdated {
			if err != nil || e.URI != "a:1" {
				t.Errorf("got %+v, %v", e, err)
			}
			break
		}
	}
}
