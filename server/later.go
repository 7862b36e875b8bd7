package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// ErrStillOpen is in the error of [Request.Until] when what it waits for has not come in all the time there is.
var ErrStillOpen = errors.New("still open")

// Pauses of a handler that waits without a question.
const (
	firstPause = 250 * time.Millisecond
	mostPause  = 5 * time.Second
)

// waited is the answer to a wait without a question.
var waited = []byte("{}")

// Later waits a moment without asking anybody anything: for work elsewhere that is not done yet. A modern client is sent
// away with a state alone and comes back in its own time, which ends this run with [ErrSuspended] and counts as a round
// (Options.MaxRounds); on the legacy era the handler waits here, a little longer each time, up to five seconds.
func (r *Request) Later(ctx context.Context) error { return r.asker().later(ctx) }

func (a *asker) later(ctx context.Context) error {
	first, err := a.begin()
	if err != nil {
		return err
	}
	used := 0
	defer func() { a.end(used) }()
	q := question{method: laterKind, ordinal: first}
	if len(a.open([]question{q})) > 0 {
		if err := a.sendAway(ctx, &q); err != nil {
			return err
		}
	}
	used = 1
	return nil
}

// sendAway waits once. The next run has it behind it.
func (a *asker) sendAway(ctx context.Context, q *question) error {
	if a.r.waits() {
		if err := a.place(q, waited); err != nil {
			return err
		}
		a.pause = min(max(2*a.pause, firstPause), mostPause)
		ctx, stop := a.r.within(ctx)
		defer stop()
		return sleep(ctx, a.pause)
	}
	if err := a.r.server.mayAsk(a.r); err != nil {
		return err
	}
	if err := a.place(q, waited); err != nil {
		return err
	}
	err := a.r.suspend(mcp.NeedInput(), a.record(nil))
	if !errors.Is(err, ErrSuspended) {
		a.answered(q.ordinal, nil) // nobody was sent away
	}
	return err
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Until waits until poll says true: that the user has done on a page what [Request.ElicitURL] has sent them there for. It
// asks poll at once and then every second, a little less often as time goes by, for Options.UntilWait on the modern era;
// then it ends the run with [ErrSuspended], and the client is sent to the same page again. On the legacy era it goes on for
// Options.AskTimeout. When that is over, or the client has come back as often as it may (Options.MaxRounds), it fails with
// an error that holds [ErrStillOpen] and says what is missing; a tool returns it for the model to read.
//
// A client of 2025-11-25 is told when the page is done with. An error of poll ends the wait and is returned. poll runs on
// the goroutine of the caller. It runs again in later runs of the handler, so what it finds out is there; once it has said true
// there is no more waiting.
func (r *Request) Until(ctx context.Context, poll func(ctx context.Context) (bool, error)) error {
	a := r.asker()
	ordinal, done, err := a.await()
	if err != nil {
		return err
	}
	ctx, stop := r.within(ctx)
	defer stop()
	if done {
		_, err := poll(ctx)
		return err
	}
	switch err = a.poll(ctx, poll); {
	case err == nil:
		a.answered(ordinal, []byte("true"))
		a.arrived(ctx)
		return nil
	case !errors.Is(err, ErrStillOpen):
		return err
	case r.mayEnd() && r.server.mayAsk(r) == nil:
		return a.reopen(ctx)
	}
	page := a.visited()
	if page == nil {
		return err
	}
	raw, _ := jsonrpc.Member(page.params, "message")
	url, _ := jsonrpc.Member(page.params, "url")
	return fmt.Errorf("%w: %s (%s)", err, text(raw), text(url))
}

// await gives a wait its place, and tells whether a run before has seen its end. What poll tells of is new either way.
func (a *asker) await() (ordinal int, done bool, err error) {
	if ordinal, err = a.begin(); err != nil {
		return 0, false, err
	}
	used := 0
	defer func() { a.end(used) }()
	q := question{method: untilKind, ordinal: ordinal}
	if err := a.place(&q, []byte("false")); err != nil {
		return 0, false, err
	}
	used = 1
	a.mu.Lock()
	defer a.mu.Unlock()
	return ordinal, string(a.answers[ordinal].Raw) == "true", nil
}

// visited is the page that the user was sent to last; nil for none.
func (a *asker) visited() *question {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.page
}

// poll asks until it is true, or the time is over.
func (a *asker) poll(ctx context.Context, poll func(ctx context.Context) (bool, error)) error {
	limit := cmp.Or(max(a.r.server.opts.UntilWait, -1), 30*time.Second)
	bounded := true
	if a.r.waits() {
		limit = cmp.Or(a.r.server.opts.AskTimeout, 10*time.Minute)
		bounded = limit > 0
	}
	begun := time.Now()
	for pause := time.Second; ; pause = min(pause*5/4, mostPause) {
		done, err := poll(ctx)
		switch {
		case err != nil:
			return err
		case done:
			return nil
		case bounded && time.Since(begun)+pause > limit:
			return ErrStillOpen
		}
		if err := sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// reopen ends the run with the question that sent the user to the page; without one, with none.
func (a *asker) reopen(ctx context.Context) error {
	if _, err := a.begin(); err != nil {
		return err
	}
	defer a.end(0)
	page := a.visited()
	if page == nil {
		return a.r.suspend(mcp.NeedInput(), a.record(nil))
	}
	a.mu.Lock()
	before := a.answers[page.ordinal].Raw
	a.mu.Unlock()
	a.answered(page.ordinal, nil)
	err := a.put(ctx, []question{*page})
	if !errors.Is(err, ErrSuspended) {
		a.answered(page.ordinal, before)
	}
	return err
}

// arrived tells a client of 2025-11-25 that the user is done with the page. Spec 2025-11-25, client/elicitation,
// "Completion Notifications for URL Mode Elicitation".
func (a *asker) arrived(ctx context.Context) {
	page := a.visited()
	if page == nil || !a.r.in.Codec.Traits().URLElicitation || a.r.in.Codec.Traits().InputRounds {
		return
	}
	raw, _ := jsonrpc.Member(page.params, "elicitationId")
	if id := text(raw); a.r.server.pages.take(id) != nil { // else it has been told, by ElicitationComplete
		a.r.notify(ctx, pageDone(id))
	}
}
