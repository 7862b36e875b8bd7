package bridge_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/bridge"
	"github.com/rialto-mcp/rialto/gateway/policy"
	"github.com/rialto-mcp/rialto/gateway/shape"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// Calls that go on in several rounds, over everything that edits or judges a call: other arguments, rules, redaction, a search.

// orders has a tool that asks once, and says what it has got.
func orders(s *server.Server) {
	type in struct {
		Item string `json:"item"`
		Note string `json:"note,omitempty"`
	}
	server.AddTool(s, mcp.Tool{Name: "order"}, func(ctx context.Context, req *server.Request, in in) (string, error) {
		sure, err := server.ElicitAs[struct {
			Yes bool `json:"yes"`
		}](ctx, req, "Sure?")
		if err != nil || !sure.Yes {
			return "", errors.Join(err, errors.New("it is not wanted"))
		}
		return in.Item + ", " + in.Note, nil
	})
}

// editing shows that tool as "buy", whose argument is called "thing".
var editing = map[string]shape.Server{"a": {Tools: shape.Names{
	Rename: map[string]string{"order": "buy"},
	Edit:   map[string]shape.Edit{"order": {Arguments: map[string]shape.Argument{"item": {Rename: "thing"}}}},
}}}

// laidOver gives the rules of a plan with a policy over them, behind a step that keeps what servers were sent.
func laidOver(t *testing.T, p *policy.Policy, servers map[string]shape.Server, s policy.Settings) (rules bridge.Rules, sent func() []string) {
	t.Helper()
	var mu sync.Mutex
	var all []string
	rules = planned(servers).Rules
	rules.Steps = append([]bridge.Step{func(ctx context.Context, p *bridge.Passage, next bridge.Next) (*server.RawResult, error) {
		result, err := next(ctx)
		mu.Lock()
		defer mu.Unlock()
		all = append(all, string(p.Sent()))
		return result, err
	}}, rules.Steps...)
	rules, err := p.Over(s, rules)
	if err != nil {
		t.Fatal(err)
	}
	return rules, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(all)
	}
}

// fewThings allows orders of things, by the names that the server has, and keeps secrets from it.
var fewThings = policy.Settings{
	Rules:   []policy.Rule{{Name: "things", When: `tool == "order" && arguments.item == "tea" && arguments.note.startsWith("key-")`, Do: policy.Allow}},
	Default: policy.Deny,
	Redact:  []policy.Redaction{{Name: "keys", Pattern: "key-[0-9]+", In: policy.InArguments}},
}

// TestRoundsOfAnEditedCall holds that each round of a call is judged by the arguments that its server knows, before they are masked;
// that the server gets the edited arguments, edited once; and that what was sent is what is said to have been sent, in every round.
func TestRoundsOfAnEditedCall(t *testing.T) {
	pairings(t, func(t *testing.T, modern, upModern bool) {
		for name, o := range map[string]struct {
			search *bridge.Search
			tool   string
			args   string
		}{
			"by its name":     {nil, "buy", `{"thing":"tea","note":"key-77 please"}`},
			"found by search": {&bridge.Search{}, bridge.CallTool, `{"name":"buy","arguments":{"thing":"tea","note":"key-77 please"}}`},
		} {
			t.Run(name, func(t *testing.T) {
				rules, sent := laidOver(t, policy.New(policy.Options{}), editing, fewThings)
				rules.Search = o.search
				w := newWorldWith(t, bridge.Options{Rules: rules}, backend{name: "a", modern: upModern, fill: orders})
				got, err := w.dial(t, modern, user("")).CallTool(t.Context(), o.tool, json.RawMessage(o.args))
				if err != nil || got.Text() != "tea, [redacted keys] please" {
					t.Errorf("got %+v, %v", got, err)
				}
				rounds := sent()
				if want := map[bool]int{false: 1, true: 2}[modern || upModern]; len(rounds) != want {
					t.Errorf("%d rounds, want %d", len(rounds), want)
				}
				for i, round := range rounds {
					if !strings.Contains(round, `"item":"tea"`) || strings.Contains(round, "thing") || strings.Contains(round, "77") {
						t.Errorf("round %d was sent %s", i, round)
					}
				}
			})
		}
	})
}

// TestRoundsAfterOtherRules holds what becomes of a call that waits for its client when other rules come: rules that refuse it refuse
// its next round and no more than that, so that it goes on when they are taken back; other names and other arguments of its tool do
// nothing to it.
func TestRoundsAfterOtherRules(t *testing.T) {
	refused := policy.Settings{Rules: []policy.Rule{{Name: "closed", When: "true", Do: policy.Deny, Message: "We are closed"}}}
	hidden := policy.Settings{Default: policy.Hide}
	renamed := map[string]shape.Server{"a": {Tools: shape.Names{
		Rename: map[string]string{"order": "buy"},
		Edit:   map[string]shape.Edit{"order": {Arguments: map[string]shape.Argument{"item": {Rename: "what"}, "note": {Drop: true}}}},
	}}}
	for _, upModern := range []bool{false, true} {
		for name, tc := range map[string]struct {
			servers  map[string]shape.Server
			settings policy.Settings
			refusal  string // of the next round; "" for none
		}{
			"the same rules":     {editing, fewThings, ""},
			"it is denied":       {editing, refused, "We are closed"},
			"it is hidden":       {editing, hidden, "buy"},
			"other arguments":    {renamed, policy.Settings{}, map[bool]string{true: "takes no argument"}[upModern]}, // to a modern server each round is a call
			"nothing is masked":  {editing, policy.Settings{}, map[bool]string{true: "requestState"}[upModern]},      // likewise: with other arguments
			"another name of it": {map[string]shape.Server{}, policy.Settings{}, map[bool]string{true: "buy"}[upModern]},
		} {
			t.Run(map[bool]string{false: "legacy upstream, ", true: "modern upstream, "}[upModern]+name, func(t *testing.T) {
				p := policy.New(policy.Options{})
				rules, _ := laidOver(t, p, editing, fewThings)
				w := newWorldWith(t, bridge.Options{Rules: rules}, backend{name: "a", modern: upModern, fill: orders})
				c := w.dial(t, true, client.Options{Capabilities: mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{}}})
				params := json.RawMessage(`{"name":"buy","arguments":{"thing":"tea","note":"key-77"}}`)
				o := client.RawOptions{Timeout: 10 * time.Second}
				r, err := c.Raw(t.Context(), mcp.MethodCallTool, params, o)
				if err != nil || r.Input == nil {
					t.Fatalf("got %+v, %v", r, err)
				}
				answers := make(map[string]json.RawMessage)
				for key := range inputKeys(t, r.Input.Requests) {
					answers[key] = json.RawMessage(`{"action":"accept","content":{"yes":true}}`)
				}
				o.RequestState = r.Input.State
				o.InputResponses, _ = json.Marshal(answers)
				next, _ := laidOver(t, p, tc.servers, tc.settings)
				if err := w.bridge.Reload(next, []string{"a"}, func() error { return nil }); err != nil {
					t.Fatal(err)
				}
				if tc.refusal != "" {
					if r, err := c.Raw(t.Context(), mcp.MethodCallTool, params, o); err == nil || !strings.Contains(err.Error(), tc.refusal) {
						t.Errorf("got %+v, %v; want a refusal with %q", r, err, tc.refusal)
					}
					if err := w.bridge.Reload(rules, []string{"a"}, func() error { return nil }); err != nil {
						t.Fatal(err)
					}
				}
				r, err = c.Raw(t.Context(), mcp.MethodCallTool, params, o)
				if err != nil || r.Result == nil || !strings.Contains(string(r.Result), "tea, ") {
					t.Errorf("in the end: %+v, %v", r, err)
				}
			})
		}
	}
}

func inputKeys(t *testing.T, requests json.RawMessage) map[string]json.RawMessage {
	t.Helper()
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(requests, &keys); err != nil {
		t.Fatal(err)
	}
	return keys
}

// TestSearchedCallThatAsks holds that a call by the search's tool that fails after a question for its arguments says which ones the
// tool takes, as one that fails at once does.
func TestSearchedCallThatAsks(t *testing.T) {
	pairings(t, func(t *testing.T, modern, upModern bool) {
		w := newWorldWith(t, searching(bridge.Search{}), backend{name: "a", modern: upModern, fill: func(s *server.Server) {
			type in struct {
				N int `json:"n"`
			}
			server.AddTool(s, mcp.Tool{Name: "late"}, func(ctx context.Context, req *server.Request, in in) (string, error) {
				if _, err := server.ElicitAs[trip](ctx, req, "Where to?"); err != nil {
					return "", err
				}
				return "", mcp.InvalidParams("n is too small")
			})
		}})
		got, err := w.dial(t, modern, user("Oslo")).CallTool(t.Context(), bridge.CallTool, json.RawMessage(`{"name":"late","arguments":{"n":1}}`))
		if err != nil || !strings.Contains(got.Text(), "n is too small") || !strings.Contains(got.Text(), "arguments of this schema") {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}
