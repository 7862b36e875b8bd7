package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

func TestCalls(t *testing.T) {
	rest := script{
		"tools/call":            result(`{"content":[{"type":"text","text":"hi"},{"type":"hologram","x":1}],"structuredContent":{"n":9007199254740993}}`),
		"resources/read":        result(`{"contents":[{"uri":"a:1","text":"one"}]}`),
		"prompts/get":           result(`{"messages":[{"role":"user","content":{"type":"text","text":"go"}}]}`),
		"completion/complete":   result(`{"completion":{"values":["ab"]}}`),
		"ping":                  result(`{}`),
		"logging/setLevel":      result(`{}`),
		"resources/subscribe":   result(`{}`),
		"resources/unsubscribe": result(`{}`),
	}
	eras(t, rest, func(t *testing.T, era string, conn transport.Conn, p *peer) {
		c := connect(t, conn, client.Options{})
		out, err := c.CallTool(t.Context(), "a", map[string]any{"city": "Oslo", "for": time.Minute})
		if err != nil || text(out) != "hi" || string(out.StructuredContent) != `{"n":9007199254740993}` || out.Content[1].ContentType() != "hologram" {
			t.Errorf("call: %+v, %v", out, err)
		}
		args, _ := jsonrpc.Member(p.last(t, "tools/call").Params, "arguments")
		if string(args) != `{"city":"Oslo","for":"1m0s"}` {
			t.Errorf("arguments: %s", args)
		}
		read, err := c.ReadResource(t.Context(), "a:1")
		if err != nil || read.Contents[0].Text != "one" {
			t.Errorf("read: %+v, %v", read, err)
		}
		prompt, err := c.GetPrompt(t.Context(), "p", map[string]string{"x": "y"})
		if err != nil || len(prompt.Messages) != 1 {
			t.Errorf("prompt: %+v, %v", prompt, err)
		}
		done, err := c.Complete(t.Context(), mcp.CompleteParams{Ref: mcp.PromptRef("p"), Argument: mcp.CompletionArgument{Name: "x", Value: "a"}})
		if err != nil || done.Completion.Values[0] != "ab" {
			t.Errorf("complete: %+v, %v", done, err)
		}
		if err := c.Ping(t.Context()); err != nil {
			t.Errorf("ping: %v", err)
		}
		if err := c.SetLevel(t.Context(), mcp.LevelDebug); err != nil {
			t.Errorf("level: %v", err)
		}
		err = c.SubscribeResource(t.Context(), "a:1")
		if era == "legacy" && err != nil || era == "modern" && !errors.Is(err, mcp.CodeMethodNotSupported) {
			t.Errorf("subscribe: %v", err)
		}
		if err := c.UnsubscribeResource(t.Context(), "a:1"); (err == nil) != (era == "legacy") {
			t.Errorf("unsubscribe: %v", err)
		}
		if strings.Contains(p.methods(), "subscribe") != (era == "legacy") || strings.Contains(p.methods(), "ping") != (era == "legacy") {
			t.Errorf("sent %s", p.methods())
		}
	})
}

func TestArguments(t *testing.T) {
	eras(t, script{"tools/call": result(`{"content":[]}`)}, func(t *testing.T, era string, conn transport.Conn, p *peer) {
		c := connect(t, conn, client.Options{})
		for _, tc := range []struct {
			args any
			want string // "" for an error
		}{
			{nil, `{}`},
			{json.RawMessage(`{"a":1.0,"b":"\u00e9"}`), `{"a":1.0,"b":"\u00e9"}`},
			{struct {
				List []string `json:"list"`
			}{}, `{"list":[]}`},
			{json.RawMessage(`{"a":`), ""},
			{[]int{1}, ""},
			{make(chan int), ""},
		} {
			before := p.methods()
			_, err := c.CallTool(t.Context(), "x", tc.args)
			if tc.want == "" {
				if err == nil || p.methods() != before {
					t.Errorf("%v: error %v, sent %s", tc.args, err, p.methods())
				}
				continue
			}
			if args, _ := jsonrpc.Member(p.last(t, "tools/call").Params, "arguments"); err != nil || string(args) != tc.want {
				t.Errorf("got %s, %v; want %s", args, err, tc.want)
			}
		}
	})
}

func TestErrors(t *testing.T) {
	rest := script{
		"tools/call":     fails(-32602, "no such tool", `{"hint":1}`),
		"prompts/get":    result(`[]`),
		"resources/read": fails(-32002, "gone", `{"uri":"a:1"}`),
	}
	eras(t, rest, func(t *testing.T, era string, conn transport.Conn, p *peer) {
		c := connect(t, conn, client.Options{})
		var fault *mcp.Error
		_, err := c.CallTool(t.Context(), "x", nil)
		if !errors.As(err, &fault) || !fault.Remote || fault.Code != mcp.CodeInvalidParams || string(fault.Data) != `{"hint":1}` {
			t.Errorf("call: %v", err)
		}
		if _, err := c.GetPrompt(t.Context(), "x", nil); !errors.Is(err, mcp.CodeInvalidResult) {
			t.Errorf("prompt: %v", err)
		}
		if _, err := c.ReadResource(t.Context(), "a:1"); !errors.Is(err, mcp.CodeResourceNotFound) {
			t.Errorf("read: %v", err)
		}
		if err := c.Notify(t.Context(), mcp.NotifyRootsChanged, nil); (err == nil) != (era == "legacy") {
			t.Errorf("notify: %v", err)
		}
	})
}

func TestTimeLimits(t *testing.T) {
	ticking := func(every time.Duration, times int) func(*peer, *jsonrpc.Message) {
		return func(p *peer, m *jsonrpc.Message) {
			go func() {
				for i := range times {
					time.Sleep(every)
					p.write(m, fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":{token},"progress":%d}}`, i))
				}
				p.write(m, `{"jsonrpc":"2.0","id":{id},"result":{"content":[]}}`)
			}()
		}
	}
	for name, tc := range map[string]struct {
		tool  func(*peer, *jsonrpc.Message)
		opts  client.CallOptions
		after time.Duration
		fails bool
	}{
		"default limit":        {nil, client.CallOptions{}, time.Minute, true},
		"own limit":            {nil, client.CallOptions{Timeout: time.Second}, time.Second, true},
		"hard total, silent":   {nil, client.CallOptions{Timeout: -1, Total: 5 * time.Second}, 5 * time.Second, true},
		"no reset by itself":   {ticking(40*time.Second, 3), client.CallOptions{OnProgress: func(mcp.ProgressParams) {}}, time.Minute, true},
		"reset on progress":    {ticking(40*time.Second, 3), client.CallOptions{ResetOnProgress: true}, 2 * time.Minute, false},
		"total beats progress": {ticking(40*time.Second, 100), client.CallOptions{ResetOnProgress: true}, 10 * time.Minute, true},
	} {
		t.Run(name, func(t *testing.T) {
			eras(t, script{"tools/call": tc.tool}, func(t *testing.T, era string, conn transport.Conn, p *peer) {
				c := connect(t, conn, client.Options{OnError: func(err error) { t.Errorf("reported: %v", err) }})
				start := time.Now()
				_, err := c.CallTool(t.Context(), "slow", nil, tc.opts)
				if took := time.Since(start); took != tc.after || errors.Is(err, mcp.CodeRequestTimeout) != tc.fails || (err != nil) != tc.fails {
					t.Errorf("after %s: %v", took, err)
				}
				synctest.Wait()
				if cancelled := strings.HasSuffix(p.methods(), "notifications/cancelled"); cancelled != tc.fails {
					t.Errorf("sent %s", p.methods())
				}
				time.Sleep(2 * time.Hour) // what comes late is ignored without a word
			})
		})
	}
}

func TestCancel(t *testing.T) {
	eras(t, nil, func(t *testing.T, era string, conn transport.Conn, p *peer) {
		c := connect(t, conn, client.Options{OnError: func(err error) { t.Errorf("reported: %v", err) }})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if _, err := c.CallTool(ctx, "slow", nil); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		synctest.Wait()
		call, cancelled := p.last(t, "tools/call"), p.last(t, "notifications/cancelled")
		if id, _ := jsonrpc.Member(cancelled.Params, "requestId"); string(id) != call.ID.String() {
			t.Errorf("cancelled %s, want %s", id, call.ID)
		}
		if _, claims := cancelled.Meta(); claims != (era == "modern") {
			t.Errorf("%s", cancelled.Frame())
		}
		p.write(call, `{"jsonrpc":"2.0","id":{id},"result":{"content":[]}}`)
		synctest.Wait()
		if _, err := c.CallTool(ctx, "slow", nil); !errors.Is(err, context.Canceled) || p.last(t, "tools/call") != call {
			t.Errorf("a call whose context had ended was sent: %v", err)
		}
	})
}

// Progress and notifications come in order, and before the answer that follows them.
func TestOrder(t *testing.T) {
	rest := script{"tools/call": says(
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":{token},"progress":1}}`,
		`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"a"}}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":{token},"progress":2,"message":"half"}}`,
		`{"jsonrpc":"2.0","method":"notifications/stderr","params":{"x":1}}`,
		`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"b"}}`,
		`{"jsonrpc":"2.0","id":{id},"result":{"content":[]}}`,
	)}
	eras(t, rest, func(t *testing.T, era string, conn transport.Conn, p *peer) {
		var logs, hooks, progress []string
		c := connect(t, conn, client.Options{
			OnLog: func(m mcp.LoggingMessageParams) { logs = append(logs, string(m.Data)) },
			OnNotification: func(_ context.Context, method string, params json.RawMessage) {
				time.Sleep(10 * time.Millisecond)
				hooks = append(hooks, method)
			},
		})
		_, err := c.CallTool(t.Context(), "x", nil, client.CallOptions{OnProgress: func(m mcp.ProgressParams) {
			progress = append(progress, fmt.Sprint(m.Progress, m.Message))
		}})
		got := fmt.Sprint(logs, hooks, progress, err)
		want := `["a" "b"] [notifications/message notifications/stderr notifications/message] [1 2half] <nil>`
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
}

func TestMeta(t *testing.T) {
	eras(t, script{"tools/call": result(`{"content":[]}`)}, func(t *testing.T, era string, conn transport.Conn, p *peer) {
		c := connect(t, conn, client.Options{})
		meta, err := mcp.NewMeta("traceparent", "00-1")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.CallTool(t.Context(), "x", nil, client.CallOptions{Meta: meta, LogLevel: mcp.LevelError}); err != nil {
			t.Fatal(err)
		}
		raw, _ := p.last(t, "tools/call").Meta()
		_, claims := jsonrpc.Member(raw, mcp.MetaProtocolVersion)
		level, _ := jsonrpc.Member(raw, mcp.MetaLogLevel)
		trace, _ := jsonrpc.Member(raw, "traceparent")
		if string(trace) != `"00-1"` || claims != (era == "modern") || (string(level) == `"error"`) != (era == "modern") {
			t.Errorf("%s", raw)
		}
	})
}

func TestInputRequired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, p := play(modern(script{"tools/call": func(p *peer, m *jsonrpc.Message) {
			answers, ok := jsonrpc.Member(m.Params, "inputResponses")
			state, _ := jsonrpc.Member(m.Params, "requestState")
			if !ok {
				p.write(m, `{"jsonrpc":"2.0","id":{id},"result":{"resultType":"input_required","inputRequests":{"who":{"method":"roots/list"}},"requestState":"s1"}}`)
				return
			}
			p.write(m, fmt.Sprintf(`{"jsonrpc":"2.0","id":{id},"result":{"content":[{"type":"text","text":%q}]}}`, string(answers)+string(state)))
		}}))
		defer p.conn.Close()
		c := connect(t, conn, client.Options{})
		if _, err := c.CallTool(t.Context(), "x", nil); !errors.Is(err, mcp.CodeInputHandlerMissing) {
			t.Errorf("without a handler: %v", err)
		}
		_, err := c.CallTool(t.Context(), "x", nil, client.CallOptions{ManualInput: true})
		var demand *mcp.InputRequired
		if !errors.As(err, &demand) || demand.Requests["who"].Method != "roots/list" || *demand.State != "s1" {
			t.Fatalf("got %v", err)
		}
		out, err := c.CallTool(t.Context(), "x", nil, client.CallOptions{
			InputResponses: mcp.InputResponses{"who": json.RawMessage(`{"roots":[]}`)}, RequestState: demand.State,
		})
		if err != nil || text(out) != `{"who":{"roots":[]}}"s1"` {
			t.Errorf("got %q, %v", text(out), err)
		}
	})
}

func TestServerRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, p := play(legacy(nil))
		defer p.conn.Close()
		connect(t, conn, client.Options{OnRequest: func(_ context.Context, req *client.IncomingRequest) (json.RawMessage, error) {
			switch req.Method {
			case "roots/list":
				return json.RawMessage(`{"roots":[]}`), nil
			case "elicitation/create":
				return nil, mcp.Errorf(-1, "no user")
			}
			return nil, errors.New("a secret")
		}})
		ask := func(id int, method string) string {
			m := &jsonrpc.Message{ID: jsonrpc.IntID(int64(id)), Method: method}
			p.write(m, string(m.Append(nil)))
			synctest.Wait()
			p.mu.Lock()
			defer p.mu.Unlock()
			return string(p.seen[len(p.seen)-1].Frame())
		}
		for i, tc := range []struct{ method, want string }{
			{"ping", `"result":{}`},
			{"roots/list", `"result":{"roots":[]}`},
			{"elicitation/create", `"error":{"code":-1,"message":"no user"}`},
			{"x/vendor", `"error":{"code":-32603,"message":"Internal error"}`},
			{"server/discover", `"code":-32601`},
		} {
			if got := ask(i, tc.method); !strings.Contains(got, tc.want) || !strings.Contains(got, fmt.Sprintf(`"id":%d`, i)) {
				t.Errorf("%s: %s", tc.method, got)
			}
		}
	})
}

func TestServerRequestsRefused(t *testing.T) {
	eras(t, nil, func(t *testing.T, era string, conn transport.Conn, p *peer) {
		connect(t, conn, client.Options{})
		synctest.Wait()
		before := p.methods()
		m := &jsonrpc.Message{ID: jsonrpc.IntID(1), Method: "sampling/createMessage"}
		p.write(m, string(m.Append(nil)))
		synctest.Wait()
		if era == "modern" && p.methods() != before {
			t.Errorf("a client of this era answers nothing, but sent %s", p.methods())
		}
		if era == "legacy" && p.methods() != before+" error" {
			t.Errorf("sent %s", p.methods())
		}
	})
}

func TestClose(t *testing.T) {
	eras(t, nil, func(t *testing.T, era string, conn transport.Conn, p *peer) {
		var c *client.Client
		c = connect(t, conn, client.Options{OnNotification: func(context.Context, string, json.RawMessage) { c.Close() }})
		waiting := make(chan error, 1)
		go func() {
			_, err := c.CallTool(t.Context(), "slow", nil)
			waiting <- err
		}()
		synctest.Wait()
		p.write(&jsonrpc.Message{}, `{"jsonrpc":"2.0","method":"notifications/x"}`)
		for range 100 {
			go c.Close()
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if err := <-waiting; !errors.Is(err, mcp.CodeConnectionClosed) {
			t.Errorf("the call that waited got %v", err)
		}
		if _, err := c.CallTool(t.Context(), "x", nil); !errors.Is(err, mcp.CodeNotConnected) {
			t.Errorf("a later call got %v", err)
		}
		<-c.Done()
	})
}

// Any hook may close the client, whoever calls it.
func TestHooksMayClose(t *testing.T) {
	const stray = `{"jsonrpc":"2.0","id":99,"result":{}}`
	for name, frame := range map[string]string{
		"OnError, stray frame":  `no JSON`,
		"OnError, stray answer": stray,
		"OnNotification":        `{"jsonrpc":"2.0","method":"notifications/x"}`,
		"OnLog":                 `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}`,
		"OnRequest":             `{"jsonrpc":"2.0","id":1,"method":"roots/list"}`,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conn, p := play(legacy(nil))
				defer p.conn.Close()
				var c *client.Client
				hook := func() { c.Close() }
				c = connect(t, conn, client.Options{
					OnError:        func(error) { hook() },
					OnNotification: func(context.Context, string, json.RawMessage) { hook() },
					OnLog:          func(mcp.LoggingMessageParams) { hook() },
					OnRequest: func(context.Context, *client.IncomingRequest) (json.RawMessage, error) {
						hook()
						return nil, nil
					},
				})
				p.write(&jsonrpc.Message{}, frame)
				select {
				case <-c.Done():
				case <-time.After(time.Minute):
					t.Error("not closed")
				}
			})
		})
	}
}

func TestServerGoes(t *testing.T) {
	eras(t, script{"tools/call": func(p *peer, _ *jsonrpc.Message) { p.conn.Close() }}, func(t *testing.T, era string, conn transport.Conn, p *peer) {
		c := connect(t, conn, client.Options{})
		if _, err := c.CallTool(t.Context(), "x", nil); !errors.Is(err, mcp.CodeConnectionClosed) {
			t.Errorf("got %v", err)
		}
		<-c.Done()
	})
}
