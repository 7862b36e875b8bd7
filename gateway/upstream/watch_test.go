package upstream

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/client"
)

// closing is a legacy server over HTTP without a network, which lets nobody in for a while.
type closing struct {
	cut  atomic.Pointer[io.PipeWriter] // the end of the stream that is open
	shut atomic.Bool
}

// RoundTrip implements http.RoundTripper.
func (c *closing) RoundTrip(req *http.Request) (*http.Response, error) {
	res := &http.Response{StatusCode: 202, Header: http.Header{}, Body: http.NoBody, ContentLength: -1, Request: req}
	switch {
	case c.shut.Load():
		res.StatusCode = http.StatusUnauthorized
		return res, nil
	case req.Method == http.MethodGet:
		out, cut := io.Pipe()
		c.cut.Store(cut)
		res.StatusCode, res.Body = 200, out
		res.Header.Set("Content-Type", "text/event-stream")
		return res, nil
	case req.Method == http.MethodDelete:
		return res, nil
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	var m struct {
		ID     json.RawMessage
		Method string
	}
	if err := json.Unmarshal(body, &m); err != nil || m.ID == nil {
		return res, err
	}
	result := `{}`
	if m.Method == "initialize" {
		result = `{"protocolVersion":"2025-06-18","capabilities":{"resources":{"subscribe":true}},"serverInfo":{"name":"old","version":"1"}}`
	}
	res.StatusCode, res.Body = 200, io.NopCloser(strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)))
	res.Header.Set("Content-Type", "application/json")
	res.Header.Set("Mcp-Session-Id", "s-1")
	return res, nil
}

// TestUpdatesComeBackWithAccess holds that a server which lets the gateway in again after a while brings its news again, and that
// what was missed meanwhile is told.
//
// Seen to fail: the first updates were the last.
func TestUpdatesComeBackWithAccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &closing{}
		c, err := client.DialHTTP(t.Context(), "http://server.example/mcp", client.Options{Mode: client.Legacy, HTTPClient: &http.Client{Transport: server}})
		if err != nil {
			t.Fatal(err)
		}
		conn := FromClient(c)
		told := make(chan string, 10)
		if err := conn.Watch(t.Context(), []string{"memo://1"}, func(uri string) { told <- uri }); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		server.shut.Store(true)
		if err := server.cut.Load().Close(); err != nil {
			t.Error(err)
		}
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if len(told) != 0 {
			t.Errorf("told of %s", <-told)
		}
		server.shut.Store(false)
		time.Sleep(3 * time.Minute)
		if got := <-told; got != "memo://1" {
			t.Errorf("told of %s", got)
		}
		synctest.Wait()
		for len(told) > 0 {
			<-told
		}
		if _, err := io.WriteString(server.cut.Load(), `data: {"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"memo://1"}}`+"\n\n"); err != nil {
			t.Error(err)
		}
		if got := <-told; got != "memo://1" {
			t.Errorf("told of %s", got)
		}
		if err := server.cut.Load().Close(); err != nil {
			t.Error(err)
		}
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	})
}
