package interop

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	gosdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
)

// answering are the options of a client that answers everything, and what it was shown.
func answering() (client.Options, func() string) {
	var mu sync.Mutex
	var shown []string
	show := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		shown = append(shown, fmt.Sprintf(format, args...))
	}
	opts := client.Options{
		Roots: []mcp.Root{{URI: "file:///work", Name: "work"}},
		Elicit: func(_ context.Context, r *client.ElicitRequest) (*mcp.ElicitResult, error) {
			show("form of %d", len(r.Fields))
			filled := map[string]any{}
			for _, field := range r.Fields {
				switch field.Name {
				case "count":
					filled["count"] = 3
				case "name":
					filled["name"] = "Ada"
				}
			}
			return client.Accept(filled)
		},
		ElicitURL: func(_ context.Context, r *client.ElicitURLRequest) (*mcp.ElicitResult, error) {
			show("page of %s", r.Host)
			return client.Accept(nil)
		},
		CreateMessage: func(_ context.Context, r *client.SamplingRequest) (*mcp.CreateMessageResult, error) {
			show("prompt of %d", len(r.Messages))
			return &mcp.CreateMessageResult{Model: "parrot", Content: []mcp.Content{mcp.Text("squawk")}}, nil
		},
	}
	return opts, func() string {
		mu.Lock()
		defer mu.Unlock()
		return strings.Join(shown, ", ")
	}
}

// dialed opens a client that is closed with the test.
func dialed(t *testing.T, target Target, opts client.Options) *client.Client {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), driveLimit)
	defer cancel()
	patient(&opts)
	var c *client.Client
	var err error
	if target.URL != "" {
		c, err = client.DialHTTP(ctx, target.URL, opts)
	} else {
		c, err = client.DialStdio(ctx, client.Command{Path: target.Command[0], Args: target.Command[1:]}, opts)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// called calls a tool that must answer with a text that has all the parts.
func called(t *testing.T, c *client.Client, tool string, args any, parts ...string) {
	t.Helper()
	out, err := c.CallTool(t.Context(), tool, args)
	if err != nil {
		t.Errorf("%s: %v", tool, err)
		return
	}
	for _, part := range parts {
		if out.IsError || !strings.Contains(out.Text(), part) {
			t.Errorf("%s: %q is not in %s", tool, part, out.Text())
		}
	}
}

// Our client answers what the reference server "everything" asks, repeats a call that a page stands before, and hears of
// the resources it has subscribed to.
func TestEverythingAsksOurClient(t *testing.T) {
	for name, target := range map[string]func(*testing.T) Target{
		"stdio": func(t *testing.T) Target { return Target{Command: Everything(t)} },
		"http":  func(t *testing.T) Target { return Target{URL: StartEverything(t)} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opts, shown := answering()
			c := dialed(t, target(t), opts)
			called(t, c, "trigger-elicitation-request", nil, "Ada", `"firstLine"`)
			called(t, c, "trigger-sampling-request", map[string]any{"prompt": "hi"}, "squawk", "parrot")
			called(t, c, "get-roots-list", nil, "file:///work")
			called(t, c, "trigger-url-elicitation", map[string]any{"url": "https://a.example/", "errorPath": true}, "https://a.example/")
			if got := shown(); !strings.Contains(got, "page of modelcontextprotocol.io, page of a.example") || !strings.Contains(got, "prompt of 1") {
				t.Errorf("shown: %s", got)
			}
			if err := c.SetRoots(t.Context(), mcp.Root{URI: "file:///elsewhere"}); err != nil {
				t.Error(err)
			}
			says(t, c, "get-roots-list", "file:///elsewhere") // it asks for the new ones by itself
			sub, err := c.Subscribe(t.Context(), client.Filter{ResourceSubscriptions: []string{"demo://resource/dynamic/text/1"}})
			if err != nil {
				t.Fatal(err)
			}
			called(t, c, "toggle-subscriber-updates", nil, "Started")
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			if e, err := sub.Next(ctx); err != nil || e.Kind != client.ResourceUpdated || e.URI != "demo://resource/dynamic/text/1" {
				t.Errorf("got %+v, %v", e, err)
			}
			called(t, c, "toggle-subscriber-updates", nil, "Stopped")
			if err := sub.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// The official TypeScript SDK 2.x asks in the form of each era.
func TestTypeScriptAsksOurClient(t *testing.T) {
	for name, mode := range map[string]client.Mode{"modern": client.Modern, "legacy": client.Legacy} {
		t.Run(name, func(t *testing.T) {
			opts, shown := answering()
			opts.Mode = mode
			c := dialed(t, Target{Command: []string{NodePath(t), nodeScript(t, "asking2.mjs")}}, opts)
			out, err := c.CallTool(t.Context(), "ask", nil)
			if err != nil {
				t.Fatal(err)
			}
			const want = `{"form":{"count":3,"size":"l"},"page":"accept","model":"squawk","roots":["file:///work"]}`
			if out.Text() != want || !strings.Contains(shown(), "page of a.example") {
				t.Errorf("got %s, shown %s", out.Text(), shown())
			}
		})
	}
}

// The official Go SDK asks in the form of each era.
func TestGoSDKAsksOurClient(t *testing.T) {
	s := gosdk.NewServer(&gosdk.Implementation{Name: "asking", Version: "1"}, nil)
	s.AddTool(&gosdk.Tool{Name: "ask", InputSchema: map[string]any{"type": "object"}},
		func(_ context.Context, req *gosdk.CallToolRequest) (*gosdk.CallToolResult, error) {
			if req.Params.InputResponses == nil {
				return &gosdk.CallToolResult{InputRequests: gosdk.InputRequestMap{
					"form":  &gosdk.ElicitParams{Message: "How much?", RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{"count": map[string]any{"type": "integer"}}}},
					"roots": &gosdk.ListRootsParams{},
				}, RequestState: "kept"}, nil
			}
			form, _ := req.Params.InputResponses["form"].(*gosdk.ElicitResult)
			roots, _ := req.Params.InputResponses["roots"].(*gosdk.ListRootsResult)
			if form == nil || roots == nil || req.Params.RequestState != "kept" {
				return nil, fmt.Errorf("answers %+v, state %q", req.Params.InputResponses, req.Params.RequestState)
			}
			text := fmt.Sprint(form.Action, form.Content, roots.Roots[0].URI)
			return &gosdk.CallToolResult{Content: []gosdk.Content{&gosdk.TextContent{Text: text}}}, nil
		})
	for name, mode := range map[string]client.Mode{"modern": client.Modern, "legacy": client.Legacy} {
		t.Run(name, func(t *testing.T) {
			stateless := &gosdk.StreamableHTTPOptions{Stateless: mode == client.Modern} // it serves one era or the other
			web := httptest.NewServer(gosdk.NewStreamableHTTPHandler(func(*http.Request) *gosdk.Server { return s }, stateless))
			t.Cleanup(web.Close)
			opts, _ := answering()
			opts.Mode = mode
			called(t, dialed(t, Target{URL: web.URL}, opts), "ask", nil, "accept", "count:3", "file:///work")
		})
	}
}
