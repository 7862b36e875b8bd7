package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
)

// Call sends a request to a server. While the server is being connected it waits for that; a server that is down fails at once,
// with *manager.DownError, and one that does not answer with *manager.OpenError. A call that the server has certainly not
// taken is repeated on a new connection. One whose answer was lost is repeated where that does no harm: when it only reads,
// or calls a tool of a trusted server that may be repeated by its hints. See [manager.Keeper.Do] for the other errors.
//
// A read is answered from what is kept where the server said that it may be, by [Tuning].
func (s *Set) Call(ctx context.Context, name string, call Call) (*Answer, error) {
	if call.isRead() {
		return s.read(ctx, name, call)
	}
	return s.ask(ctx, name, call)
}

// read makes a call that may be answered from what is kept.
func (s *Set) read(ctx context.Context, name string, call Call) (*Answer, error) {
	u := s.find(name)
	if u == nil {
		return s.ask(ctx, name, call)
	}
	return u.cache.do(ctx, call, u.reader(call.Caller), func(ctx context.Context) (*Answer, error) { return s.ask(ctx, name, call) })
}

// reader names whom an answer may be kept for that is not for everybody: the owner of the connection that it comes over, or else
// the principal, or the client; "" for nobody that is known.
func (u *upstream) reader(c *Caller) string {
	if c == nil {
		return ""
	}
	if owner := u.owner(c); owner != nil {
		return owner.key
	}
	return whoIs(c)
}

// ask sends a request to a server, when it is its turn.
func (s *Set) ask(ctx context.Context, name string, call Call) (*Answer, error) {
	if call.Caller == nil || call.frees() {
		return s.send(ctx, name, call)
	}
	for {
		u := s.find(name)
		if u == nil {
			return s.send(ctx, name, call)
		}
		if err := u.gate.enter(ctx, call.Caller); err != nil {
			return nil, err
		}
		if s.find(name) == u {
			return s.gatedSend(ctx, u.gate, name, call)
		}
		u.gate.leave() // a reload came between: another has its place, and turns of its own
	}
}

// frees tells whether a call is one of those by which places become free: it ends what the server is at work on, or brings an answer
// that it waits for. Such a one needs no place, or it would wait for itself.
func (c *Call) frees() bool {
	return c.Ahead || c.Method == mcp.MethodCancelTask || c.Method == mcp.MethodUpdateTask
}

func (s *Set) gatedSend(ctx context.Context, g *gate, name string, call Call) (*Answer, error) {
	defer g.leave() // also when a hook of the call panics
	return s.send(ctx, name, call)
}

// whoIs tells callers apart that wait for a server; all that nobody can tell apart are one.
func whoIs(c *Caller) string {
	if key := c.Principal.Key(); key != "" {
		return key
	}
	return c.Who
}

// send sends a request to a server.
func (s *Set) send(ctx context.Context, name string, call Call) (*Answer, error) {
	for {
		u, leave, err := s.enter(name, call.Caller)
		if err != nil {
			return nil, err
		}
		answer, err := u.enteredCall(ctx, call, leave)
		switch {
		case err == nil:
			return answer, nil
		case errors.Is(err, manager.ErrUnknownServer) && u.left(): // a reload came between: another has its place now
			continue
		}
		return nil, &failed{u, err}
	}
}

// enteredCall is call for as long as which the connection is needed.
func (u *upstream) enteredCall(ctx context.Context, call Call, leave func()) (*Answer, error) {
	defer leave()
	return u.call(ctx, call)
}

func (u *upstream) call(ctx context.Context, call Call) (*Answer, error) {
	var answer *Answer
	var asked atomic.Bool // a client is not asked twice for one call
	if ask := call.OnRequest; ask != nil {
		call.OnRequest = func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
			asked.Store(true)
			return ask(ctx, method, params)
		}
	}
	limits := u.set.limits.Load()
	call.Timeout, call.Total = limits.Call, limits.Total
	if own := u.server().Timeout; own > 0 {
		call.Timeout = own
	}
	method, params := call.Method, call.Params // for what outlives this function, so that the call itself is not copied for it
	a := manager.Attempt{What: method, Safe: func() bool { return !asked.Load() && u.harmless(method, params) }}
	err := u.keeper.Do(ctx, a, func(ctx context.Context, conn Conn) (err error) {
		if answer, err = conn.Call(ctx, call); err == nil {
			u.answered.now()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// failed is an error of a call, with the server that it was made of: one of another entry may have the name by now.
type failed struct {
	u   *upstream
	err error
}

func (f *failed) Error() string { return f.err.Error() }
func (f *failed) Unwrap() error { return f.err }

// Reason says why a call of a server failed, in words that are fit for a client.
func (s *Set) Reason(name string, err error) string {
	var f *failed
	if errors.As(err, &f) {
		return f.u.keeper.Reason(f.err)
	}
	if u := s.find(name); u != nil {
		return u.keeper.Reason(err)
	}
	return err.Error()
}

// harmless tells whether a call does no harm when it is made twice.
func (u *upstream) harmless(method string, params json.RawMessage) bool {
	if method != mcp.MethodCallTool {
		return slices.Contains(readers, method)
	}
	if !u.set.opts.TrustHints(u.server()) {
		return false
	}
	raw, _ := jsonrpc.Member(params, "name")
	name, _ := jsonrpc.Text(raw)
	u.mu.Lock()
	defer u.mu.Unlock()
	i := slices.IndexFunc(u.lists.Tools, func(tool Item) bool { return tool.Key == name })
	if i < 0 {
		return false
	}
	var tool struct {
		Annotations *mcp.ToolAnnotations `json:"annotations"`
	}
	err := json.Unmarshal(u.lists.Tools[i].Raw, &tool)
	return err == nil && (tool.Annotations.ReadOnly() || tool.Annotations.Idempotent())
}

// readers are the requests that change nothing when they come twice.
var readers = []string{
	mcp.MethodListTools, mcp.MethodListPrompts, mcp.MethodListResources, mcp.MethodListResourceTemplates,
	mcp.MethodReadResource, mcp.MethodGetPrompt, mcp.MethodComplete, mcp.MethodGetTask, mcp.MethodUpdateTask,
}
