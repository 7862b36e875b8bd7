package bridge_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/mcp"
)

func TestLists(t *testing.T) {
	pairings(t, func(t *testing.T, modern, upModern bool) {
		w := newWorld(t, route.Naming{}, backend{name: "a", modern: upModern, fill: everything(nil)})
		c := w.dial(t, modern, client.Options{})
		var names []string
		for tool, err := range c.Tools(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, tool.Name)
		}
		for r, err := range c.Resources(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, r.URI)
		}
		for r, err := range c.ResourceTemplates(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, r.URITemplate)
		}
		for p, err := range c.Prompts(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, p.Name)
		}
		want := []string{"echo", "sum", "list", "fail", "refuse", "climb", "wait", "memo://one", "memo://n/{id}", "greet"}
		if !slices.Equal(names, want) {
			t.Errorf("got %q, want %q", names, want)
		}
	})
}

func TestCalls(t *testing.T) {
	cases := []struct{ name, method, params, want string }{
		{"echo", "tools/call", `{"name":"echo","arguments":{"text":"grüezi"}}`, `{"content":[{"type":"text","text":"grüezi"}]`},
		{"structured", "tools/call", `{"name":"sum","arguments":{}}`, `"structuredContent":{"sum":5}`},
		{"failing", "tools/call", `{"name":"fail"}`, `{"content":[{"type":"text","text":"sorry"}],"isError":true`},
		{"read", "resources/read", `{"uri":"memo://one"}`, `{"contents":[{"uri":"memo://one","text":"first"}]`},
		{"read by template", "resources/read", `{"uri":"memo://n/7"}`, `{"contents":[{"uri":"memo://n/7","text":"number 7"}]`},
		{"prompt", "prompts/get", `{"name":"greet","arguments":{"name":"Ada"}}`, `"text":"greet Ada"`},
		{"complete prompt", "completion/complete", `{"ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"name","value":"x"}}`, `"values":["x1","x2"]`},
		{"complete template", "completion/complete", `{"ref":{"type":"ref/resource","uri":"memo://n/{id}"},"argument":{"name":"id","value":"4"}}`, `"values":["41","42"]`},
	}
	pairings(t, func(t *testing.T, modern, upModern bool) {
		w := newWorld(t, route.Naming{}, backend{name: "a", modern: upModern, fill: everything(nil)})
		c := w.dial(t, modern, client.Options{})
		for _, tc := range cases {
			t.Run(tc.name, func(t *testing.T) {
				if got := raw(t, c, tc.method, tc.params); !strings.Contains(got, tc.want) {
					t.Errorf("got %s, want %s in it", got, tc.want)
				}
			})
		}
	})
}

// TestOutputRoot holds that structured content that is no object reaches a client of the legacy era in the form that its
// revision allows, together with the schema.
func TestOutputRoot(t *testing.T) {
	pairings(t, func(t *testing.T, modern, upModern bool) {
		w := newWorld(t, route.Naming{}, backend{name: "a", modern: upModern, fill: everything(nil)})
		c := w.dial(t, modern, client.Options{})
		want := `"structuredContent":{"result":[1,2]}`
		if modern && upModern {
			want = `"structuredContent":[1,2]`
		}
		if got := raw(t, c, "tools/call", `{"name":"list"}`); !strings.Contains(got, want) {
			t.Errorf("got %s, want %s in it", got, want)
		}
	})
}

func TestRefusals(t *testing.T) {
	pairings(t, func(t *testing.T, modern, upModern bool) {
		w := newWorld(t, route.Naming{}, backend{name: "a", modern: upModern, fill: everything(nil)})
		c := w.dial(t, modern, client.Options{})
		if f := fault(t, c, "tools/call", `{"name":"nope"}`); f.Code != mcp.CodeInvalidParams {
			t.Errorf("unknown tool: %v", f)
		}
		if f := fault(t, c, "prompts/get", `{"name":"nope"}`); f.Code != mcp.CodeInvalidParams {
			t.Errorf("unknown prompt: %v", f)
		}
		if f := fault(t, c, "vendor/x", `{}`); f.Code != mcp.CodeMethodNotFound {
			t.Errorf("unknown method: %v", f)
		}
		f := fault(t, c, "resources/read", `{"uri":"memo://nope"}`)
		if uri, ok := f.ResourceData(); f.Code != mcp.CodeResourceNotFound || !ok || uri != "memo://nope" {
			t.Errorf("missing resource: %v, data %s", f, f.Data)
		}
		f = fault(t, c, "tools/call", `{"name":"refuse"}`)
		if f.Code != 1234 || f.Message != "vendor trouble" || string(f.Data) != `{"n":7}` {
			t.Errorf("an error of the tool's own: %v, data %s", f, f.Data)
		}
	})
}

func TestProgressAndLogs(t *testing.T) {
	pairings(t, func(t *testing.T, modern, upModern bool) {
		w := newWorld(t, route.Naming{}, backend{name: "a", modern: upModern, fill: everything(nil)})
		climbs(t, modern, w.dial)
	})
}

func TestProgressAndLogsOverHTTP(t *testing.T) {
	pairings(t, func(t *testing.T, modern, upModern bool) {
		w := newWorld(t, route.Naming{}, backend{name: "a", modern: upModern, http: true, fill: everything(nil)})
		climbs(t, modern, w.dialHTTP)
	})
}

// climbs calls a tool with progress and logs, and demands that they reach the client before the answer does.
func climbs(t *testing.T, modern bool, dial func(*testing.T, bool, client.Options) *client.Client) {
	t.Helper()
	logs := make(chan string, 10)
	c := dial(t, modern, client.Options{
		LogLevel: mcp.LevelInfo,
		OnLog:    func(m mcp.LoggingMessageParams) { logs <- string(m.Level) + " " + m.Logger + " " + string(m.Data) },
	})
	var seen []float64
	result, err := c.CallTool(t.Context(), "climb", nil, client.CallOptions{
		OnProgress: func(p mcp.ProgressParams) { seen = append(seen, p.Progress) },
	})
	if err != nil || result.Text() != "up" {
		t.Fatalf("got %+v, %v", result, err)
	}
	if !slices.Equal(seen, []float64{1, 2, 3}) {
		t.Errorf("progress %v, want 1, 2, 3", seen)
	}
	if got := <-logs; got != `warning climber "nearly there"` {
		t.Errorf("log message %q", got)
	}
	select {
	case got := <-logs:
		t.Errorf("a second log message %q, which is below the level", got)
	default:
	}
}

func TestCancel(t *testing.T) {
	pairings(t, func(t *testing.T, modern, upModern bool) {
		slow := make(chan error)
		w := newWorld(t, route.Naming{}, backend{name: "a", modern: upModern, fill: everything(slow)})
		cancelled(t, w.dial(t, modern, client.Options{}), slow)
	})
}

func TestCancelOverHTTP(t *testing.T) {
	pairings(t, func(t *testing.T, modern, upModern bool) {
		slow := make(chan error)
		w := newWorld(t, route.Naming{}, backend{name: "a", modern: upModern, http: true, fill: everything(slow)})
		cancelled(t, w.dialHTTP(t, modern, client.Options{}), slow)
	})
}

// cancelled cancels one call and demands that the upstream hears of it, and that the next call works.
func cancelled(t *testing.T, c *client.Client, slow <-chan error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { // ends with the call
		_, err := c.Raw(ctx, "tools/call", json.RawMessage(`{"name":"wait"}`), client.RawOptions{})
		done <- err
	}()
	<-slow
	cancel()
	select {
	case err := <-slow:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("the tool's context ended with %v", err)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("the cancellation has not reached the upstream")
	}
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("the call ended with %v", err)
	}
	if got := raw(t, c, "tools/call", `{"name":"echo","arguments":{"text":"on"}}`); !strings.Contains(got, `"on"`) {
		t.Errorf("the next call answers %s", got)
	}
}
