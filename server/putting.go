package server

import (
	"context"

	"github.com/rialto-mcp/rialto/internal/seal"
	"github.com/rialto-mcp/rialto/mcp"
)

// put asks the client: at once where its revision has requests for that, else by ending the run. What cannot be put takes no
// place: a handler may go on without the answer, and does the same in the next run.
func (a *asker) put(ctx context.Context, open []question) error {
	ask := mcp.NeedInput()
	for _, q := range open {
		ask = ask.Ask(q.key(), q.method, q.params)
	}
	if err := a.r.server.canPut(a.r, ask); err != nil {
		return err
	}
	if err := a.r.refusePages(ask.Requests); err != nil {
		return err
	}
	for _, q := range open {
		if err := a.place(&q, nil); err != nil {
			return err
		}
	}
	switch {
	case !a.r.waits():
		return a.r.suspend(ask, a.record(open))
	case a.r.line != nil:
		return a.park(ctx, open, ask.Requests)
	}
	a.r.rememberPages(ask.Requests)
	return a.send(ctx, open)
}

// park asks by the line of a task. An answer that does not fit is none: it is asked again, which the line does under a key of
// its own.
func (a *asker) park(ctx context.Context, open []question, questions mcp.InputRequests) error {
	a.sent()
	answers, err := a.r.park(ctx, questions)
	if err != nil {
		return err
	}
	for _, q := range open {
		if raw, ok := answers[q.key()]; ok {
			a.answered(q.ordinal, raw)
		}
	}
	return nil
}

// sent counts a round of questions.
func (a *asker) sent() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.rounds++
}

// send asks a legacy client by requests on the stream of its call. An answer that does not fit is none: it is asked again.
func (a *asker) send(ctx context.Context, open []question) error {
	a.sent()
	ctx, stop := a.r.within(ctx)
	defer stop()
	answers, err := a.r.askNow(ctx, open)
	if err != nil {
		return err
	}
	for i, q := range open {
		if err := checkAnswer(remembered(mcp.InputRequest{Method: q.method, Params: q.params}), answers[i]); err != nil {
			a.r.server.dropped(a.r, q.key(), err)
			continue
		}
		a.answered(q.ordinal, answers[i])
	}
	return nil
}

// record is what the next run has to know, with these questions open.
func (a *asker) record(open []question) *seal.Record {
	record := a.r.nextRecord()
	record.ByCall = true
	if a.r.record != nil {
		record.State = a.r.record.State
	}
	kept := a.r.InputResponses()
	for _, key := range kept.Keys() {
		record.Kept = append(record.Kept, seal.Answer{Name: key, Raw: kept[key]})
	}
	for _, q := range open {
		record.Asked = append(record.Asked, seal.Question{Key: q.key(), Request: remembered(mcp.InputRequest{Method: q.method, Params: q.params})})
	}
	return record
}
