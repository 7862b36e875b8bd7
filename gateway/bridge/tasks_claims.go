package bridge

import (
	"context"

	"github.com/rialto-mcp/rialto/mcp"
)

// Who waits for tasks, and who puts their questions to clients.

// claim is one question of a task. Callers with connections of their own may have tasks of the same id, so it says whose.
type claim struct {
	of  taskRef
	who string // the key of the principal; "" for nobody that is known
	key string
}

// watch is filled when a task may have changed, until stop.
func (f *follows) watch(ref taskRef) (news <-chan struct{}, stop func()) {
	ref.Tool = "" // the server does not tell it
	ch := make(chan struct{}, 1)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.waiters[ref] == nil {
		f.waiters[ref] = make(map[chan struct{}]struct{})
	}
	f.waiters[ref][ch] = struct{}{}
	return ch, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.waiters[ref], ch)
		if len(f.waiters[ref]) == 0 {
			delete(f.waiters, ref)
		}
	}
}

// wake says that a task may have changed.
func (f *follows) wake(ref taskRef) {
	ref.Tool = ""
	f.mu.Lock()
	defer f.mu.Unlock()
	for ch := range f.waiters[ref] {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}

// claim takes a question of a task, to put it to a client; false when somebody else does.
func (f *follows) claim(c claim) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.claims[c] {
		return false
	}
	f.claims[c] = true
	return true
}

func (f *follows) release(c claim) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.claims, c)
}

// until ends a wait with the server's shutdown.
func (f *follows) until(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(f.life, func() { cancel(mcp.Errorf(mcp.CodeInternal, "the gateway is shutting down; ask again for the result")) })
	return ctx, func() { stop(); cancel(nil) }
}
