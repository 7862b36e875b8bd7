package auth_test

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/auth"
	"github.com/rialto-mcp/rialto/server"
)

// The same holds over HTTP+SSE: a stream belongs to who opened it, and each message is judged by its token.
func TestOverSSE(t *testing.T) {
	i := newIssuer(t)
	opts := i.options(t)
	opts.ScopesFor = auth.ToolScopes(map[string][]string{"write": {"write"}})
	s := newServer(server.HTTPOptions{})
	url := listen(t, auth.Bearer(opts)(s.SSEHandler()))
	t.Cleanup(func() {
		if err := s.Shutdown(context.Background()); err != nil {
			t.Errorf("shutdown: %v", err)
		}
	})
	if got := ask(t, "GET", url+"/sse", ""); got.status != 401 {
		t.Errorf("without a token: %v", got)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/sse", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+i.token(t, nil))
	stream, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	events := bufio.NewScanner(stream.Body)
	next := func() string {
		for events.Scan() {
			if data, ok := strings.CutPrefix(events.Text(), "data: "); ok {
				return data
			}
		}
		return "the stream is over"
	}
	messages := url + next()
	post := func(token, body string) response {
		return ask(t, "POST", messages, body, "Authorization", "Bearer "+token)
	}
	if got := post(i.token(t, nil), strings.Replace(initialize, "2025-06-18", "2025-03-26", 1)); got.status != 202 || !strings.Contains(next(), `"protected"`) {
		t.Errorf("initialize: %v", got)
	}
	if got := post(i.token(t, nil), whoami); got.status != 202 || !strings.Contains(next(), "ann [read]") {
		t.Errorf("a fresh token: %v", got)
	}
	write := strings.Replace(whoami, "whoami", "write", 1)
	for _, body := range []string{write, "[" + whoami + "," + write + "]"} {
		if got := post(i.token(t, nil), body); got.status != 403 || got.header.Get("WWW-Authenticate") != lacks("read write") {
			t.Errorf("%s: %v", body, got)
		}
	}
	if got := post(i.token(t, map[string]any{"sub": "bob"}), whoami); got.status != 404 {
		t.Errorf("somebody else: %v", got)
	}
	if got := ask(t, "POST", messages, whoami); got.status != 401 {
		t.Errorf("nobody: %v", got)
	}
}
