package pipe_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/internal/negotiate"
	"github.com/rialto-mcp/rialto/internal/pipe"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// handler is what stands above an engine in these tests. Nil functions answer with an empty result, and nothing.
type handler struct {
	call   func(ctx context.Context, in *engine.Incoming) *era.Outcome
	notice func(ctx context.Context, n *era.Notice)
	pace   func(in *engine.Incoming) *engine.Pace
}

var (
	_ engine.Handler = (*handler)(nil)
	_ engine.Pacer   = (*handler)(nil)
)

func (h *handler) Call(ctx context.Context, in *engine.Incoming) *era.Outcome {
	if in.Method() == mcp.MethodInitialize {
		return result(`{"protocolVersion":"` + in.Codec.Revision() + `","capabilities":{},"serverInfo":{"name":"s","version":"1"}}`)
	}
	if h.call == nil {
		return result(`{}`)
	}
	return h.call(ctx, in)
}

func (h *handler) Notice(ctx context.Context, n *era.Notice, _ transport.Exchange) {
	if h.notice != nil {
		h.notice(ctx, n)
	}
}

func (h *handler) Pace(in *engine.Incoming) *engine.Pace {
	if h.pace == nil {
		return nil
	}
	return h.pace(in)
}

func result(raw string) *era.Outcome { return &era.Outcome{Result: json.RawMessage(raw)} }

// toolName is the raw name a tools/call asks for.
func toolName(in *engine.Incoming) string {
	raw, _ := in.Param(era.LiftName)
	return strings.Trim(string(raw), `"`)
}

// faults gathers what OnError is told.
type faults struct {
	mu  sync.Mutex
	all []string
}

func (f *faults) add(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all = append(f.all, err.Error())
}

func (f *faults) list() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.all)
}

func codecs(t testing.TB, side era.Side, served ...string) *negotiate.Set {
	t.Helper()
	set, err := negotiate.New(era.Config{
		Side: side, Info: mcp.Implementation{Name: "s", Version: "1"}, Served: served,
		Vendor: func(string) bool { return true },
	})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// world is a server's end that is being served, and a client that writes and reads frames by hand.
type world struct {
	t      testing.TB
	client transport.Conn
	engine *engine.Engine
	faults *faults
	ended  chan error // what Serve has returned
	cancel context.CancelCauseFunc
}

func serve(t testing.TB, h engine.Handler, opts engine.Options) *world {
	t.Helper()
	near, far := transport.Pair(4096)
	return serveOn(t, near, far, h, opts)
}

func serveOn(t testing.TB, near, far transport.Conn, h engine.Handler, opts engine.Options) *world {
	t.Helper()
	w := &world{t: t, client: near, faults: &faults{}, ended: make(chan error, 1)}
	opts.OnError = w.faults.add
	w.engine = engine.New(h, opts)
	ctx, cancel := context.WithCancelCause(context.Background())
	w.cancel = cancel
	set := codecs(t, era.ServerSide)
	go func() { w.ended <- pipe.Serve(ctx, far, w.engine, set, pipe.Options{OnError: w.faults.add}) }()
	t.Cleanup(func() { cancel(nil); near.Close() })
	return w
}

func (w *world) send(frames ...string) {
	w.t.Helper()
	for _, frame := range frames {
		if err := w.client.Write(context.Background(), []byte(frame)); err != nil {
			w.t.Fatalf("write %s: %v", frame, err)
		}
	}
}

// next reads the next frame, or "" when none comes within a second.
func (w *world) next() string {
	w.t.Helper()
	return w.nextWithin(time.Second)
}

func (w *world) nextWithin(d time.Duration) string {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	frame, err := w.client.Read(ctx)
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return "(" + err.Error() + ")"
	}
	return string(frame)
}

func (w *world) want(frames ...string) {
	w.t.Helper()
	for _, want := range frames {
		if got := w.next(); got != want {
			w.t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// wantAll is want for messages whose members may come in another order than the tests write them in.
func (w *world) wantAll(frames ...string) {
	w.t.Helper()
	for _, want := range frames {
		got := w.next()
		var a, b any
		if json.Unmarshal([]byte(got), &a) != nil || json.Unmarshal([]byte(want), &b) != nil || !reflect.DeepEqual(a, b) {
			w.t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// quiet checks that nothing more comes.
func (w *world) quiet() {
	w.t.Helper()
	if got := w.next(); got != "" {
		w.t.Errorf("got %s, want nothing", got)
	}
}

// finish lets the input end and returns what Serve says.
func (w *world) finish() error {
	w.t.Helper()
	w.client.Close()
	select {
	case err := <-w.ended:
		return err
	case <-time.After(time.Minute):
		w.t.Fatal("Serve does not return")
		return nil
	}
}

const claim = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

// modernCall is a modern tools/call; id is a raw token.
func modernCall(id, tool string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + tool + `","arguments":{},` + claim + `}}`
}

// legacyCall is a legacy tools/call.
func legacyCall(id, tool string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + tool + `","arguments":{}}}`
}

func cancelled(id string) string {
	return `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`
}

func modernAnswer(id, members string) string {
	if members != "" {
		members += ","
	}
	return `{"jsonrpc":"2.0","id":` + id + `,"result":{` + members + `"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}}`
}

func legacyAnswer(id, members string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"result":{` + members + `}}`
}

func refusal(id, code, message string) string {
	if id != "" {
		id = `"id":` + id + `,`
	}
	return `{"jsonrpc":"2.0",` + id + `"error":{"code":` + code + `,"message":"` + message + `"}}`
}

// handshake opens the legacy era.
func (w *world) handshake(revision string) {
	w.t.Helper()
	w.send(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"` + revision + `","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
	if got := w.next(); !strings.Contains(got, `"protocolVersion":"`+revision+`"`) {
		w.t.Fatalf("the handshake was answered with %s", got)
	}
	w.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}
