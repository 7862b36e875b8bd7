package mcptest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/rialto-mcp/rialto/internal/replay"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/transport"
)

// Replay calls a handler that asks by call, as a modern client does: each question ends the run, and the handler runs again
// with the answer. The answers are scripted beforehand, in the order of the questions. It fails the test when
//
//   - a question differs from the script, has no answer there, or an answer is left over;
//   - something happens after a question has ended a run: progress, a log message, another question, a step, an effect;
//   - a run asks something else in a place than the run before;
//   - an effect happens twice: it stands outside [server.Once].
//
// Effects are what the test says by [Replay.Effect], from what it gives the handler in place of the world. The methods that
// script and call are for one goroutine; Effect may be called from any.
type Replay struct {
	t      testing.TB
	server *server.Server
	script []answer
	asked  []string
	told   []string

	mu        sync.Mutex
	run       int
	suspended bool
	effects   map[string]int // in which run each happened
}

// answer is one of the script.
type answer struct {
	about  string // part of what is asked
	method string
	result any
}

// NewReplay begins a script for handlers of a server.
func NewReplay(t testing.TB, s *server.Server) *Replay {
	return &Replay{t: t, server: s, effects: make(map[string]int)}
}

// Accept answers the form whose message holds about with content, which has a JSON form; nil is an empty form, or a page.
func (r *Replay) Accept(about string, content any) *Replay {
	result := map[string]any{"action": mcp.ElicitAccept}
	if content != nil {
		result["content"] = content
	}
	return r.answer(about, mcp.MethodElicit, result)
}

// Decline answers the form or page whose message holds about with a no.
func (r *Replay) Decline(about string) *Replay {
	return r.answer(about, mcp.MethodElicit, map[string]any{"action": mcp.ElicitDecline})
}

// Cancel leaves the form or page whose message holds about without an answer.
func (r *Replay) Cancel(about string) *Replay {
	return r.answer(about, mcp.MethodElicit, map[string]any{"action": mcp.ElicitCancel})
}

// Says answers the question to the model whose parameters hold about, as in the JSON of a message.
func (r *Replay) Says(about, text string) *Replay {
	return r.answer(about, mcp.MethodCreateMessage, mcp.CreateMessageResult{
		Role: mcp.RoleAssistant, Model: "replay", Content: []mcp.Content{mcp.Text(text)},
	})
}

// Roots answers a question for the roots.
func (r *Replay) Roots(uris ...string) *Replay {
	roots := make([]mcp.Root, len(uris))
	for i, uri := range uris {
		roots[i] = mcp.Root{URI: uri}
	}
	return r.answer("", mcp.MethodListRoots, mcp.ListRootsResult{Roots: roots})
}

func (r *Replay) answer(about, method string, result any) *Replay {
	r.script = append(r.script, answer{about, method, result})
	return r
}

// Effect says that the handler has done something that lasts. The name tells it from other effects; each may happen once in
// a call, and not after a question has ended the run.
func (r *Replay) Effect(name string) {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	before, again := r.effects[name]
	switch {
	case r.suspended:
		r.t.Errorf("run %d: the effect %q happens after a question has ended the run; return the error of the question at once", r.run, name)
	case again && before == r.run:
		r.t.Errorf("run %d: the effect %q happens twice", r.run, name)
	case again:
		r.t.Errorf("run %d: the effect %q happens again, after run %d; put it into server.Once", r.run, name, before)
	}
	r.effects[name] = r.run
}

// Asked lists what was asked in the last call: the messages of forms and pages, the methods of other questions.
func (r *Replay) Asked() []string { return r.asked }

// Told lists the log messages of the last call as JSON, and its progress as numbers, in their order.
func (r *Replay) Told() []string { return r.told }

// CallTool calls a tool. Arguments are anything whose JSON form is an object; nil for none. The result is nil where the call
// fails with an error, which fails the test too.
func (r *Replay) CallTool(name string, arguments any) *mcp.CallToolResult {
	r.t.Helper()
	return replayed[mcp.CallToolResult](r, mcp.MethodCallTool, map[string]any{"name": name, "arguments": orEmpty(arguments)})
}

// GetPrompt gets a prompt, as CallTool calls a tool.
func (r *Replay) GetPrompt(name string, arguments map[string]string) *mcp.GetPromptResult {
	r.t.Helper()
	return replayed[mcp.GetPromptResult](r, mcp.MethodGetPrompt, map[string]any{"name": name, "arguments": orEmpty(arguments)})
}

// ReadResource reads a resource, as CallTool calls a tool.
func (r *Replay) ReadResource(uri string) *mcp.ReadResourceResult {
	r.t.Helper()
	return replayed[mcp.ReadResourceResult](r, mcp.MethodReadResource, map[string]any{"uri": uri})
}

// orEmpty is what JSON has for no arguments.
func orEmpty(arguments any) any {
	if raw, err := json.Marshal(arguments); err == nil && string(raw) == "null" {
		return struct{}{}
	}
	return arguments
}

func replayed[T any](r *Replay, method string, params map[string]any) *T {
	r.t.Helper()
	raw := r.play(method, params)
	if raw == nil {
		return nil
	}
	result := new(T)
	if err := json.Unmarshal(raw, result); err != nil {
		r.t.Fatalf("the result of %s: %v", method, err)
	}
	return result
}

// play calls again and again until there is a result. It answers nil for an error.
func (r *Replay) play(method string, params map[string]any) json.RawMessage {
	r.t.Helper()
	r.asked, r.told, r.run, r.effects = nil, nil, 0, make(map[string]int)
	params["_meta"] = map[string]any{
		mcp.MetaProtocolVersion: mcp.Version20260728, mcp.MetaLogLevel: mcp.LevelDebug, "progressToken": "replay",
		mcp.MetaClientCapabilities: json.RawMessage(`{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{},"context":{}},"roots":{}}`),
	}
	own, theirs := transport.Pair(0)
	peer := &Peer{r.t, own}
	ended := make(chan error, 1)
	go func() { ended <- r.server.Serve(replay.With(context.Background(), (*ear)(r)), theirs) }() // ends when the peer closes
	defer func() {
		peer.Close()
		if err := <-ended; err != nil {
			r.t.Errorf("serve: %v", err)
		}
	}()
	for {
		m := r.once(peer, method, params)
		result, _ := jsonrpc.Member(m.Result, "resultType")
		switch {
		case m.Error != nil:
			r.t.Errorf("%s fails with error %d: %s", method, m.Error.Code, m.Error.Message)
			return nil
		case string(result) != `"input_required"`:
			r.leftOver()
			return m.Result
		}
		requests, _ := jsonrpc.Member(m.Result, "inputRequests")
		state, _ := jsonrpc.Member(m.Result, "requestState")
		params["inputResponses"], params["requestState"] = r.answers(requests), state
	}
}

// once makes one run and returns how it ends.
func (r *Replay) once(peer *Peer, method string, params map[string]any) *jsonrpc.Message {
	r.t.Helper()
	r.mu.Lock()
	r.run++
	r.suspended = false
	id := jsonrpc.IntID(int64(r.run))
	r.mu.Unlock()
	raw, err := json.Marshal(params)
	if err != nil {
		r.t.Fatalf("the arguments: %v", err)
	}
	peer.Send(string((&jsonrpc.Message{ID: id, Method: method, Params: raw}).Append(nil)))
	for {
		m := peer.Next()
		switch m.Method {
		case "":
			return m
		case mcp.NotifyProgress:
			progress, _ := jsonrpc.Member(m.Params, "progress")
			r.told = append(r.told, string(progress))
		case mcp.NotifyMessage:
			data, _ := jsonrpc.Member(m.Params, "data")
			r.told = append(r.told, string(data))
		}
	}
}

// answers takes the answers to the questions of a round from the script. Those of one round may be scripted in any order.
func (r *Replay) answers(requests json.RawMessage) map[string]any {
	r.t.Helper()
	out := make(map[string]any)
	var questions mcp.InputRequests
	if err := json.Unmarshal(requests, &questions); requests != nil && err != nil {
		r.t.Fatalf("the questions of run %d: %v", r.run, err)
	}
	round := min(len(questions), len(r.script))
	for _, key := range questions.Keys() {
		method, params := questions[key].Method, questions[key].Params
		asked, ok := mcp.Meta(params).Text("message")
		if !ok {
			asked = method
		}
		r.asked = append(r.asked, asked)
		at := -1
		for i, a := range r.script[:round] {
			if at < 0 && a.method == method && strings.Contains(said(params, asked), a.about) {
				at = i
			}
		}
		if at < 0 {
			r.t.Fatalf("run %d asks %q by %s, and the script has %s", r.run, asked, method, r.expected())
			return out
		}
		out[key] = r.script[at].result
		r.script = append(r.script[:at:at], r.script[at+1:]...)
		round--
	}
	return out
}

// said is what a question says: its message, or all of it.
func said(params json.RawMessage, asked string) string {
	if _, ok := mcp.Meta(params).Text("message"); ok {
		return asked
	}
	return string(params)
}

// expected describes the next answer of the script.
func (r *Replay) expected() string {
	if len(r.script) == 0 {
		return "no more answers"
	}
	return fmt.Sprintf("an answer to %q by %s there", r.script[0].about, r.script[0].method)
}

// leftOver fails the test for answers that nobody asked for.
func (r *Replay) leftOver() {
	r.t.Helper()
	for _, a := range r.script {
		r.t.Errorf("nobody asked %q by %s", a.about, a.method)
	}
	r.script = nil
}

// ear hears what the server tells tests.
type ear Replay

var _ replay.Ear = (*ear)(nil)

// Suspended implements replay.Ear.
func (e *ear) Suspended() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.suspended = true
}

// Late implements replay.Ear.
func (e *ear) Late(what string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.t.Errorf("run %d %s after a question has ended it; return the error of the question at once", e.run, what)
}

// Changed implements replay.Ear.
func (e *ear) Changed(what string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.t.Errorf("run %d: %s; ask the same questions in the same order in every run", e.run, what)
}
