package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/mcptest"
	"github.com/rialto-mcp/rialto/server"
)

// eras are the two ways in which the same server is spoken to.
var eras = map[string]client.Mode{"legacy": client.Legacy, "modern": client.Modern}

// TestForecast runs over every wire, in both eras: one test, every way in.
func TestForecast(t *testing.T) {
	for _, wire := range mcptest.Wires() {
		t.Run(wire.Name, func(t *testing.T) {
			c := wire.Dial(t, newServer(server.Options{}))
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
	}
}

// TestSlowStation runs in a bubble, where time passes as soon as everybody waits.
func TestSlowStation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := mcptest.Pair(t, newServer(server.Options{}))
		_, err := c.CallTool(t.Context(), "forecast", Query{City: "Lisbon"}, client.CallOptions{Timeout: 30 * time.Millisecond})
		if !errors.Is(err, mcp.CodeRequestTimeout) { // the second of three answers comes after 40 ms
			t.Errorf("got %v, want a timeout", err)
		}
	})
}

// Arguments that break the schema never reach the function; a city it does not know is a failure with words to act on.
func TestForecastRefuses(t *testing.T) {
	c := mcptest.Pair(t, newServer(server.Options{}))
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
					c := mcptest.Pair(t, newServer(server.Options{}), client.Options{Mode: mode, LogLevel: level,
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
			c := mcptest.Pair(t, newServer(server.Options{}), client.Options{Mode: mode})
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
	c := mcptest.Pair(t, newServer(server.Options{}))
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
