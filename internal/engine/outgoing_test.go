package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/internal/negotiate"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// streams is an Exchanger where each exchange has a stream of its own: what comes on it is played by frames.
type streams struct {
	exchange
	engine *engine.Engine
	frames []string
	end    func(ctx context.Context) (elsewhere bool, err error)
	sent   []string
}

func (s *streams) Shared() bool { return false }
func (s *streams) Close() error { return nil }

func (s *streams) Exchange(ctx context.Context, out transport.Outbound) (bool, error) {
	s.sent = append(s.sent, out.Method)
	if out.Kind != jsonrpc.KindRequest {
		return false, nil
	}
	for _, frame := range s.frames {
		m, err := jsonrpc.Decode([]byte(frame), negotiate.Lift)
		if err != nil {
			return false, err
		}
		s.engine.Deliver(ctx, &related{exchange{message: m, codec: s.codec, peer: s.peer}, out.ID})
	}
	if s.end != nil {
		return s.end(ctx)
	}
	return false, nil
}

// related is an exchange that came on the stream of a request of ours.
type related struct {
	exchange
	id jsonrpc.ID
}

func (x *related) Related() jsonrpc.ID { return x.id }

func clientOn(t *testing.T, revision string, h engine.Handler) (*engine.Peer, *streams) {
	t.Helper()
	set, err := negotiate.New(era.Config{Side: era.ClientSide, Info: mcp.Implementation{Name: "c", Version: "1"}})
	if err != nil {
		t.Fatal(err)
	}
	codec, ok := set.Codec(revision)
	if !ok {
		t.Fatalf("no codec for %s", revision)
	}
	e := engine.New(h, engine.Options{})
	p, err := e.Open(transport.PeerSpec{Codec: codec, Outlet: &outlet{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close(nil) })
	return p.(*engine.Peer), &streams{exchange: exchange{codec: codec, peer: p}, engine: e}
}

func tool() *era.Outgoing {
	return &era.Outgoing{Method: mcp.MethodCallTool, Params: json.RawMessage(`{"name":"x"}`)}
}

const done = `{"jsonrpc":"2.0","id":1,"result":{"content":[],"resultType":"complete"}}`

func TestStreamOfOneCall(t *testing.T) {
	broken := errors.New("connection reset")
	fault := func(id string) *jsonrpc.Message {
		m, err := jsonrpc.Decode([]byte(`{"jsonrpc":"2.0",`+id+`"error":{"code":-32601,"message":"no such tool"}}`), negotiate.Lift)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	fails := func(err error) func(context.Context) (bool, error) {
		return func(context.Context) (bool, error) { return false, err }
	}
	cases := []struct {
		name   string
		frames []string
		end    func(context.Context) (bool, error)
		want   string // of the answer, or part of its error
		err    error
	}{
		{"answer", []string{done}, nil, `"content"`, nil},
		{"answer, then the stream breaks", []string{done}, fails(broken), `"content"`, nil},
		{"no answer", nil, nil, "", transport.ErrCut},
		{"the stream breaks", nil, fails(broken), "", broken},
		{"an error without id is about this request", []string{`{"jsonrpc":"2.0","error":{"code":-32601,"message":"no such tool"}}`}, nil, "no such tool", nil},
		{"an error in the body of a refusal", nil, fails(&transport.StatusError{Status: 404, Message: fault(`"id":1,`)}), "no such tool", nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for _, revision := range []string{mcp.Version20250618, mcp.Version20260728} {
				p, via := clientOn(t, revision, call(empty))
				via.frames, via.end = c.frames, c.end
				outcome, err := p.Call(t.Context(), via, tool(), engine.CallOptions{})
				switch {
				case c.err != nil:
					if !errors.Is(err, c.err) {
						t.Errorf("got %v, want %v", err, c.err)
					}
				case err != nil:
					t.Error(err)
				case outcome.Err != nil && !strings.Contains(outcome.Err.Message, c.want), outcome.Err == nil && !strings.Contains(string(outcome.Result), c.want):
					t.Errorf("got %+v", outcome)
				}
			}
		})
	}
}

func TestProgressOnTheCallersOwnStream(t *testing.T) {
	p, via := clientOn(t, mcp.Version20260728, call(empty))
	via.frames = []string{
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":2}}`, done,
	}
	var got []string
	if _, err := p.Call(t.Context(), via, tool(), engine.CallOptions{OnProgress: func(raw json.RawMessage) {
		step, _ := jsonrpc.Member(raw, "progress")
		got = append(got, string(step)) // no lock: it runs on this goroutine
	}}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, []string{"1", "2"}) {
		t.Errorf("got %q", got)
	}
}

// Where each call has its own stream, a modern call is cancelled by closing it and a legacy one by a notification.
func TestCancellationOnOwnStreams(t *testing.T) {
	for revision, want := range map[string][]string{
		mcp.Version20250618: {mcp.MethodCallTool, mcp.NotifyCancelled}, mcp.Version20260728: {mcp.MethodCallTool},
	} {
		synctest.Test(t, func(t *testing.T) {
			p, via := clientOn(t, revision, call(empty))
			via.end = func(ctx context.Context) (bool, error) { <-ctx.Done(); return false, ctx.Err() }
			_, err := p.Call(t.Context(), via, tool(), engine.CallOptions{Timeout: time.Second})
			if !errors.Is(err, mcp.CodeRequestTimeout) {
				t.Errorf("got %v", err)
			}
			synctest.Wait()
			if !slices.Equal(via.sent, want) {
				t.Errorf("%s: sent %q, want %q", revision, via.sent, want)
			}
		})
	}
}

// What belongs to a call goes to its OnNotice first; the handler gets what that leaves.
func TestNotificationsOfACall(t *testing.T) {
	const stamp = `"_meta":{"io.modelcontextprotocol/subscriptionId":1}`
	handled := make(chan string, 10)
	p, via := clientOn(t, mcp.Version20260728, noticeHandler{call(empty), func(n *era.Notice) { handled <- n.Method }})
	via.frames = []string{
		`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{},` + stamp + `}}`,
		`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{` + stamp + `}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,` + stamp + `}}`, done,
	}
	var seen []string
	_, err := p.Call(t.Context(), via, tool(), engine.CallOptions{Tag: "mine", OnNotice: func(n *era.Notice) bool {
		seen = append(seen, n.Method)
		if p.Tag(jsonrpc.IntID(1)) != "mine" || p.Tag(jsonrpc.IntID(2)) != nil {
			t.Error("the tag is not that of the call")
		}
		return n.Method != mcp.NotifyToolsChanged
	}})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{mcp.NotifySubscriptionsAcknowledged, mcp.NotifyToolsChanged, mcp.NotifyCancelled}; !slices.Equal(seen, want) {
		t.Errorf("the call saw %q", seen)
	}
	if len(handled) != 1 || <-handled != mcp.NotifyToolsChanged { // before the answer, so it is there by now
		t.Error("the handler did not get what the call has left")
	}
}
