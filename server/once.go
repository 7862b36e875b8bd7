package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/rialto-mcp/rialto/internal/seal"
)

// Once does a step of a handler that must not be done again when the handler runs again: a payment, a message sent. Later
// runs of the same call get its result without doing it. The result travels with the state of the call, sealed, and goes
// through encoding/json; [OnceLocal] keeps it here.
//
// key names the step, once in a run; ask before a step or after it, not in it. fn gets an idempotency key, which is the same for this step in all runs of one call:
// pass it on to a service that takes one. It is needed where the step has been done and its result is lost, because the
// process ended or the answer did not arrive: the next run does the step again then. A client that sends one state twice
// does it twice, too, unless Options.Consume makes states single-use. An error of fn is returned and the step is not done:
// it may be tried again, in this run or the next.
//
// The key is good from the first question on: a client that repeats a call which has asked nothing yet begins a new one.
func Once[T any](ctx context.Context, r *Request, key string, fn func(ctx context.Context, idempotencyKey string) (T, error)) (T, error) {
	return once(ctx, r, key, fn, func(raw json.RawMessage) (json.RawMessage, error) { return raw, nil },
		func(raw json.RawMessage) (json.RawMessage, error) { return raw, nil })
}

// OnceLocal is [Once] for a result that the client must not carry, sealed as it is, or that is large: it stays in
// Options.StateStore, which has to be set, and only a reference travels.
func OnceLocal[T any](ctx context.Context, r *Request, key string, fn func(ctx context.Context, idempotencyKey string) (T, error)) (T, error) {
	binding, err := bindingOf(r)
	if err == nil && !r.server.sealer.Keeps() {
		err = fmt.Errorf("the step %q: OnceLocal needs Options.StateStore", key)
	}
	if err != nil {
		return *new(T), err
	}
	binding.Method += "\x00once/" + key
	keep := func(raw json.RawMessage) (json.RawMessage, error) {
		life := r.server.life(r)
		if most := time.Duration(r.server.opts.maxRounds()); life < 1<<62/most {
			life *= most // it has to last for all rounds that may follow
		}
		token, err := r.server.sealer.Keep(ctx, binding, seal.Link{}, raw, time.Now(), life)
		if err != nil {
			return nil, err
		}
		return json.Marshal(token)
	}
	fetch := func(raw json.RawMessage) (json.RawMessage, error) {
		opened, err := r.server.sealer.Open(ctx, text(raw), binding, time.Now())
		return opened.Payload, err
	}
	return once(ctx, r, key, fn, keep, fetch)
}

func once[T any](ctx context.Context, r *Request, key string, fn func(context.Context, string) (T, error),
	keep, fetch func(json.RawMessage) (json.RawMessage, error),
) (value T, err error) {
	a := r.asker()
	idempotencyKey, done, err := a.step(key)
	if err != nil {
		return value, err
	}
	if done != nil {
		raw, err := fetch(done)
		if err == nil {
			err = json.Unmarshal(raw, &value)
		}
		if err != nil {
			return value, fmt.Errorf("the result of the step %q: %w", key, err)
		}
		return value, nil
	}
	var raw json.RawMessage
	defer func() { a.did(key, raw) }() // also when fn panics
	if value, err = fn(ctx, idempotencyKey); err != nil {
		return value, err
	}
	result, err := json.Marshal(value)
	if err == nil {
		result, err = keep(result)
	}
	if err != nil {
		return value, fmt.Errorf("the step %q is done, and its result cannot be kept: %w", key, err)
	}
	raw = result
	return value, nil
}

// What is wrong with a step, behind its name.
var (
	errTwice      = errors.New("is done twice in one run; each step needs a key of its own")
	errWhileAsked = errors.New("is begun while a question is being asked; do it before the question or after the answer")
)

// step begins a step. done is the result that a run before has left; nil for none.
func (a *asker) step(key string) (idempotencyKey string, done json.RawMessage, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.r.round.Load() != nil:
		a.r.late("begins the step " + strconv.Quote(key))
		return "", nil, ErrSuspended
	case !a.r.byCall.Load():
		return "", nil, errors.New("Once works in the handlers of tools, prompts and resources, while they run") //nolint:staticcheck // its name
	case a.steps[key]:
		return "", nil, fmt.Errorf("the step %q %w", key, errTwice)
	case a.busy:
		return "", nil, fmt.Errorf("the step %q %w", key, errWhileAsked)
	}
	if a.steps == nil {
		a.steps = make(map[string]bool)
	}
	a.steps[key] = true
	for _, step := range a.once {
		if step.Key == key {
			return "", step.Raw, nil
		}
	}
	a.doing++
	return a.chain.String() + "." + key, nil, nil
}

// did ends a step, and keeps its result for the runs that follow; without one it may be tried again.
func (a *asker) did(key string, raw json.RawMessage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.doing--
	if raw == nil {
		delete(a.steps, key)
		return
	}
	a.once = append(a.once[:len(a.once):len(a.once)], seal.OnceResult{Key: key, After: a.next, Raw: raw})
}
