package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/rialto-mcp/rialto/internal/pipe"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// ErrUnauthorized is what every [*AuthError] unwraps to.
var ErrUnauthorized = errors.New("the server wants authorization")

// AuthError is an HTTP answer by which a server demands authorization (401), or more of it (403). It says nothing about
// the era of the server.
type AuthError struct {
	Server    string // scheme and host of its address
	Status    int    // 401 or 403
	Challenge string // the header WWW-Authenticate, as it came; may be empty
	Static    bool   // the request carried the Authorization header of Options.Headers
}

// Error implements error. The challenge may be long and is left out.
func (e *AuthError) Error() string {
	if e.Static {
		return fmt.Sprintf("%s answered with HTTP status %d: the server refuses the Authorization header of Options.Headers", e.Server, e.Status)
	}
	return fmt.Sprintf("%s answered with HTTP status %d: %s; send credentials it accepts, for example by Options.Headers", e.Server, e.Status, ErrUnauthorized)
}

// Unwrap answers ErrUnauthorized.
func (e *AuthError) Unwrap() error { return ErrUnauthorized }

// authError answers the AuthError of a server that err stands for, nil when it stands for none.
func authError(err error, server string) error {
	var status *transport.StatusError
	if !errors.As(err, &status) || !status.Refused() {
		return nil
	}
	auth := &AuthError{Server: server, Status: status.Status, Static: status.Authorized}
	if status.Header != nil {
		auth.Challenge = status.Header("WWW-Authenticate")
	}
	return auth
}

// explain gives a failure of the wire its local code. Errors of the context and those that have a code stay as they are.
func (w *wire) explain(ctx context.Context, err error) error {
	if w.unsent(err) {
		return w.unsentWhy(ctx, err)
	}
	if auth := authError(err, w.name); auth != nil {
		return auth
	}
	var coded *mcp.Error
	var cut *transport.CutError
	var frame *transport.FrameError
	var status *transport.StatusError
	switch {
	case errors.As(err, &coded):
		return err
	case errors.As(err, &frame) && frame.Limit > 0:
		return mcp.Errorf(mcp.CodeMessageTooLarge, "%w", err)
	case errors.As(err, &frame):
		return mcp.Errorf(mcp.CodeInvalidResult, "%w; whether the server has done the work is not known", err)
	case errors.As(err, &cut) && authError(cut.Why, w.name) != nil:
		return mcp.Errorf(mcp.CodeConnectionClosed, "%v, and to go on, %v; whether the server has done the work is not known", transport.ErrCut, authError(cut.Why, w.name))
	case errors.Is(err, transport.ErrCut):
		return mcp.Errorf(mcp.CodeConnectionClosed, "%w; whether the server has done the work is not known", err)
	case errors.Is(err, transport.ErrClosed):
		return closedHere(err)
	case errors.As(err, &status) && (status.SessionGone || status.Status == http.StatusNotFound && w.sessionID() != ""):
		return mcp.Errorf(mcp.CodeConnectionClosed, "the server no longer knows this session (%w)", err)
	}
	return err
}

// closedHere is the end of a connection that this side has closed.
func closedHere(err error) error {
	return mcp.Errorf(mcp.CodeConnectionClosed, "connection closed: the client was closed").Because(err)
}

// unsent tells whether a request failed because it could not be written to a pipe. One that could not be made is no such
// failure, nor one that the caller or this side has ended.
func (w *wire) unsent(err error) bool {
	var write *pipe.WriteError
	var frame *transport.FrameError
	switch {
	case w.posts, isContext(err), errors.As(err, &frame), errors.Is(err, transport.ErrClosed):
		return false
	}
	return errors.As(err, &write)
}

// unsentWhy tells why. A server that goes may stop reading before its output ends: what it says at its end, which comes a
// moment later, is the better story.
func (w *wire) unsentWhy(ctx context.Context, err error) error {
	const moment = 500 * time.Millisecond
	ctx, cancel := context.WithTimeout(ctx, moment)
	defer cancel()
	if w.awaitEnd(ctx) == nil || w.ending.Load() && w.awaitEnd(context.WithoutCancel(ctx)) == nil { // which takes stdio.LastWords at most
		return w.why
	}
	return mcp.Errorf(mcp.CodeConnectionClosed, "the request could not be sent: %w", err)
}

// plain is an error with a text of its own.
type plain struct {
	text string
	err  error
}

func (e *plain) Error() string { return e.text }
func (e *plain) Unwrap() error { return e.err }

// plainly is an error without the name of its code, for a sentence that says as much.
func plainly(err error) error {
	if coded, ok := err.(*mcp.Error); ok && !coded.Remote && coded.Message != "" { //nolint:errorlint // the text of what wraps it stays
		return &plain{coded.Message, err}
	}
	return err
}

// unreached says why a connection was not opened, where nothing has answered; nil where something has.
func unreached(name, again string, err error) error {
	var reach *transport.ReachError
	if !errors.As(err, &reach) {
		return nil
	}
	text, hint := reach.Why(), ""
	var dial *net.OpError
	if errors.As(reach.Err, &dial) && dial.Op == "dial" {
		hint = "; check the address, and that the server runs"
	}
	return &plain{fmt.Sprintf("connect to %s%s: %s%s", name, again, text, hint), err}
}
