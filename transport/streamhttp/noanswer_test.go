package streamhttp

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/transport"
)

// A server that answers a request with anything but its answer makes the call fail at once, whether the GET stream of its
// session is open or not, and the error shows the beginning of what came.
func TestNoAnswer(t *testing.T) {
	const result = `{"jsonrpc":"2.0","id":{id},"result":{"content":[],"resultType":"complete"}}`
	event := func(data string) string { return "data: " + data + "\n\n" }
	for _, tc := range []struct {
		name, media, body string
		stays             bool // the server does not end its answer
		want              string
	}{
		{"broken JSON", "application/json", result[:40], false, `sent what is no JSON-RPC message (the JSON text ends too early`},
		{"a page as JSON", "application/json", "<html>", false, `"<html>"`},
		{"no JSON-RPC", "application/json", `{"detail":"not found"}`, false, `"jsonrpc" must be "2.0"): "{\"detail\":\"not found\"}"`},
		{"both result and error", "application/json", result[:len(result)-1] + `,"error":{"code":1,"message":"x"}}`, false, "a result or an error, not both"},
		{"another id", "application/json", strings.Replace(result, "{id}", "77", 1), false, "the answer to request 77 in place of that to request "},
		{"a huge id", "application/json", strings.Replace(result, "{id}", `"`+strings.Repeat("x", 100_000)+`"`, 1), false, "xxx in place of that to request "},
		{"a notification", "application/json", `{"jsonrpc":"2.0","method":"notifications/message","params":{}}`, false, "a body without the answer to request "},
		{"an empty array", "application/json", `[]`, false, "no JSON-RPC message"},
		{"an array without it", "application/json", `[{"jsonrpc":"2.0","method":"notifications/message","params":{}}]`, false, "a body without the answer to request "},
		{"a large page", "application/json", strings.Repeat("<", 100_000), false, "<<<"},
		{"nothing", "application/json", "", false, "ends too early"},
		{"nothing of no type", "", "", false, "status 200 and no content"},
		{"a stream that ends", "text/event-stream", ": hello\n\n", false, "the stream ended without an answer"},
		{"a stream with an answer to something else", "text/event-stream", event(strings.Replace(result, "{id}", "77", 1)), false, "in place of that to request "},
		{"a stream with a broken answer", "text/event-stream", event(result[:40]), false, "no JSON-RPC message"},
		{"a numbered stream with a broken answer", "text/event-stream", "id: 1\n" + event(result[:40]), false, "no JSON-RPC message"},
		{"a broken answer on a stream that stays", "text/event-stream", event(strings.Replace(result, `[]`, `[`, 1)), true, "the answer is no JSON-RPC message"},
		{"two in one on a stream that stays", "text/event-stream", event(result[:len(result)-1] + `,"error":{"code":1,"message":"x"}}`), true, "a result or an error, not both"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, revision := range []string{"2025-11-25", "2026-07-28"} {
				checkLeaks(t)
				url := script(t, func(w http.ResponseWriter, r *http.Request) {
					body, _ := io.ReadAll(r.Body) // what is not whole is no call
					switch {
					case r.Method == http.MethodGet:
						w.Header().Set("Content-Type", typeEvents)
						w.(http.Flusher).Flush()
						<-r.Context().Done()
					case bytes.Contains(body, []byte("tools/call")):
						_, id, _ := strings.Cut(string(body), `"id":`)
						id, _, _ = strings.Cut(id, ",")
						say(tc.media, strings.ReplaceAll(tc.body, "{id}", id))(w, r)
						if tc.stays {
							w.(http.Flusher).Flush()
							<-r.Context().Done()
						}
					default:
						r.Body = io.NopCloser(bytes.NewReader(body))
						answerPost(w, r)
					}
				})
				c := dial(t, url, ClientOptions{})
				if revision == "2026-07-28" {
					c.use(revision)
				} else {
					c.greet(t, revision)
					eventually(t, "it listens", c.Listening)
				}
				began := time.Now()
				_, err := c.call(t.Context(), "echo", engine.CallOptions{Timeout: time.Minute})
				if err == nil || !strings.Contains(err.Error(), tc.want) || len(err.Error()) > 500 || time.Since(began) > 10*time.Second {
					t.Errorf("%s: after %s got %v, want %q", revision, time.Since(began), err, tc.want)
				}
				var frame *transport.FrameError
				if !errors.As(err, &frame) && !errors.Is(err, transport.ErrCut) {
					t.Errorf("%s: the kind of the error is lost: %#v", revision, err)
				}
				c.Close()
			}
		})
	}
}
