package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"

	"github.com/rialto-mcp/rialto/llm"
	"github.com/rialto-mcp/rialto/llm/llmtest"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// startModel plays a model that looks up the weather of every city that a question names, all at once, and then tells it.
func startModel() (url string, stop func()) {
	web := httptest.NewServer(llmtest.OpenAI(func(r llmtest.Request) llmtest.Turn {
		if r.Turn > 0 {
			return llmtest.Turn{Text: "Here is what I found: " + strings.Join(said(r.Results), "; ")}
		}
		var turn llmtest.Turn
		for _, city := range []string{"Bergen", "Lisbon", "Atlantis"} {
			if strings.Contains(r.Asked, city) && len(r.Tools) > 0 {
				args := json.RawMessage(`{"city":"` + city + `"}`)
				turn.Calls = append(turn.Calls, llm.Call{ID: "call_" + city, Name: r.Tools[0], Args: args})
			}
		}
		if turn.Calls == nil {
			turn.Text = "I only know the weather."
		}
		return turn
	}))
	return web.URL + "/v1", web.Close
}

// said reads the text out of tool messages.
func said(results []string) []string {
	var all []string
	for _, r := range results {
		text, _ := mcp.Meta(r).Text("content")
		all = append(all, text)
	}
	return all
}

type place struct {
	City string `json:"city" jsonschema:"the city's name"`
}

// startServer serves one tool.
func startServer() (url string, stop func()) {
	s := server.New(mcp.Implementation{Name: "weather", Version: "1.0.0"}, server.Options{})
	server.AddTool(s, mcp.Tool{Name: "weather.now", Description: "How the weather is in a city"},
		func(_ context.Context, _ *server.Request, in place) (string, error) {
			sky, ok := map[string]string{"Bergen": "rain, 9 degrees", "Lisbon": "sun, 24 degrees"}[in.City]
			if !ok {
				return "", fmt.Errorf("there is no station in %q", in.City)
			}
			return in.City + ": " + sky, nil
		})
	web := httptest.NewServer(s.Handler())
	return web.URL + "/mcp", web.Close
}
