package upstream

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/rialto-mcp/rialto/apps"
	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// MayAsk is what the gateway says of itself where a server is told once, when it is connected, what it may ask: all that can
// be passed on to the client behind a call. Roots are not among it: a server asks for those outside of calls too, so it is told
// of them only where there is an answer to that ([Roots]).
var MayAsk = mcp.ClientCapabilities{
	Elicitation: &mcp.ElicitationCapability{Form: &mcp.Capability{}, URL: &mcp.Capability{}},
	Sampling:    &mcp.SamplingCapability{Tools: &mcp.Capability{}, Context: &mcp.Capability{}},
	Extensions:  map[string]json.RawMessage{apps.Identifier: apps.Host().Settings}, // in words too: each tool has to answer so
}

const (
	// turnWait is how long a call waits for its turn on a connection that takes one at a time.
	turnWait = time.Minute

	// strayWait is how long a server is taken to be at work still on a call that was given up: what it says without saying for
	// whom may belong to that one.
	strayWait = time.Minute
)

// turns says whose turn it is on one connection.
type turns struct {
	turn chan struct{} // of one place: the call whose turn it is, once they come one at a time

	mu     sync.Mutex
	calls  map[*Call]struct{}   // of clients, under way
	ended  chan struct{}        // closed when one of them has ended; nil where nobody waits for that
	single bool                 // they come one at a time
	strays map[string]time.Time // when a call was given up last, by whose it was
}

func newTurns() turns {
	return turns{
		turn: make(chan struct{}, 1), calls: make(map[*Call]struct{}), strays: make(map[string]time.Time),
	}
}

// enter counts a call of a client among those under way, when it is its turn. leave must be told whether it was answered.
func (l *link) enter(ctx context.Context, call *Call) (leave func(answered bool), err error) {
	if l.admit(call) == nil {
		return func(answered bool) { l.leave(call, answered) }, nil
	}
	timer := time.NewTimer(turnWait)
	defer timer.Stop()
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-l.c.Done():
		return nil, mcp.CodeNotConnected
	case <-timer.C:
		return nil, errNoTurn
	}
	for { // those that began when they came side by side are to end first
		ended := l.admit(call)
		if ended == nil {
			return func(answered bool) { l.leave(call, answered); <-l.turn }, nil
		}
		select {
		case <-ended:
			continue
		case <-ctx.Done():
			err = context.Cause(ctx)
		case <-l.c.Done():
			err = mcp.CodeNotConnected
		case <-timer.C:
			err = errNoTurn
		}
		<-l.turn
		return nil, err
	}
}

var errNoTurn = mcp.Errorf(mcp.CodeOverloaded, "it takes one call at a time, since it asks without saying for whom, and the one before has not ended within %s", turnWait)

// admit lets a call begin; where it must wait, it answers what is closed when another has ended.
func (l *link) admit(call *Call) (ended <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.single && len(l.calls) > 0 {
		if l.ended == nil {
			l.ended = make(chan struct{})
		}
		return l.ended
	}
	l.calls[call] = struct{}{}
	return nil
}

func (l *link) leave(call *Call, answered bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.calls, call)
	if l.ended != nil {
		close(l.ended)
		l.ended = nil
	}
	for who, since := range l.strays {
		if time.Since(since) >= strayWait {
			delete(l.strays, who)
		}
	}
	if !answered {
		l.strays[call.Caller.Who] = time.Now()
	}
}

// request answers what the server asks. Over HTTP it comes on the stream of a call. On a pipe it belongs to the only call
// under way; when there are several, or there may be one that was given up, nobody can tell whose it is, and it must not reach
// the wrong client. From the first such request on, calls of clients go one at a time.
func (l *link) request(ctx context.Context, req *client.IncomingRequest) (json.RawMessage, error) {
	if t, ok := req.Tag.(*client.RawTask); ok {
		return l.taskAsks(ctx, t.ID(), req)
	}
	if req.Task != "" {
		return l.taskAsks(ctx, req.Task, req)
	}
	if req.Method == mcp.MethodListRoots {
		return l.listRoots(ctx, req)
	}
	call, _ := req.Tag.(*Call)
	if call == nil {
		var err error
		if call, err = l.asking(); err != nil {
			return nil, err
		}
	}
	if call.OnRequest == nil {
		return nil, mcp.Errorf(mcp.CodeMethodNotFound, "The client behind this call cannot be asked: %s", req.Method)
	}
	return call.OnRequest(ctx, req.Method, req.Params)
}

// asking is the call that a request belongs to which does not say so.
func (l *link) asking() (*Call, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.single = true
	if call := l.only(); call != nil {
		return call, nil
	}
	if len(l.calls) == 1 {
		return nil, mcp.Errorf(mcp.CodeInternal, "The gateway cannot tell which client is asked: a call of another one was given up less than %s ago, and this may belong to it", strayWait)
	}
	return nil, mcp.Errorf(mcp.CodeInternal, "The gateway cannot tell which client is asked: this request belongs to no call, or several calls are under way; from now on they come one at a time")
}

// only is the call under way, where there is one alone and what comes can be about no other. l.mu is held.
func (l *link) only() *Call {
	if len(l.calls) != 1 {
		return nil
	}
	for call := range l.calls {
		for who, since := range l.strays {
			if time.Since(since) < strayWait && (who == "" || who != call.Caller.Who) {
				return nil
			}
		}
		return call
	}
	return nil
}

// notification takes what names no call. A log message on a pipe belongs to the only call under way, like a request.
func (l *link) notification(_ context.Context, method string, params json.RawMessage) {
	switch method {
	case mcp.NotifyTaskStatus:
		raw, _ := jsonrpc.Member(params, "taskId")
		id, _ := jsonrpc.Text(raw)
		l.tellTask(id)
		return
	case mcp.NotifyMessage:
	default:
		return
	}
	l.mu.Lock()
	call := l.only()
	l.mu.Unlock()
	if call != nil && call.OnLog != nil {
		call.OnLog(params)
	}
}
