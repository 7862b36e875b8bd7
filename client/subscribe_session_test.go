package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/jsonrpc"
)

// When a session is replaced, the resources are subscribed to in the new one, and everybody is told that something may have
// been missed; who does not want to outlive the session is told that it is over.
func TestSubscriptionsOutliveTheSession(t *testing.T) {
	noLeak(t)
	f := &forgetful{notFound: answer(404, "text/plain", "session not found")}
	react := f.reactions()
	react["initialize"] = func(then func(http.ResponseWriter, *http.Request, *jsonrpc.Message)) func(http.ResponseWriter, *http.Request, *jsonrpc.Message) {
		return func(w http.ResponseWriter, r *http.Request, m *jsonrpc.Message) {
			then(replacing{w}, r, m)
		}
	}(react["initialize"])
	react["resources/subscribe"] = answer(200, jsonType, `{"jsonrpc":"2.0","id":{id},"result":{}}`)
	react["resources/unsubscribe"] = react["resources/subscribe"]
	s := serve(t, react)
	c, err := client.DialHTTP(t.Context(), s.URL, client.Options{Mode: client.Legacy})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	stays := subscribe(t, c, uris("a:1", "a:2"), client.SubscribeOptions{Reconnect: true})
	goes := subscribe(t, c, uris("a:2", "a:3"))
	f.forget()
	if _, err := c.CallTool(t.Context(), "x", nil); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if e, err := stays.Next(ctx); err != nil || e.Kind != client.Gap {
		t.Errorf("got %+v, %v", e, err)
	}
	if _, err := goes.Next(ctx); err == nil || errors.Is(err, io.EOF) || !strings.Contains(err.Error(), "opened anew") {
		t.Errorf("got %v", err)
	}
	if n := strings.Count(s.sent(), "resources/subscribe"); n != 5 {
		t.Errorf("subscribed %d times: %s", n, s.sent())
	}
	for _, sub := range []*client.Subscription{goes, stays} {
		if err := sub.Close(); err != nil {
			t.Error(err)
		}
	}
	if n := strings.Count(s.sent(), "resources/unsubscribe"); n != 2 {
		t.Errorf("gave back %d: %s", n, s.sent())
	}
}

// replacing lets a server offer resources beside its tools.
type replacing struct{ http.ResponseWriter }

func (w replacing) WriteString(s string) (int, error) {
	return io.WriteString(w.ResponseWriter, strings.Replace(s, `"capabilities":{`, `"capabilities":{"resources":{"subscribe":true},`, 1))
}
