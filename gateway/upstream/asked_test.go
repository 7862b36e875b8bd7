package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// asker is a legacy server on a pipe: it answers calls when it is told to, and asks when it is told to.
type asker struct {
	far   transport.Conn
	mu    sync.Mutex
	ids   map[string]json.RawMessage // of the calls it has got, by the name of the tool
	asked int
	told  json.RawMessage        // what the client has declared
	news  int                    // that its roots have changed
	heard map[string]chan string // the answers to what it has asked
}

// askers opens a link to one.
func askers(t *testing.T) (Conn, *asker) { return askersWith(t, OpenOptions{}) }

func askersWith(t *testing.T, about OpenOptions) (Conn, *asker) {
	t.Helper()
	near, far := transport.Pair(0)
	a := newAsker(far)
	l, err := OpenWith(client.Options{Mode: client.Legacy, CallTimeout: -1, TotalTimeout: -1}, about, func(o client.Options) (*client.Client, error) {
		return client.Connect(t.Context(), near, o)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l, a
}

func newAsker(far transport.Conn) *asker {
	a := &asker{far: far, ids: make(map[string]json.RawMessage), heard: make(map[string]chan string)}
	go a.run() // ends with the connection; the bubble waits for it
	return a
}

func (a *asker) write(format string, args ...any) {
	_ = a.far.Write(context.Background(), fmt.Appendf(nil, format, args...)) // a client that has gone needs nothing
}

func (a *asker) run() {
	for {
		frame, err := a.far.Read(context.Background())
		if err != nil {
			return
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				Name         string
				Capabilities json.RawMessage
			}
			Result, Error json.RawMessage
		}
		if json.Unmarshal(frame, &m) != nil {
			continue
		}
		a.mu.Lock()
		switch m.Method {
		case mcp.MethodListTools:
			a.write(`{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"x","inputSchema":{"type":"object"}}]}}`, m.ID)
		case mcp.NotifyRootsChanged:
			a.news++
		case mcp.MethodInitialize:
			a.told = m.Params.Capabilities
			a.write(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"asker","version":"1"}}}`, m.ID)
		case mcp.MethodCallTool:
			a.ids[m.Params.Name] = m.ID
		case "":
			if heard := a.heard[string(m.ID)]; heard != nil {
				heard <- string(m.Result) + string(m.Error)
			}
		}
		a.mu.Unlock()
	}
}

// ask puts a question that says nothing of a call.
func (a *asker) ask() (answer <-chan string) {
	return a.request(mcp.MethodElicit, `{"message":"?","requestedSchema":{"type":"object","properties":{}}}`)
}

func (a *asker) request(method, params string) (answer <-chan string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked++
	id, heard := fmt.Sprintf(`"ask-%d"`, a.asked), make(chan string, 1)
	a.heard[id] = heard
	a.write(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params)
	return heard
}

// got tells whether a call has reached the server.
func (a *asker) got(tool string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.ids[tool] != nil
}

func (a *asker) finish(tool string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.write(`{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}`, a.ids[tool])
}

// begin calls a tool for a client, which answers every question with its name.
func (a *asker) begin(l Conn, who, tool string) (end context.CancelFunc, done <-chan error) {
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan error, 1)
	call := Call{
		Method: mcp.MethodCallTool, Params: fmt.Appendf(nil, `{"name":%q}`, tool), Caller: &Caller{Who: who}, HasRoots: who != "rootless",
		OnRequest: func(context.Context, string, json.RawMessage) (json.RawMessage, error) {
			return fmt.Appendf(nil, `{"by":%q}`, who), nil
		},
	}
	go func() { // ends with the call
		_, err := l.Call(ctx, call)
		over <- err
	}()
	synctest.Wait()
	return cancel, over
}

func by(who string) string { return fmt.Sprintf(`{"by":%q}`, who) }

// TestQuestionOfACallThatWasGivenUp holds that a question which may belong to a call that was given up, by a server that pays
// no heed to cancellations, does not reach the client of another call.
func TestQuestionOfACallThatWasGivenUp(t *testing.T) {
	for _, tc := range []struct {
		name          string
		first, second string
		reaches       bool
	}{
		{"another client", "a", "b", false},
		{"the same client", "a", "a", true},
		{"clients that cannot be told apart", "", "", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, a := askers(t)
				giveUp, done := a.begin(l, tc.first, "one")
				giveUp()
				if err := <-done; !errors.Is(err, context.Canceled) {
					t.Fatal(err)
				}
				_, second := a.begin(l, tc.second, "two")
				if got := <-a.ask(); (got == by(tc.second)) != tc.reaches {
					t.Errorf("the server got %s", got)
				}
				time.Sleep(2 * time.Minute) // it is at work on the first no longer
				if got := <-a.ask(); got != by(tc.second) {
					t.Errorf("after two minutes the server got %s", got)
				}
				a.finish("two")
				if err := <-second; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestTurns holds that from the first question that names no call on, calls go one at a time: those that came side by side
// end first, and the others take their turns in order.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, a := askers(t)
		_, one := a.begin(l, "a", "one")
		_, two := a.begin(l, "b", "two")
		if got := <-a.ask(); got == by("a") || got == by("b") {
			t.Errorf("with two calls under way the server got %s", got)
		}
		_, three := a.begin(l, "c", "three")
		_, four := a.begin(l, "d", "four")
		giveUp, five := a.begin(l, "e", "five")
		for _, step := range []struct {
			name string
			do   func()
			done <-chan error
			has  string // the calls that have reached the server afterwards
		}{
			{"at first", func() {}, nil, "one two"},
			{"one ends", func() { a.finish("one") }, one, "one two"},
			{"two ends", func() { a.finish("two") }, two, "one two three"},
			{"one that waits gives up", giveUp, five, "one two three"},
			{"three ends", func() { a.finish("three") }, three, "one two three four"},
		} {
			step.do()
			synctest.Wait()
			has := ""
			for _, tool := range []string{"one", "two", "three", "four", "five"} {
				if a.got(tool) {
					has += " " + tool
				}
			}
			if has != " "+step.has {
				t.Errorf("%s: the server has%s", step.name, has)
			}
			if step.done != nil {
				if err := <-step.done; (err != nil) != (step.name == "one that waits gives up") {
					t.Errorf("%s: %v", step.name, err)
				}
			}
		}
		if got := <-a.ask(); got != by("d") {
			t.Errorf("the server got %s", got)
		}
		_, six := a.begin(l, "f", "six")
		if err := <-six; !errors.Is(err, mcp.CodeOverloaded) { // after a minute
			t.Errorf("a call that waits in vain: %v", err)
		}
		a.finish("four")
		if err := <-four; err != nil {
			t.Error(err)
		}
		_, seven := a.begin(l, "f", "seven")
		if err := a.far.Close(); err != nil {
			t.Error(err)
		}
		if err := <-seven; err == nil {
			t.Error("a call on a lost connection has an answer")
		}
	})
}

// TestQuestionOutsideOfCalls holds that a server which asks while nothing is under way, or after its answer, is refused in
// words.
func TestQuestionOutsideOfCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, a := askers(t)
		if got := <-a.ask(); got == "" || got[:7] != `{"code"` {
			t.Errorf("before all calls the server got %s", got)
		}
		_, one := a.begin(l, "a", "one")
		a.finish("one")
		answer := a.ask()
		if err := <-one; err != nil {
			t.Error(err)
		}
		if got := <-answer; got == "" {
			t.Error("after its answer the server got nothing")
		}
	})
}
