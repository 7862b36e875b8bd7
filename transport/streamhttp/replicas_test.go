package streamhttp

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// TestTwoHandlers uses one session on two handlers that share a store, a log and a bus, and nothing else.
func TestTwoHandlers(t *testing.T) {
	for name, opts := range carriers {
		t.Run(name, func(t *testing.T) {
			h, a, b, session := two(t, opts)

			get := a.connect(t, "GET", "", session)
			get.expect("prime")

			call := b.connect(t, "POST", legacyCall("ask"), session)
			call.expect("prime")
			question := call.next()
			if !strings.Contains(question, `"method":"ping"`) {
				t.Fatalf("the question: %s", question)
			}
			if r := a.ask(t, "POST", fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, idOf(t, question)), session); r.status != 202 {
				t.Fatalf("the answer: %d %s", r.status, r.body)
			}
			if got := call.next(); !strings.Contains(got, "asked: true <nil>") {
				t.Fatalf("the call: %s", got)
			}

			// The change is made on B. That A hears of it is the business of its server; see package server.
			for _, one := range []*world{a, b} {
				one.engine.Announce(engine.ToolsChanged, "")
			}
			get.expect("tools/list_changed")

			call = b.stepping(t, session)
			call.cut()
			b.step(2)
			again := a.connect(t, "GET", "", session, after(call.last))
			again.expect(progress2)
			b.step(3)
			again.expect(progress3)
			again.cut()
			back := b.connect(t, "GET", "", session, after(again.last)) // where the call runs
			b.step(1)
			back.expect(progress1)
			third := a.connect(t, "GET", "", session, after(back.last))
			b.step(0)
			third.expect(hello, "end")
			back.expect("end")
			if r := a.ask(t, "GET", "", session, after(third.last)); r.status != 400 || !strings.Contains(r.body, "is over") {
				t.Errorf("after the end: %d %s", r.status, r.body)
			}

			b.dial(t, "POST", legacyCall("wait"), session)
			<-b.desk.waiting
			if r := a.ask(t, "DELETE", "", session); r.status != 200 {
				t.Errorf("DELETE: %d %s", r.status, r.body)
			}
			if err := <-b.desk.ended; err == nil {
				t.Error("the call goes on")
			}
			get.expect("end")
			for _, one := range []*world{a, b} {
				for _, method := range []string{"POST", "GET", "DELETE"} {
					if r := one.ask(t, method, legacyList, session); r.status != 404 {
						t.Errorf("%s after the end: %d %s", method, r.status, r.body)
					}
				}
			}
			eventually(t, "nothing is left", func() bool {
				return a.handler.Sessions()+b.handler.Sessions()+h.sessions.Len()+h.log.Len() == 0 && len(b.engine.Peers())+len(a.engine.Peers()) == 0
			})
		})
	}
}

// What a session has said on one handler holds on the other: the handshake, and what it cancels.
func TestSessionStateElsewhere(t *testing.T) {
	h, a, b, session := two(t, Options{})
	if r := b.ask(t, "POST", legacyList, session); r.status != 200 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	theirs := func() *engine.Peer { return b.engine.Peers()[0] }
	if p := theirs(); !p.Ready() || !strings.Contains(string(p.Envelope().ClientInfo), `"c"`) || p.SessionID != session[1] {
		t.Errorf("ready %v, %s", p.Ready(), p.Envelope().ClientInfo)
	}
	mine := a.engine.Peers()[0]
	if err := mine.SetLevel(t.Context(), mcp.LevelError); err != nil {
		t.Fatal(err)
	}
	if _, err := mine.Subscribe(t.Context(), "book:1"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the level is known on the other replica, which is told", func() bool {
		level, ok := theirs().Level()
		return ok && level == mcp.LevelError
	})
	h.fail(nil, nil, true) // what is said now gets lost: the next request looks for itself
	if err := mine.SetLevel(t.Context(), mcp.LevelDebug); err != nil {
		t.Fatal(err)
	}
	b.ask(t, "POST", legacyList, session)
	if level, _ := theirs().Level(); level != mcp.LevelDebug {
		t.Errorf("level %s", level)
	}
	h.fail(nil, nil, false)
	b.dial(t, "POST", legacyCall("wait"), session)
	<-b.desk.waiting
	if r := a.ask(t, "POST", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`, session); r.status != 202 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	if err := <-b.desk.ended; !errors.Is(err, engine.ErrCancelled) {
		t.Errorf("the call ended by %v", err)
	}
}

// The stream opened last gets what belongs to no call, wherever it is; when it ends another takes its place.
func TestStreamsOfTwoHandlers(t *testing.T) {
	h, a, b, session := two(t, Options{})
	announce := func(method string) { // each hears of a change
		a.engine.Hear(method, "")
		b.engine.Hear(method, "")
	}
	one := func(holds, not *world) { // for a moment it may be both, rather than none
		t.Helper()
		eventually(t, "one replica knows that it speaks to the session, and the other that it does not", func() bool {
			s, other := holds.handler.sessions.Get(session[1]), not.handler.sessions.Get(session[1])
			return s.shared.Holds() && (other == nil || !other.shared.Holds())
		})
	}
	const tools, prompts = mcp.NotifyToolsChanged, mcp.NotifyPromptsChanged
	older := a.connect(t, "GET", "", session)
	older.expect("prime")
	newer := b.connect(t, "GET", "", session)
	newer.expect("prime")
	one(b, a)
	announce(tools)
	newer.expect("tools/list_changed")
	newer.cut()
	one(a, b)
	announce(prompts)
	older.expect("prompts/list_changed")
	older.cut()
	eventually(t, "no stream is open", func() bool { return a.handler.Streams()+b.handler.Streams() == 0 })
	announce(tools) // for the client that was there last
	eventually(t, "it is stored", func() bool {
		_, later, err := h.log.Replay(t.Context(), session[1], older.last)
		if err != nil {
			t.Fatal(err)
		}
		for range later {
			return true
		}
		return false
	})
	back := b.connect(t, "GET", "", session, after(older.last))
	back.expect("tools/list_changed")
	one(b, a)
	announce(prompts)
	back.expect("prompts/list_changed")
	both := a.connect(t, "GET", "", session, after(older.last)) // while the other still looks alive
	both.expect("tools/list_changed", "prompts/list_changed")
	back.expect("end")
	one(a, b)
	announce(tools)
	both.expect("tools/list_changed")
}

// TestForeignPrincipalElsewhere: the session of somebody else is none, on every replica, and none is taken up for it.
func TestForeignPrincipalElsewhere(t *testing.T) {
	_, a, b, session := two(t, Options{Principal: func(r *http.Request) *mcp.Principal {
		return &mcp.Principal{Subject: r.Header.Get("X-User")}
	}})
	for _, one := range []*world{a, b} {
		for _, method := range []string{"POST", "GET", "DELETE"} {
			if r := one.ask(t, method, legacyList, session, [2]string{"X-User", "eve"}); r.status != 404 {
				t.Errorf("%s: %d", method, r.status)
			}
		}
	}
	if n := b.handler.Sessions(); n != 0 {
		t.Errorf("%d sessions", n)
	}
	if r := b.ask(t, "POST", legacyList, session); r.status != 200 {
		t.Errorf("its owner: %d", r.status)
	}
}

// TestTwoDeletes: of two at once one ends the session and the other finds none.
func TestTwoDeletes(t *testing.T) {
	_, a, b, session := two(t, Options{})
	got := make(chan int, 2)
	for _, one := range []*world{a, b} {
		go func() { got <- one.ask(t, "DELETE", "", session).status }()
	}
	if first, second := <-got, <-got; first+second != 200+404 {
		t.Errorf("%d and %d", first, second)
	}
}

// TestRecordChangesMeanwhile: two handlers that change one record at once lose nothing.
func TestRecordChangesMeanwhile(t *testing.T) {
	h, a, b, session := two(t, Options{})
	if r := b.ask(t, "POST", legacyList, session); r.status != 200 {
		t.Fatal(r.status)
	}
	var wg sync.WaitGroup
	for _, one := range []*world{a, b} {
		for i := range 10 {
			wg.Go(func() {
				if place, err := one.engine.Peers()[0].Subscribe(t.Context(), fmt.Sprint(one.addr, i)); !place || err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	rec, err := h.sessions.Get(t.Context(), session[1])
	if err != nil || len(rec.Subscriptions) != 20 {
		t.Errorf("%d subscriptions, %v", len(rec.Subscriptions), err)
	}
}

// Word that is no word of ours is passed over.
func TestWordOfOthers(t *testing.T) {
	h, a, b, session := two(t, Options{})
	b.ask(t, "POST", legacyList, session)
	for _, topic := range []string{"rialto/sessions", b.handler.shared.toOne(b.handler.shared.name)} {
		for _, data := range []string{
			"", "\n", "end", "end\nx", "end\nx\n", "end\nx\n" + session[1], "other\nx\n" + session[1] + "\n", "cancel\nx\n" + session[1] + "\n{",
			"taken\nx\n" + session[1] + "\nname", "over\nx\n" + session[1] + "\nname\nwho", "left\nx\n" + session[1] + "\nname",
			"answer/x\ntake", "answer/x\ntake\n" + session[1] + "\n{", "answer/x\nyield\n" + session[1] + "\nname\nwho", "answer/x\nopen\nnone\n",
		} {
			if _, err := h.bus.Publish(t.Context(), topic, []byte(data)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, one := range []*world{a, b} {
		if r := one.ask(t, "POST", legacyList, session); r.status != 200 {
			t.Errorf("%d %s", r.status, r.body)
		}
	}
}

func TestAskedBy(t *testing.T) {
	r := &replicas{name: "ABCDEFGHIJKLMN27"}
	id := jsonrpc.StringID(r.idPrefix() + "1")
	if name, ok := askedBy(id.Raw()); !ok || name != r.name {
		t.Errorf("%s: %q %v", id, name, ok)
	}
	for _, other := range []string{``, `1`, `"s"`, `"sABCDEFGHIJKLMN27"`, `"xABCDEFGHIJKLMN27.1-1"`, `"sABCDEFGHIJKLMN2/.1-1"`, `"sabcdefghijklmnop.1-1"`} {
		if name, ok := askedBy([]byte(other)); ok {
			t.Errorf("%s: %q", other, name)
		}
	}
}
