package manager

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// Name is a tool, prompt or resource with the server it belongs to.
type Name struct {
	Server string // in the configuration
	Name   string // by the server; of a resource its address
}

// String writes a qualified name, "server/name". In the server's part '/' and '%' are written %2F and %25, so that every
// name has one spelling and can be read back.
func (n Name) String() string {
	return strings.NewReplacer("%", "%25", "/", "%2F").Replace(n.Server) + "/" + n.Name
}

// ParseName reads what String has written. The name itself may hold further slashes.
func ParseName(text string) (Name, error) {
	server, name, ok := strings.Cut(text, "/")
	plain, err := url.PathUnescape(server)
	n := Name{plain, name}
	if !ok || err != nil || server == "" || n.String() != text {
		return Name{}, fmt.Errorf("%.80q is no qualified name; write the server, a slash, and the name", text)
	}
	return n, nil
}

// Retry says when a call that has failed on the way may be repeated.
type Retry uint8

// The ways to repeat.
const (
	RetrySafe   Retry = iota // where it was certainly not begun, or is known to do no harm; see [Manager.Call]
	RetryNever               // not at all
	RetryAlways              // also where the server may have done it already: the caller knows that this does no harm
)

// CallOptions adjusts one call. The zero value means the defaults.
type CallOptions struct {
	client.CallOptions
	Retry Retry
}

// UnknownOutcomeError is a call whose answer was lost, and which was not repeated since the server may have done it.
type UnknownOutcomeError struct {
	Server string
	What   string // that was asked for
	Reason string // of the loss; secrets of the configuration are masked
	err    error
}

func (e *UnknownOutcomeError) Error() string {
	return fmt.Sprintf("server %q: %s got no answer: %s; whether it was done is not known, so it was not repeated", e.Server, e.What, e.Reason)
}

// Unwrap answers what failed.
func (e *UnknownOutcomeError) Unwrap() error { return e.err }

// Call calls a tool. Arguments and result are those of [client.Client.CallTool].
//
// It fails with *DownError while the server cannot be reached, and with *OpenError while its breaker is open; nothing was sent
// then. A call that fails on the way is repeated, up to Options.Retries times, when it was certainly not begun; and when its
// connection was lost, if the tool says that it only reads or may be repeated and Options.TrustHints believes the server, or
// if the caller says so. Otherwise it fails with *UnknownOutcomeError. A call that has run out of time is never repeated.
func (m *Manager) Call(ctx context.Context, tool Name, args any, opts ...CallOptions) (*mcp.CallToolResult, error) {
	b, err := m.member(tool.Server)
	if err != nil {
		return nil, err
	}
	if b.hides(tool.Name) {
		return nil, errors.Join(ErrNotRun, mcp.InvalidParams("server %q has no tool %.80q", tool.Server, tool.Name))
	}
	var result *mcp.CallToolResult
	safe := func() bool { return b.harmless(tool.Name) }
	err = b.call(ctx, fmt.Sprintf("tool %.80q", tool.Name), safe, first(opts), func(ctx context.Context, c *client.Client, o client.CallOptions) (err error) {
		result, err = c.CallTool(ctx, tool.Name, args, o)
		return err
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

// ReadResource reads a resource of a server. Reading is safe to repeat.
func (m *Manager) ReadResource(ctx context.Context, resource Name, opts ...CallOptions) (*mcp.ReadResourceResult, error) {
	b, err := m.member(resource.Server)
	if err != nil {
		return nil, err
	}
	var result *mcp.ReadResourceResult
	err = b.call(ctx, fmt.Sprintf("resource %.80q", resource.Name), always, first(opts), func(ctx context.Context, c *client.Client, o client.CallOptions) (err error) {
		result, err = c.ReadResource(ctx, resource.Name, o)
		return err
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

// GetPrompt fills in a prompt of a server. That is safe to repeat.
func (m *Manager) GetPrompt(ctx context.Context, prompt Name, args map[string]string, opts ...CallOptions) (*mcp.GetPromptResult, error) {
	b, err := m.member(prompt.Server)
	if err != nil {
		return nil, err
	}
	var result *mcp.GetPromptResult
	err = b.call(ctx, fmt.Sprintf("prompt %.80q", prompt.Name), always, first(opts), func(ctx context.Context, c *client.Client, o client.CallOptions) (err error) {
		result, err = c.GetPrompt(ctx, prompt.Name, args, o)
		return err
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

// Do runs f with the connection of a server, behind its breaker, and again where retry allows it. f should make one call and
// return its error.
func (m *Manager) Do(ctx context.Context, server string, retry Retry, f func(ctx context.Context, c *client.Client) error) error {
	b, err := m.member(server)
	if err != nil {
		return err
	}
	return b.call(ctx, "a call", func() bool { return false }, CallOptions{Retry: retry},
		func(ctx context.Context, c *client.Client, _ client.CallOptions) error { return f(ctx, c) })
}

func first(opts []CallOptions) CallOptions {
	if len(opts) == 0 {
		return CallOptions{}
	}
	return opts[0]
}

func always() bool { return true }

// harmless tells whether a tool is known to do no harm when it is called twice.
func (b *member) harmless(tool string) bool {
	if b.m.opts.TrustHints == nil || !b.m.opts.TrustHints(b.server()) {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	hints := b.trust[tool]
	return hints.ReadOnly() || hints.Idempotent()
}

func (b *member) call(ctx context.Context, what string, safe func() bool, o CallOptions, f func(context.Context, *client.Client, client.CallOptions) error) error {
	a := attempt{what: what, safe: safe, retries: b.m.opts.Retries}
	switch o.Retry {
	case RetryNever:
		a.retries = -1
	case RetryAlways:
		a.safe = always
	}
	return b.do(ctx, a, func(ctx context.Context, c *client.Client) error { return f(ctx, c, o.CallOptions) })
}

// attempt is how a call may be repeated.
type attempt struct {
	what    string
	safe    func() bool // tells whether it does no harm when it is done twice
	retries int         // negative for none
}

// do makes a call, and makes it again where that is safe.
func (b *member) do(ctx context.Context, a attempt, f func(context.Context, *client.Client) error) error {
	leave, err := b.enter()
	if err != nil {
		return err
	}
	defer leave()
	select {
	case <-b.keeper.Tried():
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	c, err := b.keeper.Conn()
	if err != nil {
		if b.keeper.Status().State != Connecting {
			return err
		}
		if c, err = b.keeper.Next(ctx, nil); err != nil {
			return err
		}
	}
	for try := 0; ; try++ {
		err := b.once(ctx, c, f)
		if err == nil || ctx.Err() != nil {
			return b.own(ctx, err)
		}
		untaken := NotTaken(err)
		switch {
		case isRefusal(err) || !isUnhealthy(err) && !untaken:
			return err // an answer, or a refusal
		case errors.Is(err, mcp.CodeRequestTimeout), !untaken && !a.safe():
			return b.unknown(a, err)
		case try >= a.retries:
			if untaken {
				return err
			}
			return b.unknown(a, err)
		}
		next, failed := b.again(ctx, c, try)
		switch {
		case failed != nil && untaken:
			return fmt.Errorf("%w (before: %w)", failed, err)
		case failed != nil:
			return b.unknown(a, err)
		}
		c = next
	}
}

// own gives the error of a context its cause.
func (b *member) own(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		return context.Cause(ctx)
	}
	return err
}

func (b *member) unknown(a attempt, err error) error {
	return &UnknownOutcomeError{Server: b.name, What: a.what, Reason: b.keeper.Reason(err), err: err}
}

// once makes one call behind the breaker.
func (b *member) once(ctx context.Context, c *client.Client, f func(context.Context, *client.Client) error) error {
	done, err := b.breaker.Allow()
	if err != nil {
		return fmt.Errorf("server %q: %w", b.name, err)
	}
	outcome := Unknown
	defer func() { done(outcome) }() // also when f panics
	err = f(ctx, c)
	outcome = weigh(ctx, err)
	if outcome == Unhealthy {
		b.mu.Lock()
		b.last = b.keeper.Reason(err)
		b.mu.Unlock()
	}
	if err != nil {
		b.keeper.Doubt(c, err)
	}
	return err
}

// again waits for a connection to repeat a call on. It is another one, unless the old one is still good.
func (b *member) again(ctx context.Context, old *client.Client, try int) (*client.Client, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, b.m.opts.RetryWait, &DownError{b.name, "it has not come back in time"})
	defer cancel()
	pause := time.NewTimer(client.Restart{First: 100 * time.Millisecond, Longest: time.Second}.Pause(try + 1))
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	return b.keeper.await(ctx)
}

// await waits for a connection, also across failed attempts.
func (k *Keeper[C]) await(ctx context.Context) (C, error) {
	for {
		k.mu.Lock()
		conn, up, state, moved, down := k.conn, k.up, k.state, k.moved, k.down()
		k.mu.Unlock()
		var none C
		switch {
		case up:
			return conn, nil
		case state.State != Connecting && (state.Retry == 0 || state.State == NeedsAuthorization):
			return none, down
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return none, context.Cause(ctx)
		case <-k.ctx.Done():
			return none, down
		}
	}
}

// isRefusal tells of what was not sent and would not be sent again.
func isRefusal(err error) bool {
	var open *OpenError
	return errors.As(err, &open) || errors.Is(err, client.ErrUnauthorized)
}

// weigh says what a call tells of the health of its server. A tool that fails is no failure of the server, and neither is a
// caller that gives up; one that sets a time limit and gets no answer within it is.
func weigh(ctx context.Context, err error) Outcome {
	switch {
	case err == nil:
		return Answered
	case errors.Is(ctx.Err(), context.Canceled):
		return Unknown
	case ctx.Err() != nil, isUnhealthy(err):
		return Unhealthy
	}
	var fault *mcp.Error
	var status *transport.StatusError
	if errors.As(err, &fault) && fault.Remote || errors.As(err, &status) || errors.Is(err, client.ErrUnauthorized) || errors.Is(err, mcp.CodeInvalidResult) {
		return Answered
	}
	return Unknown
}

// isUnhealthy tells whether a call failed on the way: no answer in time, or none at all.
func isUnhealthy(err error) bool {
	var fault *mcp.Error
	var status *transport.StatusError
	var network net.Error
	switch {
	case errors.As(err, &fault) && fault.Remote:
		return false
	case errors.As(err, &status):
		return status.Status >= http.StatusInternalServerError || status.Status == http.StatusTooManyRequests
	case errors.Is(err, mcp.CodeRequestTimeout), errors.Is(err, mcp.CodeConnectionClosed), errors.Is(err, mcp.CodeNotConnected):
		return true
	}
	return errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}
