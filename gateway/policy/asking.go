package policy

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"

	"github.com/rialto-mcp/rialto/gateway/bridge"
	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// Asking stands between a bridge and its servers and decides what those ask, by the settings that Over was given last. A
// server that asks by a request of its own is refused with an error. One that asks by the result of a call is told that the
// user has declined, where it asks the user, and the call goes on; where it asks anything else the call ends with an error.
// The client sees nothing of what is refused. What is said in the middle of calls is masked here too, by the redactions.
func (p *Policy) Asking(ups bridge.Upstreams) bridge.Upstreams { return &asking{ups, p} }

type asking struct {
	bridge.Upstreams
	policy *Policy
}

const (
	// declinedState begins a request state that holds, before the state of the server, the keys of the questions that were
	// declined here: the client answers the others, and the server gets all answers at once.
	declinedState = "rialto/declined/"

	maxDeclined = 10 // rounds of nothing but questions that are declined
)

var declined = json.RawMessage(`{"action":"` + mcp.ElicitDecline + `"}`)

// Call implements bridge.Upstreams.
func (a *asking) Call(ctx context.Context, name string, call upstream.Call) (*upstream.Answer, error) {
	may := a.policy.ask.Load().of(name)
	q := &questions{a, ctx, name, may, call, a.policy.midst(ctx, name, call.Caller)}
	if err := q.maskAnswers(); err != nil {
		return nil, err
	}
	q.unwrap()
	if call.Caller != nil {
		told := *call.Caller
		if told.Capabilities != nil {
			told.Capabilities = may.capabilities(told.Capabilities)
		}
		q.call.Caller = &told
	}
	q.call.HasRoots = call.HasRoots && !may.NoRoots
	if ask := call.OnRequest; ask != nil {
		q.call.OnRequest = func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
			params, refusal := q.decide(method, params)
			if refusal != nil {
				return nil, refusal
			}
			answer, err := ask(ctx, method, params)
			if err != nil {
				return nil, q.midst.declined(method, err)
			}
			if answer, refusal = q.midst.answer(method, answer); refusal != nil {
				return nil, refusal
			}
			return answer, nil
		}
	}
	q.call.OnProgress = q.midst.notices(mcp.NotifyProgress, call.OnProgress)
	q.call.OnTaskProgress = q.midst.notices(mcp.NotifyProgress, call.OnTaskProgress)
	q.call.OnLog = q.midst.notices(mcp.NotifyMessage, call.OnLog)
	for range maxDeclined {
		answer, err := a.Upstreams.Call(ctx, name, q.call)
		switch {
		case err != nil:
			return nil, q.midst.fault(call.Method, q.pages(err))
		case call.Method == mcp.MethodGetTask:
			return q.ofTask(answer)
		case answer.InputRequests == nil:
			return q.midst.result(call.Method, answer)
		}
		again, err := q.ofResult(answer)
		if err != nil || !again {
			return answer, err
		}
	}
	return nil, mcp.Errorf(mcp.CodeInternal, "server %q asks its user again and again, which the policy of this gateway does not let it", name)
}

// questions decides what is asked in one call.
type questions struct {
	*asking
	ctx    context.Context
	server string
	may    Asking
	call   upstream.Call
	midst  *midst
}

// decide says what becomes of a question. It is masked before a server's name is put to it, which is the operator's word.
func (q *questions) decide(method string, params json.RawMessage) (json.RawMessage, *mcp.Error) {
	params, refusal := q.midst.question(method, params)
	if refusal != nil {
		return nil, refusal
	}
	return q.judge(method, params)
}

func (q *questions) judge(method string, params json.RawMessage) (json.RawMessage, *mcp.Error) {
	params, refusal := q.may.question(q.server, method, params)
	if refusal != nil {
		d := Decision{By: ByAsk, Effect: Refused, Reason: refusal.Message, Method: method, Target: route.Target{Server: q.server}}
		if c := q.call.Caller; c != nil {
			d.Principal, d.Session = c.Principal, c.Session
		}
		q.policy.decided(q.ctx, d)
	}
	return params, refusal
}

// sift decides the questions of an object by their keys. left are those to be passed on, and no are those that are refused:
// with an error, or with nil where the user declines.
func (q *questions) sift(all json.RawMessage) (left json.RawMessage, no map[string]*mcp.Error, kept bool) {
	left, no = json.RawMessage("{}"), make(map[string]*mcp.Error)
	edited := false
	for key, one := range jsonrpc.Members(all) {
		raw, _ := jsonrpc.Member(one, "method")
		method, _ := jsonrpc.Text(raw)
		old, has := jsonrpc.Member(one, "params")
		params, refusal := q.decide(method, old)
		shown := one
		if refusal == nil {
			shown, refusal = q.midst.beside(method, one)
		}
		if refusal != nil {
			if no[key] = refusal; method == mcp.MethodElicit {
				no[key] = nil
			}
			continue
		}
		if has && string(params) != string(old) {
			shown = jsonrpc.With(nil, shown, "params", params)
		}
		edited = edited || string(shown) != string(one)
		left, kept = jsonrpc.With(nil, left, key, shown), true
	}
	if len(no) == 0 && !edited { // byte for byte
		return all, no, kept
	}
	return left, no, kept
}

// ofResult decides the questions that a call has ended with. again says that all were declined, and the call is to be made once
// more with that.
func (q *questions) ofResult(answer *upstream.Answer) (again bool, err error) {
	left, no, kept := q.sift(answer.InputRequests)
	if len(no) == 0 {
		answer.InputRequests = left
		return false, nil
	}
	var keys []string
	for key, refusal := range no {
		if refusal != nil {
			return false, refusal
		}
		keys = append(keys, key)
	}
	if !kept {
		q.call.InputResponses, q.call.RequestState = decline(nil, keys), answer.RequestState
		return true, nil
	}
	answer.InputRequests, answer.RequestState = left, wrap(keys, answer.RequestState)
	return false, nil
}

// decline adds answers that say no.
func decline(responses json.RawMessage, keys []string) json.RawMessage {
	if !jsonrpc.IsObject(responses) {
		responses = json.RawMessage("{}")
	}
	for _, key := range keys {
		responses = jsonrpc.With(nil, responses, key, declined)
	}
	return responses
}

// wrap puts keys before the state of a server, which may be none.
func wrap(keys []string, state json.RawMessage) json.RawMessage {
	raw, _ := json.Marshal(keys) // texts alone: it cannot fail
	text := declinedState + base64.RawURLEncoding.EncodeToString(raw) + "/"
	text += string(state) // as it was written, quotes and all
	return jsonrpc.AppendString(nil, text)
}

// unwrap takes the keys off a state again and adds the answers that they stand for. A client that has changed them declines
// something else, which it may.
func (q *questions) unwrap() {
	text, _ := jsonrpc.Text(q.call.RequestState)
	rest, ok := strings.CutPrefix(text, declinedState)
	sealed, state, found := strings.Cut(rest, "/")
	if !ok || !found {
		return
	}
	var keys []string
	raw, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil || json.Unmarshal(raw, &keys) != nil {
		return
	}
	q.call.InputResponses, q.call.RequestState = decline(q.call.InputResponses, keys), nil
	if own := json.RawMessage(state); jsonrpc.IsString(own) && json.Valid(own) {
		q.call.RequestState = own
	}
}

// pages decides an error that demands a visit to pages.
func (q *questions) pages(err error) error {
	var fault *mcp.Error
	if !errors.As(err, &fault) || !fault.Remote || fault.Code != mcp.CodeURLElicitationRequired {
		return err
	}
	list, _ := jsonrpc.Member(fault.Data, "elicitations")
	out, first := json.RawMessage("["), true
	for raw := range jsonrpc.Elements(list) {
		page, refusal := q.midst.question(mcp.MethodElicit, raw)
		if refusal != nil {
			return refusal
		}
		asked := page
		if jsonrpc.IsObject(page) {
			asked = jsonrpc.With(nil, page, "mode", []byte(`"url"`))
		}
		if _, refusal := q.judge(mcp.MethodElicit, asked); refusal != nil {
			return refusal
		}
		if !first {
			out = append(out, ',')
		}
		first = false
		out = append(out, q.may.named(q.server, page)...)
	}
	text, data, refusal := q.midst.demand(fault.Message, fault.Data)
	switch {
	case refusal != nil:
		return refusal
	case first && text == fault.Message && string(data) == string(fault.Data):
		return err
	}
	shown := *fault
	if shown.Message, shown.Data = text, data; !first {
		shown.Data = jsonrpc.With(nil, data, "elicitations", append(out, ']'))
	}
	return &shown
}

// ofTask decides the questions of a task. Those that are refused are answered with no, and left out of what the task says.
func (q *questions) ofTask(answer *upstream.Answer) (*upstream.Answer, error) {
	answer, err := q.midst.result(q.call.Method, answer)
	if err != nil {
		return nil, err
	}
	all, ok := jsonrpc.Member(answer.Result, "inputRequests")
	if !ok || !jsonrpc.IsObject(all) {
		return answer, nil
	}
	left, no, kept := q.sift(all)
	for key, refusal := range no {
		if err := q.refuse(key, refusal); err != nil {
			return nil, err
		}
	}
	shown := *answer
	if len(no) == 0 {
		shown.Result = jsonrpc.With(nil, answer.Result, "inputRequests", left)
		return &shown, nil
	}
	if shown.Result = jsonrpc.With(nil, answer.Result, "inputRequests", left); !kept {
		shown.Result = jsonrpc.With(nil, jsonrpc.Without(answer.Result, "inputRequests"), "status", []byte(`"`+mcp.TaskWorking+`"`))
	}
	return &shown, nil
}

// refuse answers a question of a task with no. Where there is no such answer, the task cannot go on.
func (q *questions) refuse(key string, refusal *mcp.Error) error {
	id, _ := jsonrpc.Member(q.call.Params, "taskId")
	params := jsonrpc.With(nil, json.RawMessage("{}"), "taskId", id)
	c := upstream.Call{Method: mcp.MethodUpdateTask, Caller: q.call.Caller}
	if refusal == nil {
		c.Params = jsonrpc.With(nil, params, "inputResponses", decline(nil, []string{key}))
		_, err := q.Upstreams.Call(q.ctx, q.server, c)
		return err
	}
	c.Params, c.Refuse = params, map[string]error{key: refusal}
	_, err := q.Upstreams.Call(q.ctx, q.server, c)
	if !errors.Is(err, upstream.ErrNoRefusal) {
		return err
	}
	_, err = q.Upstreams.Call(q.ctx, q.server, upstream.Call{Method: mcp.MethodCancelTask, Caller: q.call.Caller, Params: params})
	return errors.Join(refusal, err)
}
