package server

import (
	"context"
)

// life is the context of a run that may end before its request does: with a question to a modern client. It is made when
// somebody waits for its end, or when that comes.
type life struct {
	context.Context
	end context.CancelCauseFunc
}

// mayEnd tells whether the run can end with a question.
func (r *Request) mayEnd() bool {
	return r.in.Row != nil && r.in.Row.MultiRound && r.in.Codec.Traits().InputRounds
}

func (r *Request) living() *life {
	if l := r.life.Load(); l != nil {
		return l
	}
	l := &life{}
	l.Context, l.end = context.WithCancelCause(r.ctx)
	if !r.life.CompareAndSwap(nil, l) {
		l.end(nil)
		return r.life.Load()
	}
	return l
}

// running is the context that the run goes on under.
func (r *Request) running() context.Context {
	if l := r.life.Load(); l != nil {
		return l
	}
	return r.ctx
}
