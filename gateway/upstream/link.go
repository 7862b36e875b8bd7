package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/skills"
)

// link is a Conn over package client.
type link struct {
	c *client.Client
	turns

	roots       func() []mcp.Root // of now; nil where the server is not told of any
	offersRoots bool              // it was told, at its handshake
	streams     bool              // each call has a stream of its own
	rootsNews   time.Time         // when it was told last that they have changed; guarded by mu

	watching sync.Mutex           // of those who change watch
	watch    *client.Subscription // of the resources that are watched; nil for none
	reading  sync.WaitGroup       // of those who read it

	tasks taskBook

	release func() error // of what the connection has used
}

var (
	_ Conn        = (*link)(nil)
	_ toolChecker = (*link)(nil)
	_ pinger      = (*link)(nil)
	_ stateful    = (*link)(nil)
)

// Open makes a Conn of a connection that dial opens with the options it is given: opts with a hook for log messages that
// name no call, and one for what the server asks.
func Open(opts client.Options, dial func(client.Options) (*client.Client, error)) (Conn, error) {
	return OpenWith(opts, OpenOptions{}, dial)
}

// OpenOptions is what else there is to say of one connection. The zero value is ready to use.
type OpenOptions struct {
	// Roots gives the roots that the server is told of where no client can say; nil for none. It is asked at the handshake
	// whether there are any, and again whenever the server asks. Nil means that there are none.
	Roots func() []mcp.Root

	// Streams says that each call has a stream of its own, so that a request of the server on no such stream belongs to no call.
	Streams bool

	// Release is called once the connection is closed, or could not be opened. Nil does nothing.
	Release func() error
}

// OpenWith is Open with more to say.
func OpenWith(opts client.Options, o OpenOptions, dial func(client.Options) (*client.Client, error)) (Conn, error) {
	l := newLink()
	if o.Roots != nil {
		l.roots = o.Roots
	}
	l.streams = o.Streams
	opts.Capabilities = l.capabilities()
	opts.OnNotification, opts.OnRequest = l.notification, l.request
	opts.Extensions = append(slices.Clone(opts.Extensions), skills.Extension()) // for its methods; no client declares it
	opts.Tasks = true                                                           // those of clients; a call that takes none says so
	if o.Release != nil {
		l.release = sync.OnceValue(o.Release)
	}
	c, err := dial(opts)
	if err != nil {
		return nil, errors.Join(err, l.release())
	}
	l.c = c
	return l, nil
}

// FromClient makes a Conn of a connection of package client. Log messages that name no call are then lost, since the
// client's hooks are the caller's own, and no call can be asked anything.
func FromClient(c *client.Client) Conn {
	l := newLink()
	l.c = c
	return l
}

func newLink() *link {
	return &link{turns: newTurns(), tasks: newTaskBook(), roots: func() []mcp.Root { return nil }, release: func() error { return nil }}
}

func (l *link) Version() string                      { return l.c.ProtocolVersion() }
func (l *link) Capabilities() mcp.ServerCapabilities { return l.c.ServerCapabilities() }
func (l *link) Done() <-chan struct{}                { return l.c.Done() }
func (l *link) Err() error                           { return l.c.Err() }
func (l *link) Stateful() bool                       { return l.c.Stateful() }

// Close implements Conn.
func (l *link) Close() error {
	err := l.c.Close()
	l.reading.Wait() // it has ended with the client
	return errors.Join(err, l.release())
}

// CheckTool implements toolChecker.
func (l *link) CheckTool(tool json.RawMessage) error { return l.c.CheckTool(tool) }

// Ping implements pinger.
func (l *link) Ping(ctx context.Context) error {
	err := l.c.Ping(ctx, client.CallOptions{Timeout: -1, Total: -1}) // ctx has the limit
	var fault *mcp.Error
	if errors.As(err, &fault) && fault.Remote {
		return nil
	}
	return err
}

// Busy implements pinger.
func (l *link) Busy() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.calls) > 0
}

// OnChange implements Conn.
func (l *link) OnChange(fn func(Kinds)) {
	caps := l.c.ServerCapabilities()
	if caps.Tools != nil && caps.Tools.ListChanged {
		l.c.OnToolsChange(func() { fn(Tools) })
	}
	if caps.Prompts != nil && caps.Prompts.ListChanged {
		l.c.OnPromptsChange(func() { fn(Prompts) })
	}
	if caps.Resources != nil && caps.Resources.ListChanged {
		l.c.OnResourcesChange(func() { fn(Resources | Templates) })
	}
}

// noCapabilities is what a server is told of a caller that cannot be asked anything.
var noCapabilities = json.RawMessage("{}")

// Call implements Conn.
func (l *link) Call(ctx context.Context, call Call) (*Answer, error) {
	o := client.RawOptions{
		LogLevel: call.LogLevel, InputResponses: call.InputResponses, RequestState: call.RequestState,
		Task: call.Task, OnTaskProgress: call.OnTaskProgress,
		Timeout: call.Timeout, Total: call.Total, ResetOnProgress: call.OnProgress != nil, Tag: &call,
	}
	if call.Caller != nil {
		o.ClientInfo, o.ClientCapabilities = call.Caller.Info, call.Caller.Capabilities
		if o.ClientCapabilities == nil {
			o.ClientCapabilities = noCapabilities
		}
	}
	if isTaskMethod(call.Method) {
		return l.taskCall(ctx, call, o)
	}
	if call.Caller != nil {
		leave, err := l.enter(ctx, &call)
		if err != nil {
			return nil, err
		}
		answered := false
		defer func() { leave(answered) }() // also when one of the hooks panics
		result, err := l.send(ctx, call, o)
		var fault *mcp.Error
		answered = err == nil || errors.As(err, &fault) && fault.Remote
		return answer(result, err)
	}
	return answer(l.send(ctx, call, o))
}

func (l *link) send(ctx context.Context, call Call, o client.RawOptions) (*client.RawResult, error) {
	if call.OnLog == nil {
		o.OnProgress = call.OnProgress
		return l.c.Raw(ctx, call.Method, call.Params, o)
	}
	return l.stream(ctx, call, o)
}

func answer(r *client.RawResult, err error) (*Answer, error) {
	switch {
	case err != nil:
		return nil, err
	case r.ResultType == mcp.ResultTask:
		return &Answer{Task: r.Result}, nil
	case r.ResultType != "":
		return nil, mcp.Errorf(mcp.CodeUnsupportedResultType, "it answers with a result of an extension (%q), which cannot be passed on yet", r.ResultType)
	case r.Input != nil:
		return &Answer{InputRequests: r.Input.Requests, RequestState: r.Input.State}, nil
	}
	return &Answer{Result: r.Result, Cache: r.Cache}, nil
}

// stream makes a call and hands over what comes before its answer.
func (l *link) stream(ctx context.Context, call Call, o client.RawOptions) (*client.RawResult, error) {
	s, err := l.c.Start(ctx, call.Method, withToken(call.Params, call.OnProgress != nil), o)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	for {
		m, err := s.Next(ctx)
		switch {
		case errors.Is(err, io.EOF):
			return s.Result()
		case err != nil:
			return nil, err
		case m.Method == mcp.NotifyProgress && call.OnProgress != nil:
			call.OnProgress(m.Params)
		case m.Method == mcp.NotifyMessage:
			call.OnLog(m.Params)
		}
	}
}

// withToken asks for progress in params, or not. The token itself is replaced on the way.
func withToken(params json.RawMessage, wanted bool) json.RawMessage {
	meta, _ := jsonrpc.Member(params, "_meta")
	if len(meta) > 0 && meta[0] != '{' {
		return params
	}
	_, has := jsonrpc.Member(meta, mcp.MetaProgressToken)
	switch {
	case has == wanted:
		return params
	case wanted:
		return jsonrpc.With(nil, params, "_meta", jsonrpc.With(nil, meta, mcp.MetaProgressToken, []byte("0")))
	}
	return jsonrpc.With(nil, params, "_meta", jsonrpc.Without(meta, mcp.MetaProgressToken))
}
