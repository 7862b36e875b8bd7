package cases

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/state"
)

// Two servers that share a store, a log and a bus are one: whichever of them a request of a session reaches, the session is
// there, and what one of them does is seen on the streams of the other.
func TestTwoReplicasAreOneServer(t *testing.T) {
	sessions, log, bus := state.NewMemorySessions(state.SessionLimits{}), state.NewMemoryLog(state.LogLimits{}), state.NewMemoryBus(state.BusLimits{})
	t.Cleanup(func() {
		for _, one := range []interface{ Close() error }{sessions, log, bus} {
			if err := one.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	goOn := make(chan struct{})
	replica := func() *world {
		w := start(t, server.Options{Bus: bus, HTTP: server.HTTPOptions{Sessions: sessions, EventLog: log}})
		w.tool(t, "compose", func(ctx context.Context, req *server.Request) (*mcp.CallToolResult, error) {
			said, err := req.CreateMessage(ctx, mcp.CreateMessageParams{
				MaxTokens: 9, Messages: []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: []mcp.Content{mcp.Text("a rhyme")}}},
			})
			if err != nil {
				return nil, err
			}
			req.Progress(ctx, 1, 2, "composed")
			<-goOn
			return mcp.TextResult("so: " + said.Text()), nil
		})
		return w
	}
	a, b := replica(), replica()

	hello := a.do(t, ask{body: `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",` +
		`"capabilities":{"sampling":{}},"clientInfo":{"name":"t","version":"1"}}}`})
	hello.is(t, 200, 0, `"protocolVersion":"2025-11-25"`)
	id := hello.header.Get(sessionHeader)
	b.do(t, ask{body: `{"jsonrpc":"2.0","method":"notifications/initialized"}`, head: []string{sessionHeader + ": " + id}}).is(t, 202, 0, "")
	news := a.get(t, id)

	call := b.stream(t, legacy(id, "tools/call", `{"name":"compose","_meta":{"progressToken":"p"}}`))
	question := call.wants(t, "sampling/createMessage")
	requestID, ok := jsonrpc.Member(json.RawMessage(question.data), "id")
	if !ok {
		t.Fatalf("a question without an id: %s", question.data)
	}
	answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"role":"assistant","model":"m","content":{"type":"text","text":"moon, soon"}}}`, requestID)
	a.do(t, ask{body: answer, head: []string{sessionHeader + ": " + id}}).is(t, 202, 0, "")
	last := call.wants(t, "notifications/progress")

	b.tool(t, "new", nothing)
	news.wants(t, "notifications/tools/list_changed")

	if last.id == "" {
		t.Fatalf("an event without an id: %+v", last)
	}
	call.vanish()
	resumed := a.get(t, id, "Last-Event-ID: "+last.id)
	close(goOn)
	if e := resumed.next(t); !strings.Contains(e.data, "so: moon, soon") || !strings.Contains(e.data, `"id":2`) {
		t.Errorf("the resumed stream begins with %+v, want the answer of the call alone", e)
	}
	if rest := resumed.over(t); len(rest) > 0 {
		t.Errorf("after the answer came %v", rest)
	}

	if gone := a.do(t, ask{method: "DELETE", head: []string{sessionHeader + ": " + id}}); gone.status/100 != 2 {
		t.Errorf("DELETE: %s", gone)
	}
	news.over(t)
	b.do(t, legacy(id, "tools/list", "")).is(t, 404, -32600, "")
}
