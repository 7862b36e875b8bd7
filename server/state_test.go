package server_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

const (
	keptState = "what the handler keeps"
	noState   = `error -32602 {"reason":"invalid_request_state"}`
	adaAnswer = `,"inputResponses":{"who":{"action":"accept","content":{"name":"Ada"}}}`
)

// keeping is a server whose tools ask for a name with a state, and count the runs that follow.
func keeping(t testing.TB, opts server.Options) (*server.Server, *atomic.Int64) {
	t.Helper()
	s, runs := newServer(opts), new(atomic.Int64)
	for _, name := range []string{"x", "y"} {
		rawTool(t, s, name, func(_ context.Context, r *server.Request) (*mcp.CallToolResult, error) {
			answer, _ := r.InputResponses().Elicit("who")
			if r.Run() == 1 {
				return nil, askName("who").WithState(keptState)
			}
			runs.Add(1)
			if answer == nil {
				return mcp.TextResult(fmt.Sprintf("run %d, %s, no answer", r.Run(), r.State())), nil
			}
			return mcp.TextResult(fmt.Sprintf("run %d, %s, %s", r.Run(), r.State(), answer.Content)), nil
		})
	}
	return s, runs
}

const withForms = `{"elicitation":{}}`

// tokenFor asks once and returns the raw state of the round.
func tokenFor(t testing.TB, w *wire, members string) string {
	t.Helper()
	m := w.call("tools/call", members)
	token := member(t, m.Result, "requestState")
	if token == "" {
		t.Fatalf("no state in %s", m.Frame())
	}
	return token
}

func saying(text string) string {
	return `{"content":[{"type":"text","text":` + string(jsonrpc.AppendString(nil, text)) + `}]}`
}

// The state cannot be read, and comes back for the same call alone.
func TestStateIsBound(t *testing.T) {
	s, runs := keeping(t, server.Options{})
	w := dialWith(t, s, modern, withForms)
	const call = `"name":"x","arguments":{"a":1,"b":"\u00e9"}`
	token := tokenFor(t, w, call)
	if strings.Contains(token, "kept") || strings.Contains(token, "Who?") {
		t.Errorf("the state shows what it holds: %s", token)
	}
	state := `,"requestState":` + token
	good := saying("run 2, " + keptState + `, {"name":"Ada"}`)
	for _, same := range []string{call, `"arguments":{"b":"é","a":1.0},"name":"x"`, `"name":"\u0078","arguments":{"a":1e0,"b":"\u00E9"}`} {
		w.want("tools/call", same+adaAnswer+state, good)
	}
	w.want("tools/call", call+state, saying("run 2, "+keptState+", no answer"))
	runs.Store(0)
	other, _ := keeping(t, server.Options{})
	for name, members := range map[string]string{
		"another tool":      `"name":"y","arguments":{"a":1,"b":"é"}`,
		"other arguments":   `"name":"x","arguments":{"a":2,"b":"é"}`,
		"more arguments":    `"name":"x","arguments":{"a":1,"b":"é","c":null}`,
		"no arguments":      `"name":"x"`,
		"another type":      `"name":"x","arguments":{"a":"1","b":"é"}`,
		"arguments too odd": `"name":"x","arguments":{"a":1e9999999999999999999,"b":"é"}`,
	} {
		if got := plain(w.call("tools/call", members+adaAnswer+state)); got != noState {
			t.Errorf("%s: %s", name, got)
		}
	}
	dialWith(t, other, modern, withForms).want("tools/call", call+adaAnswer+state, noState) // another key
	if runs.Load() != 0 {
		t.Errorf("a handler ran %d times with a state that is not its own", runs.Load())
	}
}

// Whatever byte of a state is changed, and wherever it is cut, it is refused in the same words.
func TestStateIsSealed(t *testing.T) {
	s, runs := keeping(t, server.Options{})
	w := dialWith(t, s, modern, withForms)
	token, _ := jsonrpc.Text([]byte(tokenFor(t, w, `"name":"x"`)))
	refused := func(what, altered string) {
		t.Helper()
		m := w.call("tools/call", `"name":"x"`+adaAnswer+`,"requestState":`+string(jsonrpc.AppendString(nil, altered)))
		if plain(m) != noState || m.Error.Message != "Invalid or expired requestState" {
			t.Errorf("%s: %s", what, m.Frame())
		}
	}
	for i := range len(token) {
		changed := []byte(token)
		if changed[i] == 'A' {
			changed[i] = 'B'
		} else {
			changed[i] = 'A'
		}
		refused(fmt.Sprintf("byte %d", i), string(changed))
		refused(fmt.Sprintf("the first %d bytes", i), token[:i])
	}
	refused("a longer one", token+"A")
	refused("another one", "made up")
	if runs.Load() != 0 {
		t.Errorf("a handler ran %d times", runs.Load())
	}
	w.want("tools/call", `"name":"x"`+adaAnswer+`,"requestState":"`+token+`"`, saying("run 2, "+keptState+`, {"name":"Ada"}`))
}

// A state ends with its life. The log says why one was refused, and the client does not learn it.
func TestStateExpires(t *testing.T) {
	for _, tc := range []struct{ option, life time.Duration }{{0, 10 * time.Minute}, {time.Minute, time.Minute}} {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			s, _ := keeping(t, server.Options{StateLife: tc.option, Logger: slog.New(slog.NewTextHandler(&log, nil))})
			w := dialWith(t, s, modern, withForms)
			retry := `"name":"x"` + adaAnswer + `,"requestState":` + tokenFor(t, w, `"name":"x"`)
			time.Sleep(tc.life - time.Millisecond)
			w.want("tools/call", retry, saying("run 2, "+keptState+`, {"name":"Ada"}`))
			time.Sleep(2 * time.Millisecond)
			w.want("tools/call", retry, noState)
			if !strings.Contains(log.String(), "reason=expired") || strings.Contains(log.String(), "Ada") {
				t.Errorf("the log says %q", log.String())
			}
			w.Close()
		})
	}
}

// The newest key seals and all of them open, on whatever replica.
func TestStateKeys(t *testing.T) {
	old, fresh := bytes.Repeat([]byte("old key "), 4), bytes.Repeat([]byte("new key "), 4)
	replica := func(keys ...[]byte) *wire {
		s, _ := keeping(t, server.Options{StateKeys: keys})
		return dialWith(t, s, modern, withForms)
	}
	byOld := `"name":"x"` + adaAnswer + `,"requestState":` + tokenFor(t, replica(old), `"name":"x"`)
	byFresh := `"name":"x"` + adaAnswer + `,"requestState":` + tokenFor(t, replica(fresh, old), `"name":"x"`)
	good := saying("run 2, " + keptState + `, {"name":"Ada"}`)
	replica(old).want("tools/call", byOld, good)
	replica(fresh, old).want("tools/call", byOld, good)
	replica(fresh).want("tools/call", byOld, noState)
	replica(fresh).want("tools/call", byFresh, good)
	replica(old).want("tools/call", byFresh, noState)

	defer func() {
		if recover() == nil {
			t.Error("a key of three bytes was taken")
		}
	}()
	newServer(server.Options{StateKeys: [][]byte{[]byte("key")}})
}

// A state is for the one who was asked.
func TestStateOfAnotherPrincipal(t *testing.T) {
	s, _ := keeping(t, server.Options{HTTP: server.HTTPOptions{Principal: func(r *http.Request) *mcp.Principal {
		if who := r.Header.Get("X-Who"); who != "" {
			return &mcp.Principal{Subject: who}
		}
		return nil
	}}})
	url := serve(t, s.Handler())
	call := func(who, members string) string {
		headers := map[string]string{}
		if who != "" {
			headers["X-Who"] = who
		}
		body := fmt.Sprintf(`"name":"x",%s"_meta":{%q:%q,%q:%s}`, members, mcp.MetaProtocolVersion, modern, mcp.MetaClientCapabilities, withForms)
		_, answer := postRaw(t, url, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{`+body+`}}`, http.Header{
			"Mcp-Protocol-Version": {modern}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {"x"}, "X-Who": {headers["X-Who"]},
		})
		return answer
	}
	frame := call("ann", "")
	result, _ := jsonrpc.Member([]byte(frame), "result")
	retry := strings.TrimPrefix(adaAnswer, ",") + `,"requestState":` + member(t, result, "requestState") + `,`
	for who, fine := range map[string]bool{"ann": true, "bob": false, "": false} {
		if got := call(who, retry); strings.Contains(got, "Ada") != fine || strings.Contains(got, "invalid_request_state") == fine {
			t.Errorf("%q: %s", who, got)
		}
	}
}

// Answers are checked against what was asked, in the handler's place: it sees what fits and nothing else.
func TestAnswersAreChecked(t *testing.T) {
	s := newServer(server.Options{})
	rawTool(t, s, "x", func(_ context.Context, r *server.Request) (*mcp.CallToolResult, error) {
		if r.Run() == 1 {
			return nil, askModel(askName("f"), "m").ListRoots("r").ElicitURL("u", mcp.ElicitURLParams{Message: "m", URL: "https://example.com"})
		}
		return mcp.TextResult(fmt.Sprint(r.InputResponses().Keys())), nil
	})
	w := dialWith(t, s, modern, `{"elicitation":{"form":{},"url":{}},"roots":{},"sampling":{}}`)
	token := tokenFor(t, w, `"name":"x"`)
	for answers, want := range map[string]string{
		`{}`: "[]",
		`{"f":{"action":"accept","content":{"name":"A"}},"extra":{}}`:                  "[f]",
		`{"f":{"action":"accept","content":{"name":""}}}`:                              "[]",
		`{"f":{"action":"accept","content":{"name":7}}}`:                               "[]",
		`{"f":{"action":"accept","content":{}}}`:                                       "[]",
		`{"f":{"action":"accept","content":null}}`:                                     "[]",
		`{"f":{"action":"accept"}}`:                                                    "[]",
		`{"f":{"action":"maybe"}}`:                                                     "[]",
		`{"f":{"content":{"name":"A"}}}`:                                               "[]",
		`{"f":12345}`:                                                                  "[]",
		`{"f":null}`:                                                                   "[]",
		`{"f":{"action":"decline","content":{"name":7}}}`:                              "[f]",
		`{"f":{"action":"cancel"}}`:                                                    "[f]",
		`{"f":{"method":"elicitation/create","action":"cancel"}}`:                      "[]",
		`{"f":{"result":{"action":"cancel"}}}`:                                         "[]",
		`{"u":{"action":"accept"}}`:                                                    "[u]",
		`{"u":{"roots":[]}}`:                                                           "[]",
		`{"r":{"roots":[]}}`:                                                           "[r]",
		`{"r":{"roots":[{"uri":"file:///a"}]}}`:                                        "[r]",
		`{"r":{"roots":[{"name":"a"}]}}`:                                               "[]",
		`{"r":{"roots":{}}}`:                                                           "[]",
		`{"m":{"role":"assistant","content":{"type":"text","text":""},"model":"m"}}`:   "[m]",
		`{"m":{"role":"assistant","content":[{"type":"text","text":""}],"model":"m"}}`: "[m]",
		`{"m":{"role":"assistant","content":"Paris"}}`:                                 "[]",
		`{"m":{"content":{"type":"text","text":""}}}`:                                  "[]",
		`{"\u0066":{"action":"cancel"},"m":{"action":"accept"},"r":{"roots":[]}}`:      "[f r]",
	} {
		w.want("tools/call", `"name":"x","inputResponses":`+answers+`,"requestState":`+token, saying(want))
	}
}

// A state of the first round is of no use for the question of the second.
func TestStateOfAnotherRound(t *testing.T) {
	s := newServer(server.Options{})
	rawTool(t, s, "x", func(_ context.Context, r *server.Request) (*mcp.CallToolResult, error) {
		if r.Run() < 3 {
			return nil, askName(fmt.Sprint("q", r.Run()))
		}
		return mcp.TextResult(fmt.Sprint(r.InputResponses().Keys())), nil
	})
	w := dialWith(t, s, modern, withForms)
	const answers = `"name":"x","inputResponses":{"q2":{"action":"cancel"}},"requestState":`
	first := tokenFor(t, w, `"name":"x"`)
	second := tokenFor(t, w, `"name":"x","requestState":`+first)
	if m := w.call("tools/call", answers+first); !strings.Contains(string(m.Result), `"q2"`) {
		t.Errorf("the second question was not asked again: %s", m.Frame())
	}
	w.want("tools/call", answers+second, saying("[q2]"))
}

// What is too large to travel is not asked, or waits in the store.
func TestLargeStates(t *testing.T) {
	large := func(opts server.Options, size int) *wire {
		s := newServer(opts)
		rawTool(t, s, "x", func(_ context.Context, r *server.Request) (*mcp.CallToolResult, error) {
			if r.Run() == 1 {
				return nil, askName("who").WithState(strings.Repeat("s", size))
			}
			return mcp.TextResult(fmt.Sprint(len(r.State()))), nil
		})
		return dialWith(t, s, modern, withForms)
	}
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	large(server.Options{Logger: logger}, 48<<10).want("tools/call", `"name":"x"`, "error -32603")
	if !strings.Contains(log.String(), "at most 49152 may travel") {
		t.Errorf("the log says %q", log.String())
	}
	large(server.Options{MaxStateBytes: 1000}, 900).want("tools/call", `"name":"x"`, "error -32603")
	for name, opts := range map[string]server.Options{
		"what fits": {}, "a larger limit": {MaxStateBytes: 1 << 20}, "no limit": {MaxStateBytes: -1}, "a store": {StateStore: server.MemoryStates(0, 0)},
	} {
		size := 100_000
		if name == "what fits" {
			size = 30_000
		}
		w := large(opts, size)
		token := tokenFor(t, w, `"name":"x"`)
		if opts.StateStore != nil && len(token) > 1000 {
			t.Errorf("a reference of %d bytes", len(token))
		}
		w.want("tools/call", `"name":"x","requestState":`+token, saying(fmt.Sprint(size)))
	}
	// On the legacy era it is refused before anybody is asked, too.
	s := newServer(server.Options{MaxStateBytes: 1000})
	rawTool(t, s, "x", func(context.Context, *server.Request) (*mcp.CallToolResult, error) {
		return nil, askName("who").WithState(strings.Repeat("s", 900))
	})
	dialWith(t, s, legacy, withForms).want("tools/call", `"name":"x"`, "error -32603")
}

// With Consume each state is good for one retry.
func TestConsume(t *testing.T) {
	s, runs := keeping(t, server.Options{Consume: server.MemoryNonces(0)})
	w := dialWith(t, s, modern, withForms)
	retry := `"name":"x"` + adaAnswer + `,"requestState":` + tokenFor(t, w, `"name":"x"`)
	w.want("tools/call", strings.Replace(retry, `"x"`, `"y"`, 1), noState) // uses nothing up
	w.want("tools/call", retry, saying("run 2, "+keptState+`, {"name":"Ada"}`))
	w.want("tools/call", retry, noState)
	if runs.Load() != 1 {
		t.Errorf("the handler ran %d times", runs.Load())
	}
}

// A store that fails is not the client's fault, and the answer says nothing of it.
func TestBrokenStores(t *testing.T) {
	broken := &brokenStore{}
	s, _ := keeping(t, server.Options{Consume: broken})
	w := dialWith(t, s, modern, withForms)
	w.want("tools/call", `"name":"x"`+adaAnswer+`,"requestState":`+tokenFor(t, w, `"name":"x"`), "error -32603")
	s, _ = keeping(t, server.Options{StateStore: broken, MaxStateBytes: 100})
	dialWith(t, s, modern, withForms).want("tools/call", `"name":"x"`, "error -32603")
}

type brokenStore struct{}

var errBroken = fmt.Errorf("dial 10.0.0.7: refused")

func (*brokenStore) Consume(context.Context, string, time.Time) (bool, error) {
	return false, errBroken
}
func (*brokenStore) Put(context.Context, string, []byte, time.Time) error { return errBroken }
func (*brokenStore) Get(context.Context, string) ([]byte, bool, error)    { return nil, false, errBroken }

// A legacy client may think as long as AskTimeout says, whatever the life of a state that travels.
func TestAskTimeout(t *testing.T) {
	for _, tc := range []struct{ option, limit time.Duration }{{0, 10 * time.Minute}, {time.Hour, time.Hour}, {time.Second, time.Second}, {-1, 0}} {
		synctest.Test(t, func(t *testing.T) {
			s, _ := keeping(t, server.Options{AskTimeout: tc.option, StateLife: time.Second})
			w := dialWith(t, s, legacy, withForms)
			w.start("tools/call", `"name":"x"`)
			question := w.Expect(`{"method":"elicitation/create"}`)
			think := tc.limit - time.Millisecond
			if tc.limit == 0 {
				think = 48 * time.Hour
			}
			time.Sleep(think)
			w.Reply(question, `{"action":"accept","content":{"name":"Ada"}}`)
			if got := plain(w.Next()); got != saying("run 2, "+keptState+`, {"name":"Ada"}`) {
				t.Errorf("in time: %s", got)
			}
			if tc.limit > 0 {
				w.start("tools/call", `"name":"x"`)
				w.Expect(`{"method":"elicitation/create"}`)
				time.Sleep(tc.limit + time.Millisecond)
				w.Expect(`{"method":"notifications/cancelled"}`)
				refusedToAsk(t, "tools/call", w.Next(), "no answer to elicitation/create within "+tc.limit.String())
			}
			w.Close()
		})
	}
}

// Progress of all runs of a legacy call is one piece of work: it never goes back.
func TestProgressOverRounds(t *testing.T) {
	s := newServer(server.Options{})
	rawTool(t, s, "x", func(ctx context.Context, r *server.Request) (*mcp.CallToolResult, error) {
		for i := range 2 + r.Run() {
			r.Progress(ctx, float64(i), 0, "")
		}
		if r.Run() < 3 {
			return nil, mcp.NeedInput().WithState("")
		}
		return nil, nil
	})
	w := dial(t, s, legacy)
	w.call("tools/call", `"name":"x","_meta":{"progressToken":1}`)
	var told []string
	for _, frame := range w.notices {
		params, _ := jsonrpc.Member([]byte(frame), "params")
		told = append(told, member(t, params, "progress"))
	}
	if got := strings.Join(told, " "); got != "0 1 2 3 4" {
		t.Errorf("progress was %s", got)
	}
}

// Calls of one client that ask at once are told apart, in whatever order the answers come.
func TestAskingAtOnce(t *testing.T) {
	s, _ := keeping(t, server.Options{})
	w := dialWith(t, s, legacy, withForms)
	var questions []*jsonrpc.Message
	want := map[jsonrpc.ID]bool{}
	for range 8 {
		want[jsonrpc.IntID(int64(w.start("tools/call", `"name":"x"`)))] = true
		questions = append(questions, w.Expect(`{"method":"elicitation/create"}`))
	}
	for i, question := range slices.Backward(questions) {
		w.Reply(question, fmt.Sprintf(`{"action":"accept","content":{"name":"%d"}}`, i))
		m := w.Next()
		if !want[m.ID] || plain(m) != saying(fmt.Sprintf("run 2, %s, {\"name\":\"%d\"}", keptState, i)) {
			t.Errorf("got %s", m.Frame())
		}
		delete(want, m.ID)
	}
}
