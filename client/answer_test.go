package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// asked lets a server of one era ask a client with the given options one question, and returns the answer, or how the
// question failed: the error that a legacy server gets, or that of the call that a modern server has asked about.
func asked(t *testing.T, era string, opts client.Options, method, params string) (answer string, failed error) {
	t.Helper()
	question := `{"method":"` + method + `","params":` + params + `}`
	if params == "" {
		question = `{"method":"` + method + `"}`
	}
	if era == "modern" {
		conn, p := play(modern(script{"tools/call": func(p *peer, m *jsonrpc.Message) {
			answers, again := jsonrpc.Member(m.Params, "inputResponses")
			if !again {
				p.write(m, `{"jsonrpc":"2.0","id":{id},"result":{"resultType":"input_required","inputRequests":{"q":`+question+`}}}`)
				return
			}
			raw, _ := jsonrpc.Member(answers, "q")
			answer = string(raw)
			p.write(m, `{"jsonrpc":"2.0","id":{id},"result":{"content":[]}}`)
		}}))
		defer p.conn.Close()
		_, failed = connect(t, conn, opts).CallTool(t.Context(), "x", nil)
		return answer, failed
	}
	conn, p := play(legacy(nil))
	defer p.conn.Close()
	connect(t, conn, opts)
	m := &jsonrpc.Message{ID: jsonrpc.IntID(77), Method: method, Params: json.RawMessage(params)}
	p.write(m, string(m.Append(nil)))
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	got := p.seen[len(p.seen)-1]
	if got.Error != nil {
		return "", &mcp.Error{Code: mcp.Code(got.Error.Code), Message: got.Error.Message}
	}
	return string(got.Result), nil
}

// bothEras runs a test once an era, in a bubble of its own.
func bothEras(t *testing.T, test func(t *testing.T, era string)) {
	for _, era := range []string{"modern", "legacy"} {
		t.Run(era, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, era) })
		})
	}
}

func model(text string) func(context.Context, *client.SamplingRequest) (*mcp.CreateMessageResult, error) {
	return func(context.Context, *client.SamplingRequest) (*mcp.CreateMessageResult, error) {
		return &mcp.CreateMessageResult{Model: "m", Content: []mcp.Content{mcp.Text(text)}}, nil
	}
}

// One set of handlers answers what servers of both eras ask.
func TestHandlersAnswer(t *testing.T) {
	const message = `{"messages":[{"role":"user","content":{"type":"text","text":"hi"}}],"maxTokens":9}`
	form := func(fields string) string {
		return `{"message":"?","requestedSchema":{"type":"object","properties":{` + fields + `}}}`
	}
	accept := func(content string) client.Options {
		return client.Options{Elicit: func(context.Context, *client.ElicitRequest) (*mcp.ElicitResult, error) {
			return client.Accept(json.RawMessage(content))
		}}
	}
	visit := client.Options{ElicitURL: func(_ context.Context, r *client.ElicitURLRequest) (*mcp.ElicitResult, error) {
		if r.Host != "a.example:8443" || r.URL != "https://a.example:8443/x?y=1" || r.Message != "?" {
			return nil, fmt.Errorf("got %+v", r)
		}
		return client.Accept(map[string]int{"n": 1})
	}}
	url := func(url string) string {
		return `{"mode":"url","message":"?","url":"` + url + `","elicitationId":"e1"}`
	}
	choices := `"one":{"type":"string","enum":["a","b"],"default":"b"},"titled":{"type":"string","oneOf":[{"const":"c","title":"C"}],"default":"c"},
		"old":{"type":"string","enum":["d"],"enumNames":["D"],"default":"d"},"many":{"type":"array","items":{"type":"string","enum":["e","f"]},"default":["f","e"]},
		"manyTitled":{"type":"array","items":{"anyOf":[{"const":"g","title":"G"}]},"default":["g"]}`
	for name, tc := range map[string]struct {
		opts           client.Options
		method, params string
		want           string   // the answer
		code           mcp.Code // or the error
	}{
		"sampling":           {client.Options{CreateMessage: model("yes")}, "sampling/createMessage", message, `{"role":"assistant","content":{"type":"text","text":"yes"},"model":"m"}`, 0},
		"sampling, no tools": {client.Options{CreateMessage: model("yes")}, "sampling/createMessage", message[:len(message)-1] + `,"tools":[]}`, "", mcp.CodeInvalidParams},
		"sampling, tools":    {client.Options{CreateMessage: model("yes"), SamplingTools: true}, "sampling/createMessage", message[:len(message)-1] + `,"tools":[]}`, `{"role":"assistant","content":{"type":"text","text":"yes"},"model":"m"}`, 0},
		"sampling, nothing":  {client.Options{CreateMessage: model("yes")}, "sampling/createMessage", `{"messages":[],"maxTokens":9}`, "", mcp.CodeInvalidParams},
		"sampling, odd":      {client.Options{CreateMessage: model("yes")}, "sampling/createMessage", `{"messages":7}`, "", mcp.CodeInvalidParams},
		"roots":              {client.Options{Roots: []mcp.Root{{URI: "file:///a", Name: "A"}}}, "roots/list", "", `{"roots":[{"uri":"file:///a","name":"A"}]}`, 0},
		"no roots yet":       {client.Options{Roots: []mcp.Root{}}, "roots/list", "{}", `{"roots":[]}`, 0},
		"form":               {accept(`{"b":false,"a":1.0}`), "elicitation/create", form(`"a":{"type":"number"},"b":{"type":"boolean"}`), `{"action":"accept","content":{"b":false,"a":1.0}}`, 0},
		"form, defaults":     {accept(`{"a":0}`), "elicitation/create", form(`"a":{"type":"integer","default":3},"b":{"type":"string","default":"x"}`), `{"action":"accept","content":{"a":0,"b":"x"}}`, 0},
		"form, choices":      {accept(`{}`), "elicitation/create", form(choices), `{"action":"accept","content":{"one":"b","titled":"c","old":"d","many":["f","e"],"manyTitled":["g"]}}`, 0},
		"form, wrong choice": {accept(`{"one":"z"}`), "elicitation/create", form(choices), "", mcp.CodeInternal},
		"form, wrong":        {accept(`{"a":"x"}`), "elicitation/create", form(`"a":{"type":"number"}`), "", mcp.CodeInternal},
		"form, nested":       {accept(`{}`), "elicitation/create", form(`"a":{"type":"object"}`), "", mcp.CodeInvalidParams},
		"form, no schema":    {accept(`{}`), "elicitation/create", `{"message":"?"}`, "", mcp.CodeInvalidParams},
		"form, other mode":   {accept(`{}`), "elicitation/create", `{"mode":"voice","message":"?","requestedSchema":{"type":"object","properties":{}}}`, "", mcp.CodeInvalidParams},
		"page":               {visit, "elicitation/create", url("https://a.example:8443/x?y=1"), `{"action":"accept"}`, 0},
		"page, script":       {visit, "elicitation/create", url("javascript:alert(1)"), "", mcp.CodeInvalidParams},
		"page, file":         {visit, "elicitation/create", url("file:///etc/passwd"), "", mcp.CodeInvalidParams},
		"page, hidden host":  {visit, "elicitation/create", url("https://bank.example@evil.example/"), "", mcp.CodeInvalidParams},
		"page, backslash":    {visit, "elicitation/create", url(`https://a.example\\@b.example/`), "", mcp.CodeInvalidParams},
		"page, no host":      {visit, "elicitation/create", url("https:///x"), "", mcp.CodeInvalidParams},
		"page, turned":       {visit, "elicitation/create", url(`https://a.example/\u202e`), "", mcp.CodeInvalidParams},
		"page, broken":       {visit, "elicitation/create", url(`https://a.example/ x`), "", mcp.CodeInvalidParams},
	} {
		t.Run(name, func(t *testing.T) {
			bothEras(t, func(t *testing.T, era string) {
				got, err := asked(t, era, tc.opts, tc.method, tc.params)
				if got != tc.want || (err == nil) != (tc.code == 0) || err != nil && !errors.Is(err, tc.code) {
					t.Errorf("got %s, %v", got, err)
				}
			})
		})
	}
}

// What a handler returns instead of an answer reaches a legacy server as the right error, and the caller of a modern one.
func TestHandlersRefuse(t *testing.T) {
	const params = `{"message":"?","requestedSchema":{"type":"object","properties":{}}}`
	result := func(r *mcp.ElicitResult, err error) client.Options {
		return client.Options{Elicit: func(context.Context, *client.ElicitRequest) (*mcp.ElicitResult, error) { return r, err }}
	}
	for name, tc := range map[string]struct {
		opts client.Options
		want string
		code mcp.Code
		says string // of the caller's error, on the modern era
	}{
		"declined, with content": {result(&mcp.ElicitResult{Action: mcp.ElicitDecline, Content: json.RawMessage(`{"secret":1}`)}, nil), `{"action":"decline"}`, 0, ""},
		"cancelled":              {result(client.Cancel()), `{"action":"cancel"}`, 0, ""},
		"rejected":               {result(nil, fmt.Errorf("not today: %w", client.ErrUserRejected)), "", -1, "rejected"},
		"own code":               {result(nil, mcp.Errorf(-7, "no")), "", -7, "no"},
		"secret":                 {result(nil, errors.New("a secret")), "", mcp.CodeInternal, "a secret"},
		"nothing":                {result(nil, nil), "", mcp.CodeInternal, "neither a result"},
		"odd action":             {result(&mcp.ElicitResult{Action: "shrug"}, nil), "", mcp.CodeInternal, "shrug"},
		"panic": {client.Options{Elicit: func(context.Context, *client.ElicitRequest) (*mcp.ElicitResult, error) {
			panic("a secret")
		}}, "", mcp.CodeInternal, "panicked"},
		"goexit": {client.Options{Elicit: func(context.Context, *client.ElicitRequest) (*mcp.ElicitResult, error) {
			runtime.Goexit()
			return nil, nil
		}}, "", mcp.CodeInternal, "ended its goroutine"},
	} {
		t.Run(name, func(t *testing.T) {
			bothEras(t, func(t *testing.T, era string) {
				got, err := asked(t, era, tc.opts, "elicitation/create", params)
				switch {
				case got != tc.want || (err == nil) != (tc.code == 0):
					t.Errorf("got %s, %v", got, err)
				case err == nil:
				case era == "legacy" && (!errors.Is(err, tc.code) || strings.Contains(err.Error(), "secret")):
					t.Errorf("got %v", err)
				case era == "modern" && !strings.Contains(err.Error(), tc.says):
					t.Errorf("the caller got %v", err)
				}
			})
		})
	}
}

// A question of a kind without a handler is refused, and a page is not a form.
func TestHandlersMissing(t *testing.T) {
	form := client.Options{Elicit: func(context.Context, *client.ElicitRequest) (*mcp.ElicitResult, error) { return client.Cancel() }}
	for name, tc := range map[string]struct {
		opts           client.Options
		method, params string
		code           mcp.Code // on the legacy era
	}{
		"sampling": {client.Options{}, "sampling/createMessage", `{}`, mcp.CodeMethodNotFound},
		"roots":    {form, "roots/list", "", mcp.CodeMethodNotFound},
		"form":     {client.Options{}, "elicitation/create", `{"message":"?"}`, mcp.CodeMethodNotFound},
		"page":     {form, "elicitation/create", `{"mode":"url","message":"?","url":"https://a.example"}`, mcp.CodeInvalidParams},
	} {
		t.Run(name, func(t *testing.T) {
			bothEras(t, func(t *testing.T, era string) {
				want := tc.code
				if era == "modern" {
					want = mcp.CodeInputHandlerMissing
				}
				if got, err := asked(t, era, tc.opts, tc.method, tc.params); got != "" || !errors.Is(err, want) {
					t.Errorf("got %s, %v", got, err)
				}
			})
		})
	}
}

// OnRequest is the door beneath the typed handlers: it gets what none of them takes, in both eras.
func TestHandlersFallBack(t *testing.T) {
	opts := client.Options{
		Roots: []mcp.Root{{URI: "file:///a"}},
		OnRequest: func(_ context.Context, req *client.IncomingRequest) (json.RawMessage, error) {
			return json.RawMessage(`{"from":"` + req.Method + `"}`), nil
		},
	}
	bothEras(t, func(t *testing.T, era string) {
		if got, err := asked(t, era, opts, "sampling/createMessage", `{"x":1}`); got != `{"from":"sampling/createMessage"}` {
			t.Errorf("got %s, %v", got, err)
		}
		if got, err := asked(t, era, opts, "roots/list", ""); got != `{"roots":[{"uri":"file:///a"}]}` {
			t.Errorf("got %s, %v", got, err)
		}
	})
}

// A client declares what it has handlers for, and nothing else.
func TestHandlersAreDeclared(t *testing.T) {
	elicit := func(context.Context, *client.ElicitRequest) (*mcp.ElicitResult, error) { return client.Cancel() }
	visit := func(context.Context, *client.ElicitURLRequest) (*mcp.ElicitResult, error) { return client.Cancel() }
	for name, tc := range map[string]struct {
		opts client.Options
		want string // on the legacy era
	}{
		"nothing":           {client.Options{}, `{}`},
		"flags alone":       {client.Options{SamplingTools: true, SamplingContext: true, NoElicitDefaults: true}, `{}`},
		"sampling":          {client.Options{CreateMessage: model("")}, `{"sampling":{}}`},
		"sampling, all":     {client.Options{CreateMessage: model(""), SamplingTools: true, SamplingContext: true}, `{"sampling":{"context":{},"tools":{}}}`},
		"form":              {client.Options{Elicit: elicit}, `{"elicitation":{"form":{}}}`},
		"page":              {client.Options{ElicitURL: visit}, `{"elicitation":{"url":{}}}`},
		"form and page":     {client.Options{Elicit: elicit, ElicitURL: visit}, `{"elicitation":{"form":{},"url":{}}}`},
		"page, own form":    {client.Options{ElicitURL: visit, Capabilities: mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{}}}, `{"elicitation":{"form":{},"url":{}}}`},
		"roots":             {client.Options{Roots: []mcp.Root{}}, `{"roots":{"listChanged":true}}`},
		"beside the stated": {client.Options{Elicit: elicit, Capabilities: mcp.ClientCapabilities{Roots: &mcp.RootsCapability{}}}, `{"elicitation":{"form":{}},"roots":{}}`},
	} {
		t.Run(name, func(t *testing.T) {
			eras(t, script{"tools/call": result(`{"content":[]}`)}, func(t *testing.T, era string, conn transport.Conn, p *peer) {
				c := connect(t, conn, tc.opts)
				if era == "legacy" {
					if got, _ := jsonrpc.Member(p.last(t, "initialize").Params, "capabilities"); string(got) != tc.want {
						t.Errorf("got %s", got)
					}
					return
				}
				if _, err := c.CallTool(t.Context(), "x", nil); err != nil {
					t.Fatal(err)
				}
				meta, _ := p.last(t, "tools/call").Meta()
				got, _ := jsonrpc.Member(meta, mcp.MetaClientCapabilities)
				if want := strings.Replace(tc.want, `{"listChanged":true}`, `{}`, 1); string(got) != want {
					t.Errorf("got %s", got)
				}
			})
		})
	}
}

// A server that takes its question back ends the handler's context, and is not answered.
func TestQuestionTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, p := play(legacy(nil))
		defer p.conn.Close()
		ended := make(chan error, 1)
		connect(t, conn, client.Options{Elicit: func(ctx context.Context, _ *client.ElicitRequest) (*mcp.ElicitResult, error) {
			<-ctx.Done()
			ended <- context.Cause(ctx)
			return nil, ctx.Err()
		}, OnError: func(err error) { t.Error(err) }})
		synctest.Wait()
		before := p.methods()
		p.write(&jsonrpc.Message{}, `{"jsonrpc":"2.0","id":5,"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}`)
		synctest.Wait()
		p.write(&jsonrpc.Message{}, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}`)
		if err := <-ended; err == nil {
			t.Error("no cause")
		}
		synctest.Wait()
		if p.methods() != before {
			t.Errorf("sent %s", p.methods())
		}
	})
}

// While the user thinks, the time of the call that waits for the answer stands still; its total does not.
func TestThinkingCostsNoTime(t *testing.T) {
	for name, tc := range map[string]struct {
		thinks time.Duration
		fails  bool
	}{"minutes": {9 * time.Minute, false}, "beyond the total": {11 * time.Minute, true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var call *jsonrpc.Message
				conn, p := play(legacy(script{
					"tools/call": func(p *peer, m *jsonrpc.Message) {
						call = m
						p.write(m, `{"jsonrpc":"2.0","id":"ask","method":"roots/list"}`)
					},
					"": func(p *peer, _ *jsonrpc.Message) {
						p.write(call, `{"jsonrpc":"2.0","id":{id},"result":{"content":[]}}`)
					},
				}))
				defer p.conn.Close()
				c := connect(t, conn, client.Options{OnRequest: func(ctx context.Context, _ *client.IncomingRequest) (json.RawMessage, error) {
					select {
					case <-time.After(tc.thinks):
					case <-ctx.Done():
					}
					return json.RawMessage(`{"roots":[]}`), nil
				}})
				_, err := c.CallTool(t.Context(), "x", nil)
				if errors.Is(err, mcp.CodeRequestTimeout) != tc.fails || (err != nil) != tc.fails {
					t.Errorf("got %v", err)
				}
				synctest.Wait()
				if told := strings.Contains(p.methods(), "cancelled"); told != tc.fails {
					t.Errorf("sent %s", p.methods())
				}
				time.Sleep(time.Hour)
			})
		})
	}
}

func TestSetRoots(t *testing.T) {
	eras(t, nil, func(t *testing.T, era string, conn transport.Conn, p *peer) {
		c := connect(t, conn, client.Options{Roots: []mcp.Root{{URI: "file:///a"}}})
		for _, roots := range [][]mcp.Root{{{URI: "file:///a"}}, {{URI: "file:///b"}}} {
			if err := c.SetRoots(t.Context(), roots...); err != nil {
				t.Error(err)
			}
		}
		if err := c.SetRoots(t.Context(), mcp.Root{URI: "https://a.example"}); err == nil {
			t.Error("a root that is no file was taken")
		}
		synctest.Wait()
		told := strings.Count(p.methods(), "notifications/roots/list_changed")
		if want := map[string]int{"modern": 0, "legacy": 1}[era]; told != want || len(c.Roots()) != 1 || c.Roots()[0].URI != "file:///b" {
			t.Errorf("told %d times, roots %v", told, c.Roots())
		}
	})
	eras(t, nil, func(t *testing.T, era string, conn transport.Conn, p *peer) {
		if err := connect(t, conn, client.Options{}).SetRoots(t.Context()); !errors.Is(err, mcp.CodeCapabilityNotSupported) {
			t.Errorf("got %v", err)
		}
	})
}
