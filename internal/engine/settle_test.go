package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
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

// rerun shows what a handler is run again with.
type rerun struct{}

func (rerun) Again(_ context.Context, answers, state json.RawMessage) *era.Outcome {
	return &era.Outcome{Result: json.RawMessage(fmt.Sprintf(`{"answers":%s,"state":%s}`, or(answers), or(state)))}
}

func (rerun) Fail(err error) *era.Outcome {
	return &era.Outcome{Err: mcp.Errorf(mcp.CodeInternal, "failed: %v", err)}
}

func or(raw json.RawMessage) string {
	if raw == nil {
		return "null"
	}
	return string(raw)
}

const twoQuestions = `{"a":{"method":"roots/list"},"b":{"method":"elicitation/create","params":{"message":"m"}}}`

// session is an engine whose handler asks once, and a legacy peer with its handshake done.
type session struct {
	t    *testing.T
	e    *engine.Engine
	peer transport.Peer
	x    *exchange
}

// beginAsking sends a call whose handler asks, and returns when the questions are out.
func beginAsking(t *testing.T, revision string, round era.InputRound, adjust func(*exchange)) *session {
	t.Helper()
	round.Rerun = rerun{}
	s := &session{t: t, e: engine.New(call(func(context.Context, *engine.Incoming) *era.Outcome {
		return &era.Outcome{Input: &round}
	}), engine.Options{IDPrefix: "q"})}
	peer, err := s.e.Open(transport.PeerSpec{Codec: codec(t, revision), Outlet: &outlet{}})
	if err != nil {
		t.Fatal(err)
	}
	s.peer = peer
	s.deliver(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	s.x = legacy(t, peer, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}`)
	s.x.codec = codec(t, revision)
	if adjust != nil {
		adjust(s.x)
	}
	go s.e.Receive(t.Context(), s.x) // the bubble waits for it
	synctest.Wait()
	return s
}

func (s *session) deliver(frame string) {
	s.t.Helper()
	m, err := jsonrpc.Decode([]byte(frame), negotiate.Lift)
	if err != nil {
		s.t.Fatal(err)
	}
	s.e.Deliver(s.t.Context(), &exchange{message: m, codec: s.peer.Codec(), peer: s.peer})
	synctest.Wait()
}

// sent returns the frames of one method that went out on the call's stream.
func (s *session) sent(method string) []string {
	s.x.mu.Lock()
	defer s.x.mu.Unlock()
	var out []string
	for _, line := range s.x.log {
		if strings.Contains(line, `"method":"`+method+`"`) {
			out = append(out, strings.TrimPrefix(line, "send "))
		}
	}
	return out
}

// idOf is the id of the one question of a method.
func (s *session) idOf(method string) string {
	s.t.Helper()
	asked := s.sent(method)
	if len(asked) != 1 {
		s.t.Fatalf("%s was asked %d times", method, len(asked))
	}
	id, _ := jsonrpc.Member([]byte(asked[0]), "id")
	return string(id)
}

// last is what became of the call in the end.
func (s *session) last() string {
	s.x.mu.Lock()
	defer s.x.mu.Unlock()
	if len(s.x.log) == 0 {
		return ""
	}
	return s.x.log[len(s.x.log)-1]
}

func (s *session) wantLast(prefix, part string) {
	s.t.Helper()
	if got := s.last(); !strings.HasPrefix(got, prefix) || !strings.Contains(got, part) {
		s.t.Errorf("want %s with %s, got %q", prefix, part, got)
	}
}

func TestSettleAsksAllAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := beginAsking(t, mcp.Version20250618, era.InputRound{Requests: json.RawMessage(twoQuestions), State: json.RawMessage(`"s"`)}, nil)
		if s.peer.Idle() {
			t.Error("a peer that is asked counts as idle")
		}
		s.deliver(`{"jsonrpc":"2.0","id":` + s.idOf("elicitation/create") + `,"result":{"action":"decline","n":1.0}}`)
		s.deliver(`{"jsonrpc":"2.0","id":` + s.idOf("roots/list") + `,"result":{"roots":[]}}`)
		s.wantLast("result", `{"answers":{"a":{"roots":[]},"b":{"action":"decline","n":1.0}},"state":"s"}`)
		if told := s.sent(mcp.NotifyCancelled); told != nil {
			t.Errorf("answered questions were cancelled: %q", told)
		}
	})
}

// What one question fails by ends the others, and the client hears of it before the call is answered.
func TestSettleFails(t *testing.T) {
	for _, c := range []struct {
		name      string
		do        func(s *session)
		after     time.Duration
		cancelled int // questions that the client is told of; -1 where nobody is there to be told
		last      string
		part      string
	}{
		{"the client refuses one", func(s *session) {
			s.deliver(`{"jsonrpc":"2.0","id":` + s.idOf("roots/list") + `,"error":{"code":-1,"message":"no roots here"}}`)
		}, 0, 1, "error", "roots/list with error -1: no roots here"},
		{"nobody answers", func(*session) { time.Sleep(10*time.Minute + time.Second); synctest.Wait() }, 10*time.Minute + time.Second, 2, "error", "within 10m0s"},
		{"the call is cancelled", func(s *session) {
			s.deliver(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		}, 0, 2, "drop", ""},
		{"the session ends", func(s *session) { s.peer.Close(transport.ErrClosed); synctest.Wait() }, 0, -1, "drop", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := beginAsking(t, mcp.Version20250618, era.InputRound{Requests: json.RawMessage(twoQuestions)}, nil)
				start := time.Now()
				c.do(s)
				s.wantLast(c.last, c.part)
				if told := s.sent(mcp.NotifyCancelled); len(told) != c.cancelled && c.cancelled >= 0 {
					t.Errorf("want %d cancellations, got %q", c.cancelled, told)
				}
				if d := time.Since(start); d != c.after {
					t.Errorf("it took %s", d)
				}
			})
		})
	}
}

// Where there is no way to the client the call fails at once.
func TestSettleWithoutAWay(t *testing.T) {
	many := era.OpenObject(nil)
	for i := range 101 {
		many.Put(fmt.Sprint("q", i), []byte(`{"method":"roots/list"}`))
	}
	for _, c := range []struct {
		name     string
		revision string
		requests string
		adjust   func(*exchange)
		part     string
	}{
		{"no stream", mcp.Version20250618, twoQuestions, func(x *exchange) { x.refuses = transport.ErrUndeliverable }, "no way to ask"},
		{"no session", mcp.Version20250618, twoQuestions, func(x *exchange) { x.peer = nil }, "no way to ask"},
		{"no such method", mcp.Version20241105, twoQuestions, nil, "revision 2024-11-05 does not have it"},
		{"no method at all", mcp.Version20250618, `{"a":{}}`, nil, "names no method"},
		{"too many", mcp.Version20250618, string(many.Close()), nil, "at most 100"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				s := beginAsking(t, c.revision, era.InputRound{Requests: json.RawMessage(c.requests)}, c.adjust)
				s.wantLast("error", c.part)
				if d := time.Since(start); d != 0 {
					t.Errorf("it took %s", d)
				}
			})
		})
	}
}

// A client is not asked before it has finished its handshake.
func TestAskBeforeTheHandshakeIsOver(t *testing.T) {
	e := engine.New(call(func(ctx context.Context, in *engine.Incoming) *era.Outcome {
		_, err := in.Ask(ctx, []engine.Question{{Method: mcp.MethodListRoots}})
		return rerun{}.Fail(err)
	}), engine.Options{})
	peer, err := e.Open(transport.PeerSpec{Codec: codec(t, mcp.Version20250618), Outlet: &outlet{}})
	if err != nil {
		t.Fatal(err)
	}
	x := legacy(t, peer, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	e.Receive(t.Context(), x)
	x.want(t, `error {"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"failed: this connection has no way`)
}

// A round without questions is a retry after a pause, which a cancellation cuts short.
func TestSettlePauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := beginAsking(t, mcp.Version20250618, era.InputRound{State: json.RawMessage(`"s"`)}, nil)
		if got := s.last(); got != "" {
			t.Fatalf("it went on at once: %s", got)
		}
		time.Sleep(250 * time.Millisecond)
		synctest.Wait()
		s.wantLast("result", `{"answers":null,"state":"s"}`)

		s = beginAsking(t, mcp.Version20250618, era.InputRound{State: json.RawMessage(`"s"`)}, nil)
		s.deliver(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		s.wantLast("drop", "")
	})
}

// A page to visit has an id in the revision that wants one.
func TestElicitationID(t *testing.T) {
	const page = `{"a":{"method":"elicitation/create","params":{"mode":"url","message":"m","url":"https://example.com"%s}}}`
	uuid := regexp.MustCompile(`"elicitationId":"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"`)
	synctest.Test(t, func(t *testing.T) {
		s := beginAsking(t, mcp.Version20251125, era.InputRound{Requests: json.RawMessage(fmt.Sprintf(page, ""))}, nil)
		if got := s.sent("elicitation/create")[0]; !uuid.MatchString(got) || strings.Count(got, "elicitationId") != 1 {
			t.Errorf("no id in %s", got)
		}
		s.peer.Close(nil)
		s = beginAsking(t, mcp.Version20251125, era.InputRound{Requests: json.RawMessage(fmt.Sprintf(page, `,"elicitationId":"own"`))}, nil)
		if got := s.sent("elicitation/create")[0]; !strings.Contains(got, `"elicitationId":"own"`) || uuid.MatchString(got) {
			t.Errorf("the handler's own id is lost in %s", got)
		}
		s.peer.Close(nil)
	})
}
