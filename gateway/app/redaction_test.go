package app

import (
	"context"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// chatty is a server whose tool says a mail address in all ways there are, heard gives what its user has answered.
func chatty(t *testing.T) (url string, heard <-chan string) {
	t.Helper()
	answers := make(chan string, 1)
	s := server.New(mcp.Implementation{Name: "chatty", Version: "1"}, server.Options{})
	server.AddTool(s, mcp.Tool{Name: "chat", Description: "Writes to bob@example.com"}, func(ctx context.Context, req *server.Request, _ struct{}) (string, error) {
		answer, err := server.ElicitAs[struct{ To string }](ctx, req, "To bob@example.com?")
		if err != nil {
			return "", err
		}
		req.Progress(ctx, 1, 2, "writing to bob@example.com")
		req.Log(ctx, mcp.LevelInfo, "chat", "bob@example.com is slow")
		answers <- answer.To
		return "done", nil
	})
	ts := httptest.NewServer(s.Handler())
	t.Cleanup(ts.Close)
	return ts.URL, answers
}

// TestRedactionInTheMidst masks what a server says in the middle of a call and what it is answered, by settings of a file, and as the
// file says it from then on when that changes. Nothing of it is in the audit log, and none of it is a decision about the call.
func TestRedactionInTheMidst(t *testing.T) {
	for name, mode := range map[string]client.Mode{"legacy": client.Legacy, "modern": client.Modern} {
		t.Run(name, func(t *testing.T) {
			url, heard := chatty(t)
			log := filepath.Join(t.TempDir(), "audit.jsonl")
			text := func(redact string) string {
				return file(`"audit": {"file": "`+filepath.ToSlash(log)+`", "arguments": "full", "results": "full"}, "policy": {"ask": {"name": false}, "redact": [`+redact+`]}`, "chatty", url)
			}
			f := follow(t, text(`{"name": "mails", "find": "email"}`))
			f.err.wait(t, "chatty: ready")
			asked, told, logged := make(chan string, 1), make(chan string, 1), make(chan string, 1)
			c, err := client.DialHTTP(t.Context(), f.url, client.Options{
				Mode: mode, LogLevel: mcp.LevelInfo,
				OnLog: func(m mcp.LoggingMessageParams) { logged <- string(m.Data) },
				Elicit: func(_ context.Context, req *client.ElicitRequest) (*mcp.ElicitResult, error) {
					asked <- req.Message
					return client.Accept(map[string]string{"To": "ada@example.com"})
				},
			})
			check(t, err)
			chat := func() string {
				tools, err := c.ListTools(t.Context(), nil)
				check(t, err)
				_, err = c.CallTool(t.Context(), "chat", nil, client.CallOptions{OnProgress: func(p mcp.ProgressParams) { told <- p.Message }})
				check(t, err)
				return strings.Join([]string{tools.Tools[0].Description, <-asked, <-told, <-logged, <-heard}, "; ")
			}
			const masked = `Writes to [redacted email]; To [redacted email]?; writing to [redacted email]; "[redacted email] is slow"; [redacted email]`
			if got := chat(); got != masked {
				t.Errorf("got  %s\nwant %s", got, masked)
			}
			save(t, f.file, text(`{"name": "answers", "find": "email", "in": "arguments"}`))
			f.err.wait(t, "settings policy.redact")
			const open = `Writes to bob@example.com; To bob@example.com?; writing to bob@example.com; "bob@example.com is slow"; [redacted email]`
			if got := chat(); got != open {
				t.Errorf("with other settings\ngot  %s\nwant %s", got, open)
			}
			check(t, c.Close())
			f.end(t)
			lines, err := os.ReadFile(log)
			check(t, err)
			if strings.Contains(string(lines), "@example.com") || !strings.Contains(string(lines), `"chat"`) {
				t.Errorf("the audit log says\n%s", lines)
			}
			if strings.Contains(string(lines), `"decision"`) {
				t.Errorf("what is masked in the middle of a call is a decision about it:\n%s", lines)
			}
		})
	}
}
