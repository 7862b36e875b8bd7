package interop

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// startOwn serves our own memo server over HTTP until the test ends and returns its address.
func startOwn(t testing.TB, options server.Options) string {
	t.Helper()
	s := ownMemo(options)
	web := httptest.NewServer(s.Handler())
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("shut our server down: %v", err)
		}
		web.Close()
	})
	return web.URL + "/mcp"
}

// ownMemo is node/server2.mjs once more, built on package server: the same tools, resources and prompts.
func ownMemo(options server.Options) *server.Server {
	s := server.New(mcp.Implementation{Name: "memo", Version: "1.0.0"}, options)
	addTools(s)
	addQuestions(s)
	s.AddResource(mcp.Resource{Name: "welcome", URI: "memo://welcome", MIMEType: "text/plain", Description: "A fixed memo"},
		func(_ context.Context, req *server.Request) (*mcp.ReadResourceResult, error) {
			return memoText(req.Name(), "welcome to the memo server"), nil
		})
	s.AddResourceTemplate(mcp.ResourceTemplate{Name: "note", URITemplate: noteTemplate, MIMEType: "text/plain", Description: "One memo by its number"},
		func(_ context.Context, req *server.Request, vars map[string]string) (*mcp.ReadResourceResult, error) {
			return memoText(req.Name(), "memo number "+vars["id"]), nil
		})
	s.CompleteTemplate(noteTemplate, "id", startingWith("1", "12", "2"))
	s.AddPrompt(mcp.Prompt{
		Name: "greeting", Description: "Asks for a greeting",
		Arguments: []mcp.PromptArgument{{Name: "name", Required: true}, {Name: "language", Required: true}},
	}, func(_ context.Context, _ *server.Request, args map[string]string) (*mcp.GetPromptResult, error) {
		text := fmt.Sprintf("Greet %s in %s.", args["name"], args["language"])
		return &mcp.GetPromptResult{Messages: []mcp.PromptMessage{mcp.UserMessage(mcp.Text(text))}}, nil
	})
	s.CompletePrompt("greeting", "language", startingWith("dutch", "danish", "french"))
	return s
}

const noteTemplate = "memo://note/{id}"

func memoText(uri, text string) *mcp.ReadResourceResult {
	return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{mcp.TextResource(uri, "text/plain", text)}}
}

func startingWith(all ...string) server.Completer {
	return func(_ context.Context, _ *server.Request, typed string, _ map[string]string) (out []string, _ error) {
		for _, value := range all {
			if strings.HasPrefix(value, typed) {
				out = append(out, value)
			}
		}
		return out, nil
	}
}

type (
	sayInput struct {
		Text string `json:"text"`
	}
	climbInput struct {
		Steps int `json:"steps"`
	}
	readingInput struct {
		City string `json:"city"`
	}
	reading struct {
		Celsius float64 `json:"celsius"`
		Sky     string  `json:"sky"`
	}
)

func addTools(s *server.Server) {
	server.AddTool(s, mcp.Tool{Name: "say", Description: "Says a text back"},
		func(_ context.Context, _ *server.Request, in sayInput) (*mcp.CallToolResult, error) {
			return mcp.TextResult(in.Text), nil
		})
	server.AddTool(s, mcp.Tool{Name: "climb", Description: "Climbs some steps and reports each"},
		func(ctx context.Context, req *server.Request, in climbInput) (*mcp.CallToolResult, error) {
			for step := 1; step <= in.Steps; step++ {
				req.Progress(ctx, float64(step), float64(in.Steps), fmt.Sprintf("step %d", step))
			}
			return mcp.TextResult(fmt.Sprintf("climbed %d steps", in.Steps)), nil
		})
	server.AddTool(s, mcp.Tool{Name: "reading", Description: "The weather in a city, as structured content"},
		func(_ context.Context, _ *server.Request, in readingInput) (reading, error) {
			if in.City != "Oslo" {
				return reading{}, errors.New("there is no reading of " + in.City)
			}
			return reading{4.5, "rain"}, nil
		})
	server.AddTool(s, mcp.Tool{Name: "stumble", Description: "Always fails"},
		func(context.Context, *server.Request, struct{}) (*mcp.CallToolResult, error) {
			return nil, errors.New("stumbled on purpose")
		})
}

// TestModes holds our client to its modes on a server of the legacy era, and on one of the modern era alone.
func TestModes(t *testing.T) {
	everything := StartEverything(t)
	modern := startOwn(t, server.Options{Versions: mcp.ModernVersions()})
	for _, c := range []struct {
		name, era string
		target    Target
		version   string // agreed; empty: no connection
	}{
		{"legacy over http", "legacy", Target{URL: everything}, legacyVersion},
		{"legacy over stdio", "legacy", Target{Command: Everything(t)}, legacyVersion},
		{"modern refused over http", "modern", Target{URL: everything}, ""},
		{"modern refused over stdio", "modern", Target{Command: Everything(t)}, ""},
		{"modern alone", "auto", Target{URL: modern}, modernVersion},
		{"legacy refused", "legacy", Target{URL: modern}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			report := goDriver("rialto", dialRialto)(t, c.target, Plan{Era: c.era, Steps: []Step{{Do: "list", Kind: "tools"}}})
			if (report.Error != nil) != (c.version == "") || report.Version != c.version {
				t.Fatalf("agreed on %q (error %+v), want %q", report.Version, report.Error, c.version)
			}
			if report.Error != nil {
				t.Log(report.Error.Message)
				return
			}
			if len(report.Steps[0].Names) == 0 {
				t.Errorf("no tools: %+v", report.Steps[0])
			}
		})
	}
}

// TestOwnServer drives our own server with every client library, on every wire and in every era they can be asked for.
func TestOwnServer(t *testing.T) {
	http := func(t testing.TB) Target { return Target{URL: startOwn(t, server.Options{})} }
	stdio := func(t testing.TB) Target { return Target{Command: ownCommand(t)} }
	RunFronts(t, []Front{
		{Name: "http", Modern: true, Open: http, Cases: memoCases()},
		{Name: "http-legacy", Modern: true, Era: "legacy", Open: http, Cases: memoCases()},
		{Name: "http-modern", Modern: true, Era: "modern", Open: http, Cases: memoCases()},
		{
			Name: "http-pages", Modern: true, Cases: memoCases(),
			Open: func(t testing.TB) Target { return Target{URL: startOwn(t, server.Options{PageSize: 1})} },
		},
		{
			Name: "http-legacy-only", Cases: memoCases(),
			Open: func(t testing.TB) Target {
				return Target{URL: startOwn(t, server.Options{Versions: mcp.LegacyVersions()})}
			},
		},
		{Name: "stdio", Modern: true, Open: stdio, Cases: memoCases()},
		{Name: "stdio-legacy", Modern: true, Era: "legacy", Open: stdio, Cases: memoCases()},
		{Name: "stdio-modern", Modern: true, Era: "modern", Open: stdio, Cases: memoCases()},
	})
}
