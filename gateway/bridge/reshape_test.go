package bridge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/shape"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

type forecastIn struct {
	City  string `json:"city"`
	Units string `json:"units"`
	Days  int    `json:"days"`
	Debug bool   `json:"debug,omitempty"`
}

// forecasts registers the tool get_forecast, which says what it got, and fails for nobody's city.
func forecasts(s *server.Server) {
	server.AddTool(s, mcp.Tool{Name: "get_forecast"}, func(_ context.Context, _ *server.Request, in forecastIn) (string, error) {
		if in.City == "nowhere" {
			return "", fmt.Errorf("there is no city %q in %s", in.City, in.Units)
		}
		return fmt.Sprintf("%+v", in), nil
	})
}

// weather is what the tests say of that tool.
var weather = shape.Server{
	Tools: shape.Names{
		Rename: map[string]string{"get_forecast": "forecast", "ask": "question", "where": "place"},
		Edit: map[string]shape.Edit{
			"get_forecast": {Title: "Forecast", Arguments: map[string]shape.Argument{
				"city": {Rename: "place", Description: "Which one"}, "units": {Value: json.RawMessage(`"metric-77"`), Secret: []string{"metric-77"}},
				"days": {Default: json.RawMessage(`3`)}, "debug": {Drop: true},
			}},
			"ask":   {Arguments: map[string]shape.Argument{"what": {Rename: "topic"}}},
			"where": {Arguments: map[string]shape.Argument{"region": {Rename: "area"}, "level": {Value: json.RawMessage(`7`)}}},
		},
	},
	Prompts: shape.Names{Rename: map[string]string{"greet": "hello"}},
}

// TestReshape holds that clients of every era see a tool under its other name and with its other arguments, and that the server
// gets what it takes.
func TestReshape(t *testing.T) {
	pairings(t, func(t *testing.T, modern, upModern bool) {
		w := newWorldWith(t, planned(map[string]shape.Server{"a": weather}), backend{name: "a", modern: upModern, fill: func(s *server.Server) { forecasts(s); everything(nil)(s) }})
		c := w.dial(t, modern, client.Options{})
		list := raw(t, c, mcp.MethodListTools, `{}`)
		for _, want := range []string{`"name":"forecast"`, `"title":"Forecast"`, `"place":{`, `"description":"Which one"`, `"default":3`, `"required":["place"]`} {
			if !strings.Contains(list, want) {
				t.Errorf("the list lacks %s: %s", want, list)
			}
		}
		for _, hidden := range []string{"get_forecast", `"city"`, `"units"`, `"debug"`, "metric"} {
			if strings.Contains(list, hidden) {
				t.Errorf("the list has %s: %s", hidden, list)
			}
		}
		for args, want := range map[string]string{
			`{"place":"Oslo"}`:                "{City:Oslo Units:metric-77 Days:3 Debug:false}",
			`{"days":5,"place":"\u00d8rsta"}`: "{City:Ørsta Units:metric-77 Days:5 Debug:false}",
		} {
			if got := raw(t, c, mcp.MethodCallTool, `{"name":"forecast","arguments":`+args+`}`); !strings.Contains(got, want) {
				t.Errorf("%s: %s", args, got)
			}
		}
		for _, args := range []string{`{"city":"Oslo"}`, `{"place":"Oslo","units":"imperial"}`, `{"place":"Oslo","debug":true}`, `{"place":"Oslo","\u0055nits":"imperial"}`, `[]`} {
			if f := fault(t, c, mcp.MethodCallTool, `{"name":"forecast","arguments":`+args+`}`); f.Code != mcp.CodeInvalidParams {
				t.Errorf("%s: %v", args, f)
			}
		}
		fault(t, c, mcp.MethodCallTool, `{"name":"get_forecast","arguments":{"city":"Oslo"}}`)
		if got := raw(t, c, mcp.MethodGetPrompt, `{"name":"hello","arguments":{"name":"Ada"}}`); !strings.Contains(got, "greet Ada") {
			t.Errorf("the prompt says %s", got)
		}
		if got := raw(t, c, mcp.MethodComplete, `{"ref":{"type":"ref/prompt","name":"hello"},"argument":{"name":"name","value":"A"}}`); !strings.Contains(got, "A1") {
			t.Errorf("the completion is %s", got)
		}
	})
}

// TestErrorsOfReshapedTools holds that an error which speaks of an argument by the server's name for it says what it is called
// here, and tells no secret that the gateway has put in.
func TestErrorsOfReshapedTools(t *testing.T) {
	pairings(t, func(t *testing.T, modern, upModern bool) {
		w := newWorldWith(t, planned(map[string]shape.Server{"a": weather}), backend{name: "a", modern: upModern, fill: forecasts})
		c := w.dial(t, modern, client.Options{})
		for args, want := range map[string]string{
			`{"place":"nowhere"}`: `there is no city "nowhere" in ***`, // of the tool
			`{"place":7}`:         `the argument "city" is called "place" here`,
		} {
			r, err := c.Raw(t.Context(), mcp.MethodCallTool, json.RawMessage(`{"name":"forecast","arguments":`+args+`}`), client.RawOptions{})
			said := fmt.Sprint(err)
			if err == nil {
				var result mcp.CallToolResult
				if err := json.Unmarshal(r.Result, &result); err != nil || !result.IsError {
					t.Fatalf("%s: %s", args, r.Result)
				}
				said = result.Text()
			}
			if !strings.Contains(said, want) || !strings.Contains(said, `the argument "city" is called "place" here`) || strings.Contains(said, "metric") {
				t.Errorf("%s: %s", args, said)
			}
		}
	})
}

// TestReshapedToolThatAsks holds that a call which waits for an answer of its client goes on as the same call.
func TestReshapedToolThatAsks(t *testing.T) {
	type in struct {
		What string `json:"what"`
	}
	asks := func(s *server.Server) {
		server.AddTool(s, mcp.Tool{Name: "ask"}, func(ctx context.Context, req *server.Request, in in) (string, error) {
			got, err := req.Elicit(ctx, mcp.ElicitFormParams{Message: "Which " + in.What + "?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`)})
			if err != nil {
				return "", err
			}
			return in.What + " " + string(got.Content), nil
		})
	}
	pairings(t, func(t *testing.T, modern, upModern bool) {
		w := newWorldWith(t, planned(map[string]shape.Server{"a": weather}), backend{name: "a", modern: upModern, fill: asks})
		var asked []string
		c := w.dial(t, modern, client.Options{Elicit: func(_ context.Context, req *client.ElicitRequest) (*mcp.ElicitResult, error) {
			asked = append(asked, req.Message)
			return client.Accept(map[string]string{"a": "b"})
		}})
		got, err := c.CallTool(t.Context(), "question", map[string]string{"topic": "way"})
		if err != nil || got.Text() != `way {"a":"b"}` || !slices.Equal(asked, []string{"Which way?"}) {
			t.Errorf("got %+v, %v; asked %q", got, err, asked)
		}
	})
}

// TestMirrorsOfReshapedTools holds that headers repeat the arguments under the names that the tool is shown with, and that those
// for the server are made from what goes out.
func TestMirrorsOfReshapedTools(t *testing.T) {
	for _, modern := range []bool{false, true} {
		w := newWorldWith(t, planned(map[string]shape.Server{"a": weather}), backend{name: "a", modern: true, http: true, fill: regional("Region")})
		c := w.dialHTTP(t, modern, client.Options{})
		for range c.Tools(t.Context()) { // a client repeats what it has seen declared
		}
		got, err := c.CallTool(t.Context(), "place", map[string]any{"area": "north"})
		if want := `in {"region":"north","level":7}north`; err != nil || got.Text() != want {
			t.Errorf("modern %t: got %+v, %v; want %s", modern, got, err, want)
		}
	}
}
