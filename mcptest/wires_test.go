package mcptest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/mcptest"
	"github.com/rialto-mcp/rialto/server"
)

// library is the server that every wire is tried with.
func library() *server.Server {
	s := server.New(mcp.Implementation{Name: "library", Version: "1.0.0"}, server.Options{Instructions: "Ask for books."})
	type count struct {
		To int `json:"to"`
	}
	server.AddTool(s, mcp.Tool{Name: "count", Description: "Counts and tells how far it is"},
		func(ctx context.Context, req *server.Request, in count) (string, error) {
			for i := range in.To {
				req.Progress(ctx, float64(i+1), float64(in.To), fmt.Sprintf("at %d", i+1))
			}
			return fmt.Sprintf("counted to %d", in.To), nil
		})
	type book struct {
		Title string `json:"title"`
		Pages int    `json:"pages"`
	}
	server.AddTool(s, mcp.Tool{Name: "find", Description: "Finds a book"},
		func(context.Context, *server.Request, struct{}) (book, error) { return book{"Go", 380}, nil })
	server.AddTool(s, mcp.Tool{Name: "lose", Description: "Loses a book"},
		func(context.Context, *server.Request, struct{}) (string, error) { return "", errors.New("it is gone") })
	server.AddTool(s, mcp.Tool{Name: "say", Description: "Logs what it does"},
		func(ctx context.Context, req *server.Request, _ struct{}) (string, error) {
			for _, word := range []string{"one", "two", "three"} {
				req.Log(ctx, mcp.LevelInfo, "library", word)
			}
			return "said", nil
		})
	server.AddTool(s, mcp.Tool{Name: "wait", Description: "Waits until it is cancelled"},
		func(ctx context.Context, _ *server.Request, _ struct{}) (string, error) {
			<-ctx.Done()
			return "", context.Cause(ctx)
		})
	s.AddResource(mcp.Resource{URI: "book:1", Name: "one", MIMEType: "text/plain"},
		func(context.Context, *server.Request) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{mcp.TextResource("book:1", "text/plain", "Once")}}, nil
		})
	s.AddResourceTemplate(mcp.ResourceTemplate{URITemplate: "shelf:{row}/{place}", Name: "shelf"},
		func(_ context.Context, req *server.Request, vars map[string]string) (*mcp.ReadResourceResult, error) {
			text := vars["row"] + "," + vars["place"]
			return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{mcp.TextResource(req.Name(), "", text)}}, nil
		})
	s.AddPrompt(mcp.Prompt{Name: "greet", Arguments: []mcp.PromptArgument{{Name: "name", Required: true}}},
		func(_ context.Context, _ *server.Request, args map[string]string) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{Messages: []mcp.PromptMessage{mcp.UserMessage(mcp.Text("Hello " + args["name"]))}}, nil
		})
	s.CompletePrompt("greet", "name", func(_ context.Context, _ *server.Request, value string, _ map[string]string) ([]string, error) {
		return []string{value + "da", value + "lan"}, nil
	})
	return s
}

// everyWire runs a test over each wire with a server of its own.
func everyWire(t *testing.T, run func(t *testing.T, w mcptest.Wire, s *server.Server)) {
	for _, w := range mcptest.Wires() {
		t.Run(w.Name, func(t *testing.T) { run(t, w, library()) })
	}
}

func TestEveryWireOpens(t *testing.T) {
	everyWire(t, func(t *testing.T, w mcptest.Wire, s *server.Server) {
		c := w.Dial(t, s)
		if got := c.ServerInfo().Name; got != "library" {
			t.Errorf("server info: %q", got)
		}
		if got := c.Instructions(); got != "Ask for books." {
			t.Errorf("instructions: %q", got)
		}
		want := mcp.LatestModern
		if !w.Modern {
			want = mcp.LatestLegacy
		}
		if got := c.ProtocolVersion(); got != want {
			t.Errorf("revision %s, want %s", got, want)
		}
		if session := c.SessionID() != ""; session != (w.HTTP && !w.Modern) {
			t.Errorf("a session id: %v", session)
		}
		if err := c.Ping(t.Context()); err != nil {
			t.Errorf("ping: %v", err)
		}
	})
}

func TestEveryWireLists(t *testing.T) {
	everyWire(t, func(t *testing.T, w mcptest.Wire, s *server.Server) {
		c := w.Dial(t, s)
		var tools, resources, templates, prompts []string
		for tool, err := range c.Tools(t.Context()) {
			check(t, err)
			tools = append(tools, tool.Name)
		}
		for r, err := range c.Resources(t.Context()) {
			check(t, err)
			resources = append(resources, r.URI)
		}
		for r, err := range c.ResourceTemplates(t.Context()) {
			check(t, err)
			templates = append(templates, r.URITemplate)
		}
		for p, err := range c.Prompts(t.Context()) {
			check(t, err)
			prompts = append(prompts, p.Name)
		}
		equal(t, tools, []string{"count", "find", "lose", "say", "wait"})
		equal(t, resources, []string{"book:1"})
		equal(t, templates, []string{"shelf:{row}/{place}"})
		equal(t, prompts, []string{"greet"})
	})
}

func TestEveryWireCalls(t *testing.T) {
	everyWire(t, func(t *testing.T, w mcptest.Wire, s *server.Server) {
		c := w.Dial(t, s)
		found, err := c.CallTool(t.Context(), "find", nil)
		check(t, err)
		if got := string(found.StructuredContent); got != `{"title":"Go","pages":380}` || found.Text() != got {
			t.Errorf("find: %s, as text %s", got, found.Text())
		}
		lost, err := c.CallTool(t.Context(), "lose", nil)
		check(t, err)
		if !lost.IsError || lost.Text() != "it is gone" {
			t.Errorf("lose: %+v", lost)
		}
		wrong, err := c.CallTool(t.Context(), "count", map[string]any{"to": "three"})
		check(t, err)
		if !wrong.IsError {
			t.Errorf("wrong arguments: %+v", wrong)
		}
		_, err = c.CallTool(t.Context(), "nothing", nil)
		if !errors.Is(err, mcp.CodeInvalidParams) {
			t.Errorf("an unknown tool: %v", err)
		}
	})
}

func TestEveryWireTellsProgressBeforeTheAnswer(t *testing.T) {
	everyWire(t, func(t *testing.T, w mcptest.Wire, s *server.Server) {
		c := w.Dial(t, s)
		var seen []string // no lock: progress is handed over on the caller's goroutine
		result, err := c.CallTool(t.Context(), "count", map[string]any{"to": 5}, client.CallOptions{
			OnProgress: func(p mcp.ProgressParams) {
				seen = append(seen, fmt.Sprintf("%v/%v %s", p.Progress, *p.Total, p.Message))
			},
		})
		check(t, err)
		equal(t, seen, []string{"1/5 at 1", "2/5 at 2", "3/5 at 3", "4/5 at 4", "5/5 at 5"})
		if result.Text() != "counted to 5" {
			t.Errorf("result: %s", result.Text())
		}
	})
}

func TestEveryWireHandsLogsOverBeforeTheAnswer(t *testing.T) {
	everyWire(t, func(t *testing.T, w mcptest.Wire, s *server.Server) {
		var mu sync.Mutex
		var words []string
		c := w.Dial(t, s, client.Options{LogLevel: mcp.LevelInfo, OnLog: func(p mcp.LoggingMessageParams) {
			mu.Lock()
			defer mu.Unlock()
			words = append(words, string(p.Data))
		}})
		_, err := c.CallTool(t.Context(), "say", nil)
		check(t, err)
		mu.Lock()
		defer mu.Unlock()
		equal(t, words, []string{`"one"`, `"two"`, `"three"`})
	})
}

func TestEveryWireReads(t *testing.T) {
	everyWire(t, func(t *testing.T, w mcptest.Wire, s *server.Server) {
		c := w.Dial(t, s)
		one, err := c.ReadResource(t.Context(), "book:1")
		check(t, err)
		place, err := c.ReadResource(t.Context(), "shelf:3/14")
		check(t, err)
		equal(t, []string{one.Contents[0].Text, place.Contents[0].Text}, []string{"Once", "3,14"})
		_, err = c.ReadResource(t.Context(), "book:0")
		var missing *mcp.Error
		if !errors.As(err, &missing) || missing.Code != mcp.CodeResourceNotFound {
			t.Errorf("a missing book: %v", err)
		} else if uri, _ := missing.ResourceData(); uri != "book:0" {
			t.Errorf("the error names %q", uri)
		}
	})
}

func TestEveryWirePrompts(t *testing.T) {
	everyWire(t, func(t *testing.T, w mcptest.Wire, s *server.Server) {
		c := w.Dial(t, s)
		hello, err := c.GetPrompt(t.Context(), "greet", map[string]string{"name": "Ada"})
		check(t, err)
		if got := hello.Messages[0].Content.(*mcp.TextContent).Text; got != "Hello Ada" {
			t.Errorf("prompt: %q", got)
		}
		_, err = c.GetPrompt(t.Context(), "greet", nil)
		if !errors.Is(err, mcp.CodeInvalidParams) {
			t.Errorf("without its argument: %v", err)
		}
		names, err := c.Complete(t.Context(), mcp.CompleteParams{
			Ref: mcp.PromptRef("greet"), Argument: mcp.CompletionArgument{Name: "name", Value: "A"},
		})
		check(t, err)
		equal(t, names.Completion.Values, []string{"Ada", "Alan"})
	})
}

func TestEveryWireCancels(t *testing.T) {
	everyWire(t, func(t *testing.T, w mcptest.Wire, s *server.Server) {
		stopped := make(chan error, 1)
		server.AddTool(s, mcp.Tool{Name: "hang", Description: "Hangs"},
			func(ctx context.Context, _ *server.Request, _ struct{}) (string, error) {
				<-ctx.Done()
				stopped <- context.Cause(ctx)
				return "", ctx.Err()
			})
		c := w.Dial(t, s)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(20*time.Millisecond, cancel)
		if _, err := c.CallTool(ctx, "hang", nil); !errors.Is(err, context.Canceled) {
			t.Errorf("the caller sees %v", err)
		}
		select {
		case <-stopped:
		case <-time.After(5 * time.Second):
			t.Error("the handler was not told")
		}
		if _, err := c.CallTool(t.Context(), "find", nil); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	})
}

// Seen to fail: closing overtook the cancellation, and the server went on with the call for 5 s.
func TestEveryWireTimesOut(t *testing.T) {
	everyWire(t, func(t *testing.T, w mcptest.Wire, s *server.Server) {
		var ended time.Time
		t.Cleanup(func() { // after both sides have closed: cleanups run the last first
			if took := time.Since(ended); took > 3*time.Second {
				t.Errorf("closing took %s", took)
			}
		})
		c := w.Dial(t, s)
		_, err := c.CallTool(t.Context(), "wait", nil, client.CallOptions{Timeout: 30 * time.Millisecond})
		if !errors.Is(err, mcp.CodeRequestTimeout) {
			t.Errorf("a silent tool: %v", err)
		}
		ended = time.Now()
	})
}

func TestEveryWireHearsOfChanges(t *testing.T) {
	everyWire(t, func(t *testing.T, w mcptest.Wire, s *server.Server) {
		c := w.Dial(t, s)
		heard := make(chan struct{}, 10)
		stop := c.OnToolsChange(func() { heard <- struct{}{} })
		defer stop()
		deadline := time.After(10 * time.Second)
		for {
			// The stream opens in the background, so the first changes may go unheard.
			s.RemoveTool("lose")
			server.AddTool(s, mcp.Tool{Name: "lose", Description: "Loses a book"},
				func(context.Context, *server.Request, struct{}) (string, error) { return "", nil })
			select {
			case <-heard:
				return
			case <-time.After(50 * time.Millisecond):
			case <-deadline:
				t.Fatal("no change was heard of")
			}
		}
	})
}

// TestEveryWireRelaysTokens calls through the raw doors of both ends: what goes in comes out token for token.
func TestEveryWireRelaysTokens(t *testing.T) {
	const params = `{"name":"raw","arguments":{"n":12345678901234567890,"e":1e0,"s":"\u00e9\/"},"zz":[1.50,null],"_meta":{"x.example/y":{"a":1}}}`
	const answer = `{"content":[],"n":0.10,"big":9007199254740993,"esc":"\u0041","_meta":{"k.example/v":[]}}`
	for _, w := range mcptest.Wires() {
		t.Run(w.Name, func(t *testing.T) {
			var got json.RawMessage
			s := server.New(mcp.Implementation{Name: "relay", Version: "1"}, server.Options{
				Capabilities: mcp.ServerCapabilities{Tools: &mcp.ToolsCapability{}},
				Fallback: func(_ context.Context, req *server.Request) (*server.RawResult, error) {
					got = slices.Clone(req.Params())
					return &server.RawResult{Result: json.RawMessage(answer)}, nil
				},
			})
			c := w.Dial(t, s)
			result, err := c.Raw(t.Context(), mcp.MethodCallTool, json.RawMessage(params), client.RawOptions{})
			check(t, err)
			if string(got) != params {
				t.Errorf("the handler got  %s\nwant             %s", got, params)
			}
			want := answer
			if w.Modern {
				want = answer[:len(answer)-2] + `,"io.modelcontextprotocol/serverInfo":{"name":"relay","version":"1"}}}`
			}
			if string(result.Result) != want {
				t.Errorf("the client got   %s\nwant             %s", result.Result, want)
			}
		})
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
