package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/transport"
)

// eras are the two ways in which the same server is spoken to.
var eras = map[string]client.Mode{"legacy": client.Legacy, "modern": client.Modern}

// dial connects a client to the server inside the process. Both end with the test.
func dial(t *testing.T, s *server.Server, opts client.Options) *client.Client {
	t.Helper()
	ours, theirs := transport.Pair(0)
	served := make(chan error, 1)
	go func() { served <- s.Serve(context.WithoutCancel(t.Context()), theirs) }() // ends when the client closes
	c, err := client.Connect(t.Context(), ours, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(c.Close(), <-served); err != nil {
			t.Error(err)
		}
	})
	return c
}

// TestForecast runs in a bubble, so the stations take no time.
func TestForecast(t *testing.T) {
	for name, mode := range eras {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := dial(t, newServer(server.Options{}), client.Options{Mode: mode})
				var told []string
				result, err := c.CallTool(t.Context(), "forecast", Query{City: "Lisbon", Days: 2}, client.CallOptions{
					OnProgress: func(p mcp.ProgressParams) { told = append(told, p.Message) },
				})
				if err != nil {
					t.Fatal(err)
				}
				want := `{"city":"Lisbon","days":[{"sky":"Sun","high":24},{"sky":"Sun","high":25}]}`
				if string(result.StructuredContent) != want || result.Text() != want {
					t.Errorf("the forecast is %s and says %q", result.StructuredContent, result.Text())
				}
				if !slices.Equal(told, []string{"day 1 of 2", "day 2 of 2"}) {
					t.Errorf("progress was %q", told)
				}
			})
		})
	}
}

// Arguments that break the schema never reach the function; a city it does not know is a failure with words to act on.
func TestForecastRefuses(t *testing.T) {
	c := dial(t, newServer(server.Options{}), client.Options{})
	for args, want := range map[string]string{
		`{"town":"Bergen"}`:            `misses "city"`,
		`{"city":"Atlantis"}`:          "try one of Bergen, Lisbon, Nairobi",
		`{"city":"Bergen","days":8}`:   "ask for 1 to 7",
		`{"city":"Bergen","days":"2"}`: "days",
	} {
		result, err := c.CallTool(t.Context(), "forecast", json.RawMessage(args))
		if err != nil {
			t.Fatal(err)
		}
		if !result.IsError || !strings.Contains(result.Text(), want) {
			t.Errorf("%s: got %q, want %q in it", args, result.Text(), want)
		}
	}
}

// Log messages reach legacy clients unless they set a level, and modern ones when they ask for them.
func TestLog(t *testing.T) {
	for name, mode := range eras {
		for _, level := range []mcp.Level{mcp.LevelInfo, mcp.LevelError} {
			t.Run(fmt.Sprint(name, " ", level), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var said []string
					c := dial(t, newServer(server.Options{}), client.Options{Mode: mode, LogLevel: level,
						OnLog: func(m mcp.LoggingMessageParams) { said = append(said, string(m.Data)) }})
					if _, err := c.CallTool(t.Context(), "forecast", Query{City: "Bergen"}); err != nil {
						t.Fatal(err)
					}
					var want []string
					if level == mcp.LevelInfo {
						want = []string{`"Bergen answered in good time"`}
					}
					if !slices.Equal(said, want) {
						t.Errorf("it said %q, want %q", said, want)
					}
				})
			})
		}
	}
}

func TestNow(t *testing.T) {
	for name, mode := range eras {
		t.Run(name, func(t *testing.T) {
			c := dial(t, newServer(server.Options{}), client.Options{Mode: mode})
			result, err := c.ReadResource(t.Context(), "weather://Nairobi/now")
			if err != nil {
				t.Fatal(err)
			}
			if got := result.Contents[0].Text; got != "Clouds in Nairobi, 22 degrees" {
				t.Errorf("it is %q", got)
			}
			if _, err := c.ReadResource(t.Context(), "weather://Atlantis/now"); !errors.Is(err, mcp.CodeResourceNotFound) {
				t.Errorf("reading about a city without a station fails with %v", err)
			}
		})
	}
}

func TestPack(t *testing.T) {
	c := dial(t, newServer(server.Options{}), client.Options{})
	prompt, err := c.GetPrompt(t.Context(), "pack", map[string]string{"city": "Bergen"})
	if err != nil {
		t.Fatal(err)
	}
	if text := prompt.Messages[0].Content.(*mcp.TextContent).Text; !strings.HasPrefix(text, "I travel to Bergen.") {
		t.Errorf("the prompt is %q", text)
	}
	if _, err := c.GetPrompt(t.Context(), "pack", nil); !errors.Is(err, mcp.CodeInvalidParams) {
		t.Errorf("a prompt without its argument fails with %v", err)
	}
	for _, ref := range []mcp.CompletionRef{mcp.PromptRef("pack"), mcp.ResourceRef(nowTemplate)} {
		answer, err := c.Complete(t.Context(), mcp.CompleteParams{Ref: ref, Argument: mcp.CompletionArgument{Name: "city", Value: "li"}})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(answer.Completion.Values, []string{"Lisbon"}) {
			t.Errorf("%v is completed to %q", ref, answer.Completion.Values)
		}
	}
}
