package client

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// ErrUnauthorized is what every [*AuthError] unwraps to.
var ErrUnauthorized = errors.New("the server wants authorization")

// AuthError is an HTTP answer by which a server demands authorization (401), or more of it (403). It says nothing about
// the era of the server.
type AuthError struct {
	Status    int    // 401 or 403
	Challenge string // the header WWW-Authenticate, as it came; may be empty
	Static    bool   // the request carried the Authorization header of Options.Headers
}

// Error implements error. The challenge may be long and is left out.
func (e *AuthError) Error() string {
	if e.Static {
		return fmt.Sprintf("HTTP status %d: the server refuses the Authorization header of Options.Headers", e.Status)
	}
	return fmt.Sprintf("HTTP status %d: %s; send credentials it accepts, for example by Options.Headers", e.Status, ErrUnauthorized)
}

// Unwrap answers ErrUnauthorized.
func (e *AuthError) Unwrap() error { return ErrUnauthorized }

// authError answers the AuthError that err stands for, nil when it stands for none.
func authError(err error) error {
	var status *transport.StatusError
	if !errors.As(err, &status) || !status.Refused() {
		return nil
	}
	auth := &AuthError{Status: status.Status, Static: status.Authorized}
	if status.Header != nil {
		auth.Challenge = status.Header("WWW-Authenticate")
	}
	return auth
}

// explain gives a failure of the wire its local code. Errors of the context and those that have a code stay as they are.
// session is the id of the HTTP session, "" for none.
func explain(err error, session string) error {
	if auth := authError(err); auth != nil {
		return auth
	}
	var coded *mcp.Error
	var frame *transport.FrameError
	var status *transport.StatusError
	switch {
	case errors.As(err, &coded):
		return err
	case errors.As(err, &frame) && frame.Limit > 0:
		return mcp.Errorf(mcp.CodeMessageTooLarge, "%w", err)
	case errors.As(err, &frame):
		return mcp.Errorf(mcp.CodeInvalidResult, "%w; whether the server has done the work is not known", err)
	case errors.Is(err, transport.ErrCut):
		return mcp.Errorf(mcp.CodeConnectionClosed, "%w; whether the server has done the work is not known", err)
	case errors.Is(err, transport.ErrClosed):
		return mcp.Errorf(mcp.CodeConnectionClosed, "%w", err)
	case errors.As(err, &status) && (status.SessionGone || status.Status == http.StatusNotFound && session != ""):
		return mcp.Errorf(mcp.CodeConnectionClosed, "the server no longer knows this session (%w)", err)
	}
	return err
}
