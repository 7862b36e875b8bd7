package mcptest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/mcptest"
	"github.com/rialto-mcp/rialto/server"
)

// TestRelay puts a relay of nothing but the raw doors between two scripted peers, in every pairing of the eras, and sends
// one call of each kind through it. What the relay has no business with arrives token for token.
func TestRelay(t *testing.T) {
	for _, near := range []string{mcp.LatestModern, mcp.LatestLegacy} {
		for _, far := range []string{mcp.LatestModern, mcp.LatestLegacy} {
			t.Run(near+" to "+far, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { relayCalls(newRelayed(t, near, far)) })
			})
		}
	}
}

func relayCalls(r *relayed) {
	const answer = `{"content":[{"type":"text","text":"\u00e9\/"}],"n":12345678901234567890,"zz":[1.50, null],"_meta":{"k.example/b":1e0}}`

	r.call("plain", ``)
	r.far.Reply(r.sent("plain"), answer)
	r.result("plain", answer)

	const progress = `{"progressToken":%s,"progress":1.0,"total":2e0,"message":"\u0041","zz":9007199254740993}`
	r.call("progress", `,"progressToken":"mine"`)
	asked := r.sent("progress")
	r.far.Send(`{"jsonrpc":"2.0","method":"notifications/progress","params":` + with(progress, tokenOf(asked.Params)) + `}`)
	told := r.near.Next()
	if told.Method != mcp.NotifyProgress {
		r.Errorf("want progress, got %s", told.Frame())
	}
	r.same("progress", told.Params, with(progress, `"mine"`))
	r.far.Reply(asked, answer)
	r.result("after progress", answer)

	const fault = `{"code":-31999,"message":"caf\u00e9 closed","data":{"n":1.50,"a":[12345678901234567890]}}`
	r.call("failing", ``)
	asked = r.sent("failing")
	r.far.Send(`{"jsonrpc":"2.0","id":` + asked.ID.String() + `,"error":` + fault + `}`)
	failed := r.near.Next()
	if failed.Error == nil || failed.Error.Code != -31999 || failed.Error.Message != "café closed" {
		r.Fatalf("want the error, got %s", failed.Frame())
	}
	r.same("data", failed.Error.Data, `{"n":1.50,"a":[12345678901234567890]}`)

	r.call("cancelled", ``)
	asked = r.sent("cancelled")
	r.near.Send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + r.id() + `}}`)
	stopped := r.far.Next()
	of, _ := jsonrpc.Member(stopped.Params, "requestId")
	if stopped.Method != mcp.NotifyCancelled || string(of) != asked.ID.String() {
		r.Errorf("want the cancellation of %s, got %s", asked.ID, stopped.Frame())
	}
	r.far.Reply(asked, answer) // comes too late, and goes nowhere

	r.call("afterwards", ``)
	r.far.Reply(r.sent("afterwards"), answer)
	r.result("afterwards", answer)
}

// relayed is a relay between a scripted client, near, and a scripted server, far.
type relayed struct {
	*testing.T
	near, far *mcptest.Peer
	modern    bool // near
	calls     int
}

func newRelayed(t *testing.T, nearRevision, farRevision string) *relayed {
	far, up := mcptest.NewPeer(t)
	upstream := make(chan *client.Client, 1)
	go func() {
		c, err := client.Connect(t.Context(), up, client.Options{Versions: []string{farRevision}})
		if err != nil {
			t.Error(err)
		}
		upstream <- c
	}()
	if mcp.IsModern(farRevision) {
		far.Reply(far.Next(), `{"resultType":"complete","supportedVersions":["`+farRevision+`"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"}`)
	} else {
		far.Reply(far.Next(), `{"protocolVersion":"`+farRevision+`","capabilities":{"tools":{}},"serverInfo":{"name":"far","version":"1"}}`)
		far.Expect(`{"method":"notifications/initialized"}`)
	}
	c := <-upstream

	s := server.New(mcp.Implementation{Name: "relay", Version: "1"}, server.Options{
		Capabilities: mcp.ServerCapabilities{Tools: &mcp.ToolsCapability{}},
		Fallback:     relayTo(c),
	})
	near, down := mcptest.NewPeer(t)
	served := make(chan error, 1)
	go func() { served <- s.Serve(context.WithoutCancel(t.Context()), down) }()
	t.Cleanup(func() {
		near.Close()
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
		_ = c.Close()
		far.Close()
	})

	r := &relayed{T: t, near: near, far: far, modern: mcp.IsModern(nearRevision)}
	if !r.modern {
		near.Send(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"` + nearRevision +
			`","capabilities":{},"clientInfo":{"name":"near","version":"1"}}}`)
		near.Expect(`{"id":"hello"}`)
		near.Send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	}
	return r
}

// relayTo is a whole relay: what comes in goes out by a call that returns before its answer, and what belongs to that call
// comes back as it arrives.
func relayTo(c *client.Client) server.RawHandler {
	return func(ctx context.Context, req *server.Request) (*server.RawResult, error) {
		stream, err := c.Start(ctx, req.Method(), req.Params(), client.RawOptions{})
		if err != nil {
			return nil, err
		}
		defer stream.Close()
		for {
			m, err := stream.Next(ctx)
			if err != nil {
				break
			}
			if err := req.Notify(ctx, m.Method, jsonrpc.With(nil, m.Params, "progressToken", req.ProgressToken())); err != nil {
				return nil, err
			}
		}
		answer, err := stream.Result()
		if err != nil {
			return nil, err
		}
		return &server.RawResult{Result: answer.Result}, nil
	}
}

const relayedArguments = `{"n":12345678901234567890,"e":1e0,"s":"\u00e9\/"}`

func (r *relayed) id() string { return `"call ` + string(rune('0'+r.calls)) + `"` }

// call sends a tools/call of the tool from near; token is more of its _meta.
func (r *relayed) call(tool, token string) {
	r.calls++
	meta := `"x.example/y":{"a":1.0}` + token
	if r.modern {
		meta += `,"` + mcp.MetaProtocolVersion + `":"` + mcp.LatestModern + `","` + mcp.MetaClientInfo +
			`":{"name":"near","version":"1"},"` + mcp.MetaClientCapabilities + `":{}`
	}
	r.near.Send(`{"jsonrpc":"2.0","id":` + r.id() + `,"method":"tools/call","params":{"name":"` + tool +
		`","arguments":` + relayedArguments + `,"zz":[1.50, null],"_meta":{` + meta + `}}}`)
}

// sent is the request that far gets for it, compared.
func (r *relayed) sent(tool string) *jsonrpc.Message {
	r.Helper()
	m := r.far.Next()
	r.same("params", bare(m.Params), `{"name":"`+tool+`","arguments":`+relayedArguments+`,"zz":[1.50,null],"_meta":{"x.example/y":{"a":1.0}}}`)
	return m
}

// result takes the answer that near gets and compares it.
func (r *relayed) result(what, want string) {
	r.Helper()
	m := r.near.Next()
	if m.ID.String() != r.id() {
		r.Errorf("%s: want the answer to %s, got %s", what, r.id(), m.Frame())
	}
	r.same(what, bare(m.Result), want)
}

// same compares token for token: only white space between tokens may differ.
func (r *relayed) same(what string, got []byte, want string) {
	r.Helper()
	if g, w := packed(got), packed([]byte(want)); g != w {
		r.Errorf("%s:\ngot  %s\nwant %s", what, g, w)
	}
}

func packed(value []byte) string {
	var out bytes.Buffer
	if err := json.Compact(&out, value); err != nil {
		return string(value)
	}
	return out.String()
}

// bare cuts out what belongs to one leg alone: the members of the modern era and the token of progress.
func bare(object json.RawMessage) json.RawMessage {
	meta, _ := jsonrpc.Member(object, "_meta")
	for _, name := range []string{mcp.MetaProtocolVersion, mcp.MetaClientInfo, mcp.MetaClientCapabilities, mcp.MetaServerInfo, mcp.MetaProgressToken} {
		meta = jsonrpc.Without(meta, name)
	}
	return jsonrpc.Without(jsonrpc.With(nil, object, "_meta", meta), "resultType")
}

func tokenOf(params json.RawMessage) string {
	meta, _ := jsonrpc.Member(params, "_meta")
	token, _ := jsonrpc.Member(meta, mcp.MetaProgressToken)
	return string(token)
}

func with(text, token string) string {
	return string(bytes.Replace([]byte(text), []byte("%s"), []byte(token), 1))
}
