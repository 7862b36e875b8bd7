package bridge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/bridge"
	"github.com/rialto-mcp/rialto/gateway/policy"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/tasks"
)

// policed is a world whose bridge keeps a policy. decisions gives what it has decided so far.
func policed(t *testing.T, s policy.Settings, backends ...backend) (w *world, p *policy.Policy, decisions func() []policy.Decision) {
	t.Helper()
	var mu sync.Mutex
	var all []policy.Decision
	p = policy.New(policy.Options{OnDecision: func(_ context.Context, d policy.Decision) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, d)
	}})
	rules, err := p.Over(s, bridge.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	w = newWorldOver(t, bridge.Options{Rules: rules, Server: server.Options{HTTP: byName}}, p.Asking, backends...)
	return w, p, func() []policy.Decision {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(all)
	}
}

// TestPolicyRules holds that rules decide lists, calls, reads, completions and subscriptions alike, whatever the eras.
func TestPolicyRules(t *testing.T) {
	s := policy.Settings{
		Rules: []policy.Rule{
			{Name: "ann", When: `principal.subject == "ann"`, Do: policy.Allow},
			{Name: "no fives", When: `tool == "echo" && arguments.text.contains("5")`, Do: policy.Deny, Message: "No fives here"},
			{Name: "echo", When: `tool == "echo" || uri.startsWith("memo://n/")`, Do: policy.Allow},
			{Name: "no completing", When: `method == "completion/complete"`, Do: policy.Deny},
			{Name: "greeting", When: `prompt == "greet"`, Do: policy.Allow},
		},
		Default: policy.Hide,
	}
	pairings(t, func(t *testing.T, modern, upModern bool) {
		w, _, decisions := policed(t, s, backend{name: "a", modern: upModern, fill: everything(nil)})
		ann, bob := w.dialAs(t, modern, "ann", client.Options{}), w.dialAs(t, modern, "bob", client.Options{})
		if got := len(toolNames(t, ann)); got < 6 {
			t.Errorf("ann sees %d tools", got)
		}
		if got := fmt.Sprint(toolNames(t, bob)); got != "[echo]" {
			t.Errorf("bob sees %s", got)
		}
		if got := raw(t, bob, mcp.MethodListResources, "{}"); strings.Contains(got, "memo://") {
			t.Errorf("bob sees %s", got)
		}
		raw(t, bob, mcp.MethodCallTool, `{"name":"echo","arguments":{"text":"4"}}`)
		raw(t, bob, mcp.MethodReadResource, `{"uri":"memo://n/7"}`)
		raw(t, bob, mcp.MethodGetPrompt, `{"name":"greet","arguments":{"name":"x"}}`)
		raw(t, ann, mcp.MethodCallTool, `{"name":"echo","arguments":{"text":"5"}}`)
		if f := fault(t, bob, mcp.MethodCallTool, `{"name":"echo","arguments":{"text":"55"}}`); f.Code != mcp.CodeInvalidRequest || f.Message != "No fives here" {
			t.Errorf("fives: %v", f)
		}
		if f := fault(t, bob, mcp.MethodCallTool, `{"name":"echo","arguments":{"text":5}}`); f.Code != mcp.CodeInvalidRequest {
			t.Errorf("what cannot be evaluated: %v", f)
		}
		if f := fault(t, bob, mcp.MethodComplete, `{"ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"name","value":"x"}}`); f.Code != mcp.CodeInvalidRequest {
			t.Errorf("completing: %v", f)
		}
		hidden, missing := fault(t, bob, mcp.MethodCallTool, `{"name":"sum"}`), fault(t, bob, mcp.MethodCallTool, `{"name":"mus"}`)
		if hidden.Code != missing.Code || strings.ReplaceAll(hidden.Message, "sum", "mus") != missing.Message {
			t.Errorf("what is hidden: %v, what is not there: %v", hidden, missing)
		}
		if s, err := bob.Subscribe(t.Context(), client.Filter{ResourceSubscriptions: []string{"memo://one"}}); err == nil {
			defer s.Close()
		}
		if s, err := bob.Subscribe(t.Context(), client.Filter{ResourceSubscriptions: []string{"memo://n/1"}}); err == nil {
			defer s.Close()
		}
		if got := fmt.Sprint(w.bridge.Server().Subscriptions()); got != "[memo://n/1]" {
			t.Errorf("bob follows %s", got)
		}
		var got []string
		for _, d := range decisions() {
			got = append(got, fmt.Sprintf("%s %s %q %s %s/%s %s", d.By, d.Effect, d.Name, d.Method, d.Server, d.Target.Name, d.Principal.Subject))
		}
		want := []string{
			`rule denied "no fives" tools/call a/echo bob`, `rule denied "no fives" tools/call a/echo bob`, `rule denied "no completing" completion/complete a/greet bob`,
		}
		if !slices.Equal(got, want) {
			t.Errorf("decided %q", got)
		}
	})
}

// TestPolicyReload holds that clients hear when other rules show them other lists, and not when the rules are the same.
func TestPolicyReload(t *testing.T) {
	pairings(t, func(t *testing.T, modern, upModern bool) {
		settings := func(when string) policy.Settings {
			return policy.Settings{Rules: []policy.Rule{{Name: "r", When: when, Do: policy.Hide}}}
		}
		w, p, _ := policed(t, settings(`tool == "echo"`), backend{name: "a", modern: upModern, fill: everything(nil)})
		c := w.dial(t, modern, client.Options{})
		news, err := c.Subscribe(t.Context(), client.Filter{ToolsListChanged: true})
		if err != nil {
			t.Fatal(err)
		}
		defer news.Close()
		take := func(when string) {
			rules, err := p.Over(settings(when), bridge.Rules{})
			if err != nil {
				t.Fatal(err)
			}
			if err := w.bridge.Reload(rules, []string{"a"}, func() error { return nil }); err != nil {
				t.Fatal(err)
			}
		}
		take(`tool == "echo"`)
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		if e, err := news.Next(ctx); err == nil {
			t.Errorf("news without a reason: %+v", e)
		}
		take(`tool == "sum"`)
		if _, err := news.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
		if names := toolNames(t, c); !slices.Contains(names, "echo") || slices.Contains(names, "sum") {
			t.Errorf("now %v", names)
		}
	})
}

// TestPolicyLimits holds that what comes too often is refused with the time to wait.
func TestPolicyLimits(t *testing.T) {
	s := policy.Settings{
		Limits: []policy.Limit{
			{Name: "each", Per: []policy.Per{policy.PerPrincipal}, When: `tool == "echo"`, Count: 2, Within: time.Hour},
			{Name: "all", Count: 1000, Within: time.Hour},
		},
	}
	pairings(t, func(t *testing.T, modern, upModern bool) {
		w, _, decisions := policed(t, s, backend{name: "a", modern: upModern, fill: everything(nil)})
		ann, bob := w.dialAs(t, modern, "ann", client.Options{}), w.dialAs(t, modern, "bob", client.Options{})
		const echo = `{"name":"echo","arguments":{"text":"x"}}`
		raw(t, ann, mcp.MethodCallTool, echo)
		raw(t, ann, mcp.MethodCallTool, echo)
		f := fault(t, ann, mcp.MethodCallTool, echo)
		var data struct {
			RetryAfterMs int64 `json:"retryAfterMs"`
		}
		if err := json.Unmarshal(f.Data, &data); err != nil || f.Code != mcp.CodeInternal || data.RetryAfterMs < 1_700_000 || data.RetryAfterMs > 1_800_000 {
			t.Errorf("the third: %v with %s", f, f.Data)
		}
		raw(t, ann, mcp.MethodCallTool, `{"name":"sum"}`)
		raw(t, bob, mcp.MethodCallTool, echo)
		if d := decisions(); len(d) != 1 || d[0].By != policy.ByLimit || d[0].Name != "each" || d[0].Principal.Subject != "ann" {
			t.Errorf("decided %+v", d)
		}
	})
}

// TestPolicyRedaction holds that what must not pass is masked or refused on its way to a server and back, whatever the eras.
func TestPolicyRedaction(t *testing.T) {
	s := policy.Settings{Redact: []policy.Redaction{
		{Name: "mails", Find: []string{"email"}, In: policy.InArguments},
		{Name: "cases", Pattern: `CASE-\d+`, In: policy.InResults},
		{Name: "numbers", Pattern: `NR-\d+`, Do: policy.Withhold},
		{Name: "elsewhere", Pattern: `text`, Servers: []string{"b"}},
	}}
	pairings(t, func(t *testing.T, modern, upModern bool) {
		w, _, decisions := policed(t, s, backend{name: "a", modern: upModern, fill: func(s *server.Server) {
			everything(nil)(s)
			server.AddTool(s, mcp.Tool{Name: "leak"}, func(_ context.Context, _ *server.Request, in textIn) (map[string]string, error) {
				if in.Text == "error" {
					return nil, mcp.Errorf(mcp.Code(4711), "CASE-1 has failed").WithData(map[string]string{"of": "CASE-2"})
				}
				return map[string]string{"data": in.Text + strings.Repeat(" CASE-3", 2)}, nil
			})
		}})
		c := w.dial(t, modern, client.Options{})
		if got := raw(t, c, mcp.MethodCallTool, `{"name":"echo","arguments":{"text":"mail ada@example.com of CASE-12\u0021"}}`); !strings.Contains(got, `"mail [redacted email] of [redacted cases]!"`) {
			t.Errorf("echo: %s", got)
		}
		if got := raw(t, c, mcp.MethodGetPrompt, `{"name":"greet","arguments":{"name":"ada@example.com"}}`); !strings.Contains(got, "greet [redacted email]") {
			t.Errorf("greet: %s", got)
		}
		if got := raw(t, c, mcp.MethodCallTool, `{"name":"leak","arguments":{"text":"x"}}`); strings.Contains(got, "CASE") || !strings.Contains(got, `"data":"x [redacted cases] [redacted cases]"`) {
			t.Errorf("leak: %s", got)
		}
		if f := fault(t, c, mcp.MethodCallTool, `{"name":"leak","arguments":{"text":"error"}}`); f.Message != "[redacted cases] has failed" || string(f.Data) != `{"of":"[redacted cases]"}` || f.Code != 4711 {
			t.Errorf("an error: %v with %s", f, f.Data)
		}
		if f := fault(t, c, mcp.MethodCallTool, `{"name":"echo","arguments":{"text":"NR-7"}}`); f.Code != mcp.CodeInvalidRequest || strings.Contains(f.Message, "NR-7") {
			t.Errorf("what is refused: %v", f)
		}
		if f := fault(t, c, mcp.MethodReadResource, `{"uri":"memo://n/NR-7"}`); f.Code != mcp.CodeInvalidRequest {
			t.Errorf("what is refused on its way back: %v", f)
		}
		var got []string
		for _, d := range decisions() {
			got = append(got, fmt.Sprintf("%s %s %s %s", d.By, d.Effect, d.Name, d.Method))
		}
		want := []string{
			"redact changed mails tools/call", "redact changed cases tools/call", "redact changed mails prompts/get", "redact changed cases tools/call",
			"redact changed cases tools/call", "redact refused numbers tools/call", "redact refused numbers resources/read",
		}
		if !slices.Equal(got, want) {
			t.Errorf("decided %q", got)
		}
	})
}

// TestPolicyOfTasks holds that the result of a call that was allowed with its arguments can be fetched when it has gone on as a
// task, though the request that fetches it has none; and that a tool which may not be used any more gives no results.
func TestPolicyOfTasks(t *testing.T) {
	pairings(t, func(t *testing.T, modern, upModern bool) {
		few := policy.Rule{Name: "few", When: `method == "tools/call" && tool == "count" && arguments.n < 5`, Do: policy.Allow}
		w, p, _ := policed(t, policy.Settings{
			Rules: []policy.Rule{few}, Default: policy.Deny,
			Limits: []policy.Limit{{Name: "two", When: `arguments.n >= 0`, Count: 2, Within: time.Hour}},
		}, jobs("jobs", upModern, false))
		server.AddTool(w.servers["jobs"], mcp.Tool{Name: "count", Execution: tasks.May()},
			tasks.Whole(func(_ context.Context, _ *server.Request, in struct {
				N int `json:"n"`
			}) (string, error) {
				return fmt.Sprint(in.N), nil
			}))
		until(t, "the tool is there", func() bool { return slices.Contains(toolNames(t, w.dial(t, modern, able(t))), "count") })
		c := w.dial(t, modern, able(t))
		start := func(n int) (*mcp.Task, error) {
			call, err := c.StartTool(t.Context(), "count", map[string]int{"n": n})
			if err != nil {
				return nil, err
			}
			return call.Task, nil
		}
		if _, err := start(5); err == nil {
			t.Error("too many are counted")
		}
		task, err := start(4)
		if err != nil || task == nil {
			t.Fatalf("got %v, %v", task, err)
		}
		for range 3 {
			if r, err := c.AwaitTask(t.Context(), task.ID); err != nil || r.Text() != "4" {
				t.Errorf("the result is %v, %v", r, err)
			}
		}
		rules, err := p.Over(policy.Settings{Default: policy.Deny}, bridge.Rules{})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.bridge.Reload(rules, []string{"jobs"}, func() error { return nil }); err != nil {
			t.Fatal(err)
		}
		if r, err := c.AwaitTask(t.Context(), task.ID); err == nil {
			t.Errorf("the result of a tool that is denied now: %v", r)
		}
	})
}
