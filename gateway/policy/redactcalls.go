package policy

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// midst masks what is said in the middle of one call: what the server asks and what it is answered, progress, logs, and states of
// tasks. It stands between the bridge and the servers ([Policy.Asking]), where all of that passes in one form whatever the eras. Nil
// is a midst without redactions. Its methods may be called concurrently.
type midst struct {
	policy *Policy
	ctx    context.Context
	server string
	caller *upstream.Caller
	looked bool // the result and the error of the call are looked through by a step

	says, hears []*redactor // about what the server says, and what it hears

	mu   sync.Mutex
	told []Decision // each once in a call
}

// midst is that of one call.
func (p *Policy) midst(ctx context.Context, server string, caller *upstream.Caller) *midst {
	all := p.redactors.Load()
	if all == nil || len(*all) == 0 {
		return nil
	}
	says, hears := redactorsOf(*all, server, InResults), redactorsOf(*all, server, InArguments)
	if says == nil && hears == nil {
		return nil
	}
	return &midst{policy: p, ctx: ctx, server: server, caller: caller, looked: isLooking(ctx), says: says, hears: hears}
}

// look has an edit done, and tells of what was found.
func (m *midst) look(with []*redactor, method, where string, edit func(*redaction)) *mcp.Error {
	if with == nil {
		return nil
	}
	w := newRedaction(with)
	edit(w)
	if w.left >= 0 && len(w.found) == 0 {
		return nil
	}
	return w.outcome(m.tell, func(by Subject, effect Effect, name, reason string) Decision {
		d := Decision{By: by, Effect: effect, Name: name, Reason: reason, Method: method, Target: route.Target{Server: m.server}}
		if c := m.caller; c != nil {
			d.Principal, d.Session = c.Principal, c.Session
		}
		return d
	}, where)
}

func (m *midst) tell(d Decision) {
	m.mu.Lock()
	before := slices.Contains(m.told, d)
	if !before {
		m.told = append(m.told, d)
	}
	m.mu.Unlock()
	if !before {
		m.policy.decided(m.ctx, d)
	}
}

// question masks what a server asks.
func (m *midst) question(method string, params json.RawMessage) (json.RawMessage, *mcp.Error) {
	if m == nil {
		return params, nil
	}
	shown := params
	refusal := m.look(m.says, method, "question holds", func(w *redaction) { shown = w.question(params) })
	return shown, refusal
}

// beside masks what a question of several holds beside its method and its parameters.
func (m *midst) beside(method string, one json.RawMessage) (json.RawMessage, *mcp.Error) {
	if m == nil {
		return one, nil
	}
	shown := one
	refusal := m.look(m.says, method, "question holds", func(w *redaction) {
		shown = w.members(one, func(name string, value json.RawMessage) json.RawMessage {
			if name == "params" || name == "method" && jsonrpc.IsString(value) {
				return value
			}
			return w.values(value, texts{})
		})
	})
	return shown, refusal
}

// answer masks what a server is answered.
func (m *midst) answer(method string, answer json.RawMessage) (json.RawMessage, *mcp.Error) {
	if m == nil {
		return answer, nil
	}
	shown := answer
	refusal := m.look(m.hears, method, "answer holds", func(w *redaction) { shown = w.answer(answer) })
	return shown, refusal
}

// answers is answer for those of an object.
func (m *midst) answers(method string, all json.RawMessage) (json.RawMessage, *mcp.Error) {
	if m == nil || all == nil {
		return all, nil
	}
	shown := all
	refusal := m.look(m.hears, method, "answers hold", func(w *redaction) {
		shown = w.members(all, func(_ string, one json.RawMessage) json.RawMessage { return w.answer(one) })
	})
	return shown, refusal
}

// maskAnswers masks what the call itself brings of answers.
func (q *questions) maskAnswers() error {
	var refusal *mcp.Error
	if q.call.InputResponses, refusal = q.midst.answers(q.call.Method, q.call.InputResponses); refusal != nil {
		return refusal
	}
	if q.call.Method != mcp.MethodUpdateTask || q.midst == nil {
		return nil
	}
	if answers, ok := jsonrpc.Member(q.call.Params, "inputResponses"); ok {
		masked, refusal := q.midst.answers(q.call.Method, answers)
		if refusal != nil {
			return refusal
		}
		q.call.Params = jsonrpc.With(nil, q.call.Params, "inputResponses", masked)
	}
	q.call.Refuse = maps.Clone(q.call.Refuse)
	for key, err := range q.call.Refuse {
		q.call.Refuse[key] = q.midst.declined(q.call.Method, err)
	}
	return nil
}

// declined masks the error that a server gets for an answer. One that is refused becomes the refusal.
func (m *midst) declined(method string, err error) error {
	var fault *mcp.Error
	if m == nil || !errors.As(err, &fault) {
		return err
	}
	shown := fault
	refusal := m.look(m.hears, method, "answer holds", func(w *redaction) { shown = w.fault(fault) })
	switch {
	case refusal != nil:
		return refusal
	case shown != fault:
		return shown
	}
	return err
}

// notices puts a mask before a hook. Progress that is refused goes on without words, so that it is known how far the call is; a log
// message does not.
func (m *midst) notices(method string, to func(json.RawMessage)) func(json.RawMessage) {
	if m == nil || to == nil || m.says == nil {
		return to
	}
	return func(params json.RawMessage) {
		shown := params
		refusal := m.look(m.says, method, "message holds", func(w *redaction) { shown = w.values(params, ofNotice) })
		switch {
		case refusal == nil:
			to(shown)
		case method == mcp.NotifyProgress:
			to(numbersOf(params))
		}
	}
}

// numbersOf is progress without words.
func numbersOf(params json.RawMessage) json.RawMessage {
	out := json.RawMessage("{}")
	for _, name := range []string{"progress", "total"} {
		if value, ok := jsonrpc.Member(params, name); ok && isNumber(value) {
			out = jsonrpc.With(nil, out, name, value)
		}
	}
	return out
}

// isNumber tells whether a raw value is a number, by its first byte.
func isNumber(raw json.RawMessage) bool {
	return len(raw) > 0 && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9')
}

// result masks what a call has come to, where no step does: lists that are asked for, and states of tasks.
func (m *midst) result(method string, answer *upstream.Answer) (*upstream.Answer, error) {
	if m == nil || m.says == nil {
		return answer, nil
	}
	shown := *answer
	switch {
	case answer.Task != nil:
		shown.Task = m.task(method, answer.Task)
	case m.looked:
		return answer, nil
	case method == mcp.MethodGetTask:
		shown.Result = m.task(method, answer.Result)
	default:
		if refusal := m.look(m.says, method, "results hold", func(w *redaction) { shown.Result = w.values(answer.Result, ofResult) }); refusal != nil {
			return nil, refusal
		}
	}
	return &shown, nil
}

// fault is result for an error. What the gateway itself says of the way to a server is not looked at here.
func (m *midst) fault(method string, err error) error {
	var fault *mcp.Error
	if m == nil || m.looked || !errors.As(err, &fault) || !fault.Remote || fault.Code == mcp.CodeURLElicitationRequired {
		return err
	}
	shown := fault
	refusal := m.look(m.says, method, "results hold", func(w *redaction) { shown = w.fault(fault) })
	switch {
	case refusal != nil:
		return refusal
	case shown != fault:
		return shown
	}
	return err
}

// demand masks the words of an error that demands pages, and its data but for the pages, each of which is a question.
func (m *midst) demand(text string, data json.RawMessage) (string, json.RawMessage, *mcp.Error) {
	if m == nil {
		return text, data, nil
	}
	shown, beside := text, data
	refusal := m.look(m.says, mcp.MethodElicit, "question holds", func(w *redaction) {
		shown = w.text(text)
		beside = w.members(data, func(name string, value json.RawMessage) json.RawMessage {
			if name == "elicitations" && jsonrpc.IsArray(value) {
				return value
			}
			return w.values(value, texts{})
		})
	})
	return shown, beside, refusal
}
