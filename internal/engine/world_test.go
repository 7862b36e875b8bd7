package engine_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/internal/negotiate"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// call is a handler that takes no notifications.
type call func(ctx context.Context, in *engine.Incoming) *era.Outcome

func (f call) Call(ctx context.Context, in *engine.Incoming) *era.Outcome    { return f(ctx, in) }
func (f call) Notice(_ context.Context, _ *era.Notice, _ transport.Exchange) {}

func empty(context.Context, *engine.Incoming) *era.Outcome {
	return &era.Outcome{Result: json.RawMessage(`{}`)}
}

func codec(t testing.TB, revision string) era.Codec {
	t.Helper()
	set, err := negotiate.New(era.Config{Side: era.ServerSide, Info: mcp.Implementation{Name: "s", Version: "1"}})
	if err != nil {
		t.Fatal(err)
	}
	c, ok := set.Codec(revision)
	if !ok {
		t.Fatalf("no codec for %s", revision)
	}
	return c
}

// exchange is one message of a wire where each has its own stream; log holds what became of it.
type exchange struct {
	message   *jsonrpc.Message
	codec     era.Codec
	peer      transport.Peer
	principal *mcp.Principal
	parks     bool
	refuses   error         // of Send
	held      chan struct{} // Send waits until it is closed; nil for no wait

	mu   sync.Mutex
	log  []string
	gone func()
}

func (x *exchange) Message() *jsonrpc.Message    { return x.message }
func (x *exchange) Codec() era.Codec             { return x.codec }
func (x *exchange) Peer() transport.Peer         { return x.peer }
func (x *exchange) Header(string) (string, bool) { return "", false }
func (x *exchange) OverHTTP() bool               { return false }
func (x *exchange) Principal() *mcp.Principal    { return x.principal }
func (x *exchange) RemoteAddr() string           { return "" }
func (x *exchange) Related() jsonrpc.ID          { return jsonrpc.ID{} }

func (x *exchange) note(what string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.log = append(x.log, what)
}

func (x *exchange) Send(_ context.Context, frame []byte) error {
	if x.held != nil {
		<-x.held
	}
	if x.refuses != nil {
		return x.refuses
	}
	x.note("send " + string(frame))
	return nil
}

func (x *exchange) Answer(_ context.Context, frame []byte, row int, code int64) error {
	kind := "result"
	if code != 0 {
		kind = "error"
	}
	if row != 0 {
		kind += map[int]string{era.RowBusy: " busy", era.RowNotAcceptable: " not acceptable"}[row]
	}
	x.note(kind + " " + string(frame))
	return nil
}

func (x *exchange) Drop() { x.note("drop") }

func (x *exchange) Park(gone func()) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.gone = gone
	return x.parks
}

// want checks the beginnings of what became of the exchange.
func (x *exchange) want(t *testing.T, prefixes ...string) {
	t.Helper()
	x.mu.Lock()
	defer x.mu.Unlock()
	if !slices.EqualFunc(x.log, prefixes, strings.HasPrefix) {
		t.Errorf("got  %q\nwant %q", x.log, prefixes)
	}
}

const claim = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

// modern is a stateless exchange.
func modern(t testing.TB, method, params string) *exchange {
	t.Helper()
	if params != "" {
		params += ","
	}
	m, err := jsonrpc.Decode([]byte(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{`+params+claim+`}}`), negotiate.Lift)
	if err != nil {
		t.Fatal(err)
	}
	return &exchange{message: m, codec: codec(t, mcp.Version20260728), parks: true}
}

// legacy is an exchange of a session.
func legacy(t testing.TB, peer transport.Peer, frame string) *exchange {
	t.Helper()
	m, err := jsonrpc.Decode([]byte(frame), negotiate.Lift)
	if err != nil {
		t.Fatal(err)
	}
	return &exchange{message: m, codec: codec(t, mcp.Version20250618), peer: peer}
}

// outlet is where a peer hears what belongs to no exchange.
type outlet struct{ exchange }

func (o *outlet) End() { o.note("end") }
