package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/internal/replay"
	"github.com/rialto-mcp/rialto/internal/seal"
	"github.com/rialto-mcp/rialto/mcp"
)

// ErrSuspended ends a run of a handler that has asked a modern client something: the answer to the call is the question, and
// the handler runs again when the client comes back. A handler returns it as it is. Until it does, its context is cancelled
// with this cause, and every call on its request does nothing and returns it.
var ErrSuspended = errors.New("this run has ended with a question to the client; the handler runs again with the answer, so return this error")

// ErrCannotAsk is in the errors of questions that cannot be put: the client has not declared that it answers such, has no
// way to be asked, or has been asked too often. A handler may go on without the answer, or return the error, which tells
// the client why.
var ErrCannotAsk = errors.New("the client cannot be asked")

// cannotAsk is an ErrCannotAsk with its reason.
type cannotAsk struct {
	why  string
	code *mcp.Error // what the client gets when the handler returns it; nil for an answer that says why
}

func (e *cannotAsk) Error() string { return ErrCannotAsk.Error() + ": " + e.why }

func (e *cannotAsk) Is(target error) bool { return target == ErrCannotAsk }

// canPut checks questions before they are put, as those that a handler returns are.
func (s *Server) canPut(r *Request, ask *mcp.InputRequired) error {
	if err := s.mayAsk(r); err != nil {
		return err
	}
	need, err := needs(ask)
	if err == nil {
		err = checkForms(ask)
	}
	if err != nil {
		return fmt.Errorf("the handler asked for input: %v", err) // not %w: it may hold a question again
	}
	return s.canAnswer(r, need)
}

// suspend ends this run: its answer will be the questions. The state is made first, so one that is too large asks nobody.
func (r *Request) suspend(ask *mcp.InputRequired, record *seal.Record) error {
	round, err := r.server.newRound(r, ask.Requests, record)
	if err != nil {
		return err
	}
	if !r.round.CompareAndSwap(nil, round) {
		return ErrSuspended
	}
	r.living().end(ErrSuspended)
	if ear := replay.From(r.beneath()); ear != nil {
		ear.Suspended()
	}
	return ErrSuspended
}

// newRound makes a round of questions, and seals what the next run has to know.
func (s *Server) newRound(r *Request, questions mcp.InputRequests, record *seal.Record) (round *era.InputRound, err error) {
	round = &era.InputRound{Rerun: (*asked)(r)}
	if len(questions) > 0 {
		if round.Requests, err = jsonv2.Marshal(fit(r, questions), jsonv2.Deterministic(true)); err != nil {
			return nil, fmt.Errorf("encode the questions of the handler: %v", err)
		}
	}
	if round.State, err = s.sealRecord(r, record); err != nil {
		return nil, fmt.Errorf("seal the state of the call: %w", err)
	}
	return round, nil
}

// settled is the answer of a run that has ended with a question, whatever its handler returned then; nil for any other run.
func (r *Request) settled() *era.Outcome {
	if round := r.round.Load(); round != nil {
		return &era.Outcome{Input: round}
	}
	return nil
}

// askNow sends questions on the stream of the call and waits for the answers.
func (r *Request) askNow(ctx context.Context, open []question) ([]json.RawMessage, error) {
	questions := make([]engine.Question, len(open))
	for i, q := range open {
		questions[i] = engine.Question{Method: q.method, Params: q.params}
	}
	answers, err := r.in.Ask(ctx, questions)
	switch {
	case err == nil:
		return answers, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	return nil, &cannotAsk{why: err.Error()}
}

// An AskOption says more about one question of a handler.
type AskOption func(*question)

// Named gives a question a name, by which later runs of the handler know it again. Questions without one are known by their
// place, kind and form; a name helps where a handler asks alike forms in an order that may change between runs.
func Named(name string) AskOption { return func(q *question) { q.name = name } }

// Elicit asks the user to fill in a form and returns what came back: accepted with content that fits the form, declined or
// cancelled. See also [ElicitAs].
//
// A legacy client is asked on the stream of the call, and the handler waits. For a modern client the run ends here with
// [ErrSuspended], and the next one gets the answer here: it runs the handler again from the top, so lasting things belong
// behind the last question or into [Once]. Spec 2026-07-28, client/elicitation.
//
// It fails with ErrSuspended, with [ErrCannotAsk], and with the cause of ctx. Return what is not of use to you.
func (r *Request) Elicit(ctx context.Context, form mcp.ElicitFormParams, opts ...AskOption) (*mcp.ElicitResult, error) {
	return askOne[mcp.ElicitResult](ctx, r, mcp.MethodElicit, form, opts)
}

// ElicitURL sends the user to a page, and returns whether they agreed to go. Whether they did there what they were sent for
// only the page knows: see [Request.Until]. It asks like [Request.Elicit]; with Options.URLElicitationErrors it fails on
// 2025-11-25 with the error that the client is to get.
func (r *Request) ElicitURL(ctx context.Context, page mcp.ElicitURLParams, opts ...AskOption) (*mcp.ElicitResult, error) {
	page.Mode = mcp.ElicitModeURL
	if r.in.Codec.Traits().InputRounds {
		page.ElicitationID = "" // not in the modern era
	} else if page.ElicitationID == "" {
		page.ElicitationID = engine.NewUUID()
	}
	q, err := newQuestion(mcp.MethodElicit, page, opts)
	if err != nil {
		return nil, err
	}
	return answerTo[mcp.ElicitResult](ctx, r, q)
}

// CreateMessage has the client's model continue a conversation. It asks like [Request.Elicit].
func (r *Request) CreateMessage(ctx context.Context, params mcp.CreateMessageParams, opts ...AskOption) (*mcp.CreateMessageResult, error) {
	return askOne[mcp.CreateMessageResult](ctx, r, mcp.MethodCreateMessage, params, opts)
}

// ListRoots asks for the client's roots. It asks like [Request.Elicit].
func (r *Request) ListRoots(ctx context.Context, opts ...AskOption) (*mcp.ListRootsResult, error) {
	return askOne[mcp.ListRootsResult](ctx, r, mcp.MethodListRoots, struct{}{}, opts)
}

// Ask puts several questions at once and returns the answers under the same keys, which are the names of the questions. All
// of them are there and fit what was asked. It asks like [Request.Elicit]; a state in ask is an error.
func (r *Request) Ask(ctx context.Context, ask *mcp.InputRequired) (mcp.InputResponses, error) {
	switch err := ask.Check(); {
	case err != nil:
		return nil, err
	case ask.State != nil, len(ask.Requests) == 0:
		return nil, errors.New("Ask takes questions, without a state") //nolint:staticcheck // the method's name
	}
	var questions []question
	for _, key := range ask.Requests.Keys() {
		questions = append(questions, question{name: key, method: ask.Requests[key].Method, params: ask.Requests[key].Params})
	}
	raw, err := r.asker().ask(ctx, questions)
	if err != nil {
		return nil, err
	}
	answers := make(mcp.InputResponses, len(questions))
	for i, q := range questions {
		answers[q.name] = raw[i]
	}
	return answers, nil
}

func askOne[T any](ctx context.Context, r *Request, method string, params any, opts []AskOption) (*T, error) {
	q, err := newQuestion(method, params, opts)
	if err != nil {
		return nil, err
	}
	return answerTo[T](ctx, r, q)
}

func newQuestion(method string, params any, opts []AskOption) (question, error) {
	ask := mcp.NeedInput().Ask("", method, params)
	q := question{method: method, params: ask.Requests[""].Params}
	for _, opt := range opts {
		opt(&q)
	}
	return q, ask.Check()
}

// answerTo asks one question and reads the answer.
func answerTo[T any](ctx context.Context, r *Request, q question) (*T, error) {
	answers, err := r.asker().ask(ctx, []question{q})
	if err != nil {
		return nil, err
	}
	answer := new(T)
	if _, err := (mcp.InputResponses{"": answers[0]}).Decode("", answer); err != nil {
		return nil, fmt.Errorf("the answer to %s: %w", q.method, err)
	}
	return answer, nil
}
