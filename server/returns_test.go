package server_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// everyDoor registers handlers of each kind that return one error, and lists a call of each.
func everyDoor(t *testing.T, s *server.Server, err error) map[string][2]string {
	rawTool(t, s, "x", func(context.Context, *server.Request) (*mcp.CallToolResult, error) { return nil, err })
	s.AddPrompt(mcp.Prompt{Name: "x"}, func(context.Context, *server.Request, map[string]string) (*mcp.GetPromptResult, error) {
		return nil, err
	})
	s.AddResource(mcp.Resource{URI: "x:1", Name: "x"}, func(context.Context, *server.Request) (*mcp.ReadResourceResult, error) {
		return nil, err
	})
	s.CompletePrompt("x", "a", func(context.Context, *server.Request, string, map[string]string) ([]string, error) { return nil, err })
	s.Handle("example/x", func(context.Context, *server.Request) (*server.RawResult, error) { return nil, err })
	return map[string][2]string{
		"tool":       {"tools/call", `"name":"x"`},
		"prompt":     {"prompts/get", `"name":"x"`},
		"resource":   {"resources/read", `"uri":"x:1"`},
		"completion": {"completion/complete", `"ref":{"type":"ref/prompt","name":"x"},"argument":{"name":"a","value":""}`},
		"vendor":     {"example/x", ``},
	}
}

// What a handler returns, and what the client gets: the table of the package documentation, row by row.
func TestErrorsOfHandlers(t *testing.T) {
	for _, c := range []struct {
		name  string
		err   error
		tool  string
		other string // "" for the same as tool
	}{
		{"any other error", errors.New("disk full"), `{"content":[{"type":"text","text":"disk full"}],"isError":true}`, "error -32603"},
		{"mcp.Error", mcp.Errorf(-32050, "no"), "error -32050", ""},
		{"mcp.Error with data", mcp.InvalidParams("no").WithData(7), "error -32602 7", ""},
		{"wrapped mcp.Error", fmt.Errorf("deep: %w", mcp.Errorf(12, "no")), "error 12", ""},
		{"local failure", mcp.Errorf(mcp.CodeRequestTimeout, "upstream is slow"), `{"content":[{"type":"text","text":"request timed out: upstream is slow"}],"isError":true}`, "error -32603"},
	} {
		for _, revision := range bothEras {
			t.Run(c.name+"/"+revision, func(t *testing.T) {
				s := newServer(server.Options{})
				calls := everyDoor(t, s, c.err)
				w := dial(t, s, revision)
				for kind, call := range calls {
					want := c.other
					if kind == "tool" || want == "" {
						want = c.tool
					}
					w.want(call[0], call[1], want)
				}
			})
		}
	}
}

// A missing resource has a number and data of its own in each era.
func TestResourceNotFoundOfAHandler(t *testing.T) {
	s := newServer(server.Options{})
	s.AddResource(mcp.Resource{URI: "x:1", Name: "x"}, func(context.Context, *server.Request) (*mcp.ReadResourceResult, error) {
		return nil, mcp.ResourceNotFound("x:1")
	})
	dial(t, s, legacy).want("resources/read", `"uri":"x:1"`, `error -32002 {"uri":"x:1"}`)
	dial(t, s, modern).want("resources/read", `"uri":"x:1"`, `error -32602 {"uri":"x:1"}`)
}

// What a client is not told stands in the log, and nothing of it in the answer.
func TestFailuresAreLogged(t *testing.T) {
	var log bytes.Buffer
	s := newServer(server.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	calls := everyDoor(t, s, mcp.Errorf(mcp.CodeInternal, "sorry").Because(errors.New("password is hunter2")))
	w := dial(t, s, modern)
	for kind, call := range calls {
		log.Reset()
		m := w.call(call[0], call[1])
		if m.Error == nil || m.Error.Message != "sorry" || strings.Contains(string(m.Frame()), "hunter2") {
			t.Errorf("%s: want the error alone, got %s", kind, m.Frame())
		}
		if !strings.Contains(log.String(), "hunter2") || !strings.Contains(log.String(), call[0]) {
			t.Errorf("%s: the cause is missing in the log: %q", kind, log.String())
		}
	}
}

func TestPanicsAreContained(t *testing.T) {
	for _, revision := range bothEras {
		var faults []error
		s := newServer(server.Options{OnError: func(err error) { faults = append(faults, err) }})
		rawTool(t, s, "x", func(context.Context, *server.Request) (*mcp.CallToolResult, error) { panic("secret") })
		rawTool(t, s, "y", func(context.Context, *server.Request) (*mcp.CallToolResult, error) {
			return mcp.TextResult("fine"), nil
		})
		w := dial(t, s, revision)
		m := w.call("tools/call", `"name":"x"`)
		if plain(m) != "error -32603" || strings.Contains(string(m.Frame()), "secret") {
			t.Errorf("%s: want an internal error without detail, got %s", revision, m.Frame())
		}
		if len(faults) != 1 || !strings.Contains(faults[0].Error(), "secret") {
			t.Errorf("%s: want the panic in OnError, got %v", revision, faults)
		}
		w.want("tools/call", `"name":"y"`, `{"content":[{"type":"text","text":"fine"}]}`)
	}
}

// A request that its client has cancelled is not answered, whatever its handler returns, and counts as no failure.
func TestCancelledByThePeer(t *testing.T) {
	for _, revision := range bothEras {
		var log bytes.Buffer
		s := newServer(server.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		running, returned := make(chan struct{}), make(chan struct{})
		s.AddPrompt(mcp.Prompt{Name: "x"}, func(ctx context.Context, _ *server.Request, _ map[string]string) (*mcp.GetPromptResult, error) {
			defer close(returned)
			close(running)
			<-ctx.Done()
			return nil, ctx.Err()
		})
		w := dial(t, s, revision)
		id := w.start("prompts/get", `"name":"x"`)
		<-running
		w.Send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id))
		<-returned
		w.want("prompts/list", "", `{"prompts":[{"name":"x"}]}`) // the next frame is the answer to this
		if log.Len() != 0 {
			t.Errorf("%s: a cancellation was logged as a failure: %s", revision, log.String())
		}
	}
}

func TestUnknownNames(t *testing.T) {
	for _, c := range []struct{ method, members, legacy, modern string }{
		{"tools/call", `"name":"no"`, "error -32602", ""},
		{"prompts/get", `"name":"no"`, "error -32602", ""},
		{"resources/read", `"uri":"no:1"`, `error -32002 {"uri":"no:1"}`, `error -32602 {"uri":"no:1"}`},
		{"completion/complete", `"ref":{"type":"ref/prompt","name":"no"},"argument":{"name":"a","value":""}`, "error -32602", ""},
		{"completion/complete", `"ref":{"type":"ref/resource","uri":"no:{x}"},"argument":{"name":"a","value":""}`, "error -32602", ""},
		{"tools/call", ``, "error -32602", ""},
		{"tools/call", `"name":5`, "error -32602", ""},
		{"prompts/get", `"name":null`, "error -32602", ""},
		{"resources/read", `"uri":["a"]`, "error -32602", ""},
		{"completion/complete", `"ref":{"type":"ref/other","name":"x"},"argument":{"name":"a","value":""}`, "error -32602", ""},
		{"completion/complete", `"ref":{"type":"ref/prompt","name":"x"}`, "error -32602", ""},
		{"example/no", ``, "error -32601", ""},
		{"tasks/get", `"taskId":"1"`, "error -32601", ""},
		{"sampling/createMessage", ``, "error -32601", ""},
		{"ping", ``, `{}`, "error -32601"},
		{"logging/setLevel", `"level":"info"`, `{}`, "error -32601"},
		{"logging/setLevel", `"level":"loud"`, `error -32602`, "error -32601"},
		{"logging/setLevel", ``, `error -32602`, "error -32601"},
		{"resources/subscribe", `"uri":"a"`, `{}`, "error -32601"},
		{"resources/subscribe", ``, `error -32602`, "error -32601"},
		{"subscriptions/listen", ``, "error -32601", "error -32602"},
		{"subscriptions/listen", `"notifications":{"toolsListChanged":"yes"}`, "error -32601", "error -32602"},
		{"server/discover", ``, "error -32601", `{"supportedVersions":["2026-07-28"],"capabilities":{"logging":{}}}`},
	} {
		for _, revision := range bothEras {
			want := c.legacy
			if revision == modern && c.modern != "" {
				want = c.modern
			}
			dial(t, newServer(server.Options{}), revision).want(c.method, c.members, want)
		}
	}
}
