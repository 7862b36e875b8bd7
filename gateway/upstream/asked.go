package upstream

import (
	"context"
	"encoding/json"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
)

// MayAsk is what the gateway says of itself where a server is told once, when it is connected, what it may ask: all that can
// be passed on to the client behind a call. Roots are not among it: a server asks for those outside of calls too, and nobody
// could tell whose it wants.
var MayAsk = mcp.ClientCapabilities{
	Elicitation: &mcp.ElicitationCapability{Form: &mcp.Capability{}, URL: &mcp.Capability{}},
	Sampling:    &mcp.SamplingCapability{Tools: &mcp.Capability{}, Context: &mcp.Capability{}},
}

// turnWait is how long a call waits for its turn on a connection that takes one at a time.
const turnWait = time.Minute

// enter counts a call of a client among those under way, when it is its turn.
func (l *link) enter(ctx context.Context, call *Call) (leave func(), err error) {
	single := l.single.Load()
	if single {
		if err := l.await(ctx); err != nil {
			return nil, err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls[call] = struct{}{}
	return func() {
		l.mu.Lock()
		delete(l.calls, call)
		l.mu.Unlock()
		if single {
			<-l.turn
		}
	}, nil
}

func (l *link) await(ctx context.Context) error {
	timer := time.NewTimer(turnWait)
	defer timer.Stop()
	select {
	case l.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-l.c.Done():
		return mcp.CodeNotConnected
	case <-timer.C:
		return mcp.Errorf(mcp.CodeOverloaded, "it takes one call at a time, since it asks without saying for whom, and the one before has not ended within %s", turnWait)
	}
}

// request answers what the server asks. Over HTTP it comes on the stream of a call. On a pipe it belongs to the only call
// under way; when there are several nobody can tell whose it is, and it must not reach the wrong client. From the first such
// request on, calls of clients go one at a time.
func (l *link) request(ctx context.Context, req *client.IncomingRequest) (json.RawMessage, error) {
	call, _ := req.Tag.(*Call)
	if call == nil {
		l.single.Store(true)
		if call = l.only(); call == nil {
			return nil, mcp.Errorf(mcp.CodeInternal, "The gateway cannot tell which client is asked: this request belongs to no call, or several calls are under way; from now on they come one at a time")
		}
	}
	if call.OnRequest == nil {
		return nil, mcp.Errorf(mcp.CodeMethodNotFound, "The client behind this call cannot be asked: %s", req.Method)
	}
	return call.OnRequest(ctx, req.Method, req.Params)
}

// only is the call under way, where there is one alone.
func (l *link) only() *Call {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.calls) != 1 {
		return nil
	}
	for call := range l.calls {
		return call
	}
	return nil
}

// notification takes what names no call. A log message on a pipe belongs to the only call under way; when there are
// several, nobody can tell whose it is, and it must not reach the wrong client.
func (l *link) notification(_ context.Context, method string, params json.RawMessage) {
	if method != mcp.NotifyMessage {
		return
	}
	if call := l.only(); call != nil && call.OnLog != nil {
		call.OnLog(params)
	}
}
