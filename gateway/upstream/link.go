package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// link is a Conn over package client.
type link struct {
	c *client.Client

	mu    sync.Mutex
	calls map[*Call]struct{} // of clients, under way
}

var (
	_ Conn        = (*link)(nil)
	_ toolChecker = (*link)(nil)
)

// Open makes a Conn of a connection that dial opens with the options it is given: opts with a hook for log messages that
// name no call.
func Open(opts client.Options, dial func(client.Options) (*client.Client, error)) (Conn, error) {
	l := &link{calls: make(map[*Call]struct{})}
	opts.OnNotification = l.notification
	c, err := dial(opts)
	if err != nil {
		return nil, err
	}
	l.c = c
	return l, nil
}

// FromClient makes a Conn of a connection of package client. Log messages that name no call are then lost, since the
// client's hooks are the caller's own.
func FromClient(c *client.Client) Conn { return &link{c: c, calls: make(map[*Call]struct{})} }

func (l *link) Version() string                      { return l.c.ProtocolVersion() }
func (l *link) Capabilities() mcp.ServerCapabilities { return l.c.ServerCapabilities() }
func (l *link) Done() <-chan struct{}                { return l.c.Done() }
func (l *link) Err() error                           { return l.c.Err() }
func (l *link) Close() error                         { return l.c.Close() }

// CheckTool implements toolChecker.
func (l *link) CheckTool(tool json.RawMessage) error { return l.c.CheckTool(tool) }

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
		ResetOnProgress: call.OnProgress != nil,
	}
	if call.Caller != nil {
		o.ClientInfo, o.ClientCapabilities = call.Caller.Info, call.Caller.Capabilities
		if o.ClientCapabilities == nil {
			o.ClientCapabilities = noCapabilities
		}
		defer l.enter(&call)()
	}
	var result *client.RawResult
	var err error
	if call.OnLog == nil {
		o.OnProgress = call.OnProgress
		result, err = l.c.Raw(ctx, call.Method, call.Params, o)
	} else {
		result, err = l.stream(ctx, call, o)
	}
	return answer(result, err)
}

func answer(r *client.RawResult, err error) (*Answer, error) {
	switch {
	case err != nil:
		return nil, err
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

// enter counts a call among those under way.
func (l *link) enter(call *Call) (leave func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls[call] = struct{}{}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.calls, call)
	}
}

// notification takes what names no call. A log message on a pipe belongs to the only call under way; when there are
// several, nobody can tell whose it is, and it must not reach the wrong client.
func (l *link) notification(_ context.Context, method string, params json.RawMessage) {
	if method != mcp.NotifyMessage {
		return
	}
	l.mu.Lock()
	var only *Call
	if len(l.calls) == 1 {
		for call := range l.calls {
			only = call
		}
	}
	l.mu.Unlock()
	if only != nil && only.OnLog != nil {
		only.OnLog(params)
	}
}
