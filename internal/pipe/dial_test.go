package pipe_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/internal/pipe"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// caller is a client's end that has been dialled, and a server that is played by hand.
type caller struct {
	*world // client is the server's side of the wire here
	link   *pipe.Link
	peer   *engine.Peer
	codec  era.Codec
}

func dial(t testing.TB, revision string, h engine.Handler) *caller {
	t.Helper()
	near, far := transport.Pair(4096)
	w := &world{t: t, client: far, faults: &faults{}}
	w.engine = engine.New(h, engine.Options{OnError: w.faults.add})
	link, peer, err := pipe.Dial(near, w.engine, pipe.Options{OnError: w.faults.add})
	if err != nil {
		t.Fatal(err)
	}
	codec, ok := codecs(t, era.ClientSide).Codec(revision)
	if !ok {
		t.Fatalf("no codec for %s", revision)
	}
	c := &caller{world: w, link: link, peer: peer.(*engine.Peer), codec: codec}
	c.peer.SetCodec(codec)
	t.Cleanup(func() { link.Close() })
	return c
}

// answer is what became of a call.
type answer struct {
	result string
	err    error
	after  time.Duration
}

// call calls a tool in the background.
func (c *caller) call(ctx context.Context, id jsonrpc.ID, o engine.CallOptions) <-chan answer {
	return c.request(ctx, &era.Outgoing{ID: id, Method: mcp.MethodCallTool, Params: json.RawMessage(`{"name":"x"}`)}, o)
}

func (c *caller) request(ctx context.Context, out *era.Outgoing, o engine.CallOptions) <-chan answer {
	done := make(chan answer, 1)
	began := time.Now()
	go func() {
		outcome, err := c.peer.Call(ctx, c.link, out, o)
		a := answer{err: err, after: time.Since(began)}
		switch {
		case err != nil:
		case outcome.Err != nil:
			a.err = outcome.Err
		default:
			a.result = string(outcome.Result)
		}
		done <- a
	}()
	synctest.Wait()
	return done
}

func (c *caller) wantCancelled(id string) {
	c.t.Helper()
	got := c.next()
	if !strings.Contains(got, `"method":"notifications/cancelled"`) || !strings.Contains(got, `"requestId":`+id+`,`) {
		c.t.Errorf("got %s, want a cancellation of %s", got, id)
	}
}

const legacyRev, modernRev = "2025-06-18", "2026-07-28"

// eras runs a test on a client of each era.
func eras(t *testing.T, h *handler, test func(t *testing.T, c *caller)) {
	for _, revision := range []string{legacyRev, modernRev} {
		t.Run(revision, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, dial(t, revision, h)) })
		})
	}
}

func toolResult(id, text string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[],"x":"` + text + `","resultType":"complete"}}`
}

func (a answer) is(text string) bool {
	return a.err == nil && strings.Contains(a.result, `"x":"`+text+`"`)
}

func TestAnswersAreMatchedByToken(t *testing.T) {
	eras(t, &handler{}, func(t *testing.T, c *caller) {
		number := c.call(t.Context(), jsonrpc.IntID(1), engine.CallOptions{})
		text := c.call(t.Context(), jsonrpc.StringID("1"), engine.CallOptions{})
		c.next()
		c.next()
		c.send(toolResult("1.0", "wrong"), toolResult(`"1"`, "text"), toolResult("2", "stray"), toolResult("1", "number"), toolResult("1", "twice"))
		if a := <-number; !a.is("number") {
			t.Errorf("1 got %+v", a)
		}
		if a := <-text; !a.is("text") {
			t.Errorf(`"1" got %+v`, a)
		}
		synctest.Wait()
		if all := c.faults.list(); len(all) != 3 { // 1.0, 2 and the second answer
			t.Errorf("faults: %q", all)
		}
	})
}

func TestOwnIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, legacyRev, &handler{})
		c.call(t.Context(), jsonrpc.ID{}, engine.CallOptions{})
		c.call(t.Context(), jsonrpc.ID{}, engine.CallOptions{})
		c.want(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x"}}`)
		if a := <-c.call(t.Context(), jsonrpc.IntID(2), engine.CallOptions{}); a.err == nil || !strings.Contains(a.err.Error(), "in use") {
			t.Errorf("a second call under the id 2 got %+v", a)
		}
	})
}

func TestTimeout(t *testing.T) {
	eras(t, &handler{}, func(t *testing.T, c *caller) {
		began := time.Now()
		done := c.call(t.Context(), jsonrpc.IntID(5), engine.CallOptions{Timeout: time.Second})
		c.next()
		a := <-done
		if took := time.Since(began); !errors.Is(a.err, mcp.CodeRequestTimeout) || took != time.Second {
			t.Errorf("got %v after %s", a.err, took)
		}
		c.wantCancelled("5")
		c.send(toolResult("5", "late"))
		synctest.Wait()
		if all := c.faults.list(); len(all) > 0 {
			t.Errorf("a late answer is no fault: %q", all)
		}
	})
}

func progress(token string, n int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d}}`, token, n)
}

func TestProgressResetsTheTimeout(t *testing.T) {
	eras(t, &handler{}, func(t *testing.T, c *caller) {
		done := c.call(t.Context(), jsonrpc.IntID(1), engine.CallOptions{Timeout: time.Second, ResetOnProgress: true, Total: 3500 * time.Millisecond})
		if got := c.next(); !strings.Contains(got, `"progressToken":1`) {
			t.Errorf("no progress is asked for: %s", got)
		}
		for i := range 6 {
			time.Sleep(600 * time.Millisecond)
			c.send(progress(`"1"`, i), progress("1", i)) // the first is of another token
		}
		a := <-done
		if !errors.Is(a.err, mcp.CodeRequestTimeout) || a.after != 3500*time.Millisecond {
			t.Errorf("got %v after %s", a.err, a.after)
		}
	})
}

func TestTotalAgainstASilentPeer(t *testing.T) {
	eras(t, &handler{}, func(t *testing.T, c *caller) {
		for _, o := range []engine.CallOptions{
			{Total: time.Second}, {Total: time.Second, Timeout: time.Minute}, {Total: time.Second, Timeout: time.Minute, ResetOnProgress: true},
			{Total: time.Minute, Timeout: time.Second},
		} {
			began := time.Now()
			a := <-c.call(t.Context(), jsonrpc.ID{}, o)
			if took := time.Since(began); !errors.Is(a.err, mcp.CodeRequestTimeout) || took != time.Second {
				t.Errorf("%+v: got %v after %s", o, a.err, took)
			}
		}
	})
}

func TestProgressComesBeforeTheAnswer(t *testing.T) {
	eras(t, &handler{}, func(t *testing.T, c *caller) {
		var got []string
		done := c.call(t.Context(), jsonrpc.StringID("a"), engine.CallOptions{OnProgress: func(params json.RawMessage) {
			time.Sleep(time.Millisecond)
			got = append(got, string(params))
		}})
		c.next()
		var want []string
		for i := range 20 {
			c.send(progress(`"a"`, i))
			want = append(want, fmt.Sprint(i))
		}
		c.send(toolResult(`"a"`, "end"))
		if a := <-done; !a.is("end") {
			t.Errorf("got %+v", a)
		}
		for i := range got {
			got[i] = strings.Trim(got[i][strings.LastIndex(got[i], ":")+1:], "}")
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %q", got)
		}
		c.send(progress(`"a"`, 99))
		synctest.Wait()
		if all := c.faults.list(); len(all) != 1 || !strings.Contains(all[0], "unknown token") {
			t.Errorf("faults: %q", all)
		}
	})
}

func TestCancelledByTheCaller(t *testing.T) {
	eras(t, &handler{}, func(t *testing.T, c *caller) {
		ctx, cancel := context.WithCancelCause(t.Context())
		done := c.call(ctx, jsonrpc.IntID(5), engine.CallOptions{})
		c.next()
		secret := errors.New("path /etc/secret")
		cancel(secret)
		if a := <-done; !errors.Is(a.err, secret) {
			t.Errorf("got %v", a.err)
		}
		got := c.next()
		if !strings.Contains(got, `"requestId":5,`) || strings.Contains(got, "secret") {
			t.Errorf("got %s", got)
		}
		if modern := c.codec.Traits().PerRequestLevel; strings.Contains(got, "protocolVersion") && !modern {
			t.Errorf("an envelope on the legacy era: %s", got)
		}
		if a := <-c.call(ctx, jsonrpc.IntID(6), engine.CallOptions{}); !errors.Is(a.err, secret) {
			t.Errorf("a call under a context that is over got %v", a.err)
		}
		c.quiet() // it was never sent
	})
}

func TestInitializeIsNeverCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, legacyRev, &handler{})
		out := &era.Outgoing{Method: mcp.MethodInitialize, Params: json.RawMessage(`{}`)}
		a := <-c.request(t.Context(), out, engine.CallOptions{Opening: true, Timeout: time.Second})
		if !errors.Is(a.err, mcp.CodeRequestTimeout) {
			t.Errorf("got %v", a.err)
		}
		c.next()
		c.quiet()
	})
}

func TestNotificationsAreHandledBeforeTheAnswerBehindThem(t *testing.T) {
	var c *caller
	var mu sync.Mutex
	var log []string
	note := func(s string) { mu.Lock(); defer mu.Unlock(); log = append(log, s) }
	h := &handler{notice: func(ctx context.Context, n *era.Notice) {
		time.Sleep(10 * time.Millisecond)
		if strings.Contains(string(n.Params), "call") { // a handler may call back
			_, err := c.peer.Call(ctx, c.link, &era.Outgoing{ID: jsonrpc.StringID("back"), Method: mcp.MethodListTools}, engine.CallOptions{})
			note(fmt.Sprint("called back: ", err))
			return
		}
		note("handled")
	}}
	message := func(data string) string {
		return `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"` + data + `"}}`
	}
	for _, revision := range []string{legacyRev, modernRev} {
		synctest.Test(t, func(t *testing.T) {
			log = nil
			c = dial(t, revision, h)
			done := c.call(t.Context(), jsonrpc.IntID(1), engine.CallOptions{})
			c.next()
			c.send(message("a"), message("b"), message("call"), toolResult("1", "end"), message("after"))
			time.Sleep(50 * time.Millisecond)
			if got := c.next(); !strings.Contains(got, `"id":"back"`) {
				t.Errorf("got %s", got)
			}
			c.send(`{"jsonrpc":"2.0","id":"back","result":{"tools":[],"resultType":"complete","ttlMs":0,"cacheScope":"private"}}`)
			began := time.Now()
			if a := <-done; !a.is("end") {
				t.Errorf("got %+v", a)
			}
			if took := time.Since(began); took > time.Second {
				t.Errorf("the answer was held back for %s", took)
			}
			mu.Lock()
			got := strings.Join(log, "; ")
			mu.Unlock()
			if want := "handled; handled; called back: <nil>"; !strings.HasPrefix(got, want) {
				t.Errorf("got %s; want %s", got, want)
			}
		})
	}
}

func TestAHandlerThatHangsHoldsAnAnswerBackOnlyForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck := make(chan struct{})
		c := dial(t, legacyRev, &handler{notice: func(context.Context, *era.Notice) { <-stuck }})
		done := c.call(t.Context(), jsonrpc.IntID(1), engine.CallOptions{})
		c.send(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`, toolResult("1", "end"))
		began := time.Now()
		if a := <-done; !a.is("end") {
			t.Errorf("got %+v", a)
		}
		if took := time.Since(began); took != time.Second {
			t.Errorf("held back for %s", took)
		}
		close(stuck)
	})
}

func TestErrorsWithoutID(t *testing.T) {
	eras(t, &handler{}, func(t *testing.T, c *caller) {
		done := c.call(t.Context(), jsonrpc.IntID(1), engine.CallOptions{})
		c.send(`{"jsonrpc":"2.0","error":{"code":-32700,"message":"what?"}}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"eh?"}}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}`)
		if a := <-done; a.err == nil || !strings.Contains(a.err.Error(), "no") {
			t.Errorf("got %+v", a)
		}
		if all := strings.Join(c.faults.list(), "; "); !strings.Contains(all, "error -32700 without naming a request: what?") || !strings.Contains(all, "eh?") {
			t.Errorf("faults: %s", all)
		}
	})
}

func TestCloseSettlesEveryCall(t *testing.T) {
	why := errors.New("exit status 3")
	ends := map[string]struct {
		end  func(c *caller)
		want error
	}{
		"the server closes": {func(c *caller) { c.client.Close() }, transport.ErrClosed},
		"the link closes":   {func(c *caller) { c.link.Close() }, transport.ErrClosed},
		"the peer closes":   {func(c *caller) { c.peer.Close(why) }, why},
		"100 at once": {func(c *caller) {
			var wg sync.WaitGroup
			for range 100 {
				wg.Go(func() { c.link.Close(); c.peer.Close(nil) })
			}
			wg.Wait()
		}, transport.ErrClosed},
	}
	for name, e := range ends {
		t.Run(name, func(t *testing.T) {
			eras(t, &handler{call: untilCancelled}, func(t *testing.T, c *caller) {
				var all []<-chan answer
				for range 5 {
					all = append(all, c.call(t.Context(), jsonrpc.ID{}, engine.CallOptions{Timeout: time.Minute}))
				}
				if c.codec.Traits().ServerMayCall { // a handler that runs on this side is cancelled
					c.send(`{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{}}`)
					synctest.Wait()
				}
				began := time.Now()
				e.end(c)
				for _, done := range all {
					if a := <-done; !errors.Is(a.err, e.want) {
						t.Errorf("got %v, want %v", a.err, e.want)
					}
				}
				if took := time.Since(began); took > 100*time.Millisecond {
					t.Errorf("it took %s", took)
				}
				if a := <-c.call(t.Context(), jsonrpc.ID{}, engine.CallOptions{}); !errors.Is(a.err, e.want) {
					t.Errorf("a call after the end got %v", a.err)
				}
				if !c.peer.Idle() {
					t.Error("the peer is not idle")
				}
			})
		})
	}
}

func TestCloseFromInsideANotificationHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c *caller
		returned := make(chan time.Duration, 1)
		c = dial(t, legacyRev, &handler{notice: func(context.Context, *era.Notice) {
			began := time.Now()
			c.link.Close()
			returned <- time.Since(began)
		}})
		c.send(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		if took := <-returned; took > 5*time.Second {
			t.Errorf("Close took %s", took)
		}
	})
}

func TestWhatIsNoMessageIsSkipped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, legacyRev, &handler{})
		done := c.call(t.Context(), jsonrpc.IntID(1), engine.CallOptions{})
		c.next()
		c.send("starting server...", `[]`, `{"jsonrpc":"2.0","id":1}`, "["+toolResult("1", "in an array")+"]")
		if a := <-done; !a.is("in an array") {
			t.Errorf("got %+v", a)
		}
		if all := c.faults.list(); len(all) != 3 {
			t.Errorf("faults: %q", all)
		}
		c.quiet() // none of it is answered
	})
}
