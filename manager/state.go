package manager

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// State is where a server stands.
type State string

// The states of a server.
const (
	Connecting         State = "connecting"          // it is being connected, for the first time or again
	Ready              State = "ready"               // it can be called
	Degraded           State = "degraded"            // connected, but not well: its breaker is open, or a list could not be read
	NeedsAuthorization State = "needs authorization" // it wants to know who asks; tried again now and then
	Failed             State = "failed"              // it cannot be reached; tried again after Status.Retry, if that is set
)

// Usable tells whether there is a connection.
func (s State) Usable() bool { return s == Ready || s == Degraded }

// Status tells where one server stands.
type Status struct {
	Name    string
	State   State
	Reason  string        // why, where it is not ready; empty otherwise. Secrets of the configuration are masked
	Retry   time.Duration // when it is tried again, counted from the failure; zero means not by itself
	Version string        // the revision agreed on, while connected
	Took    time.Duration // how long connecting took, while connected
}

// DownError says that a server cannot be reached at the moment: a call was not sent.
type DownError struct {
	Server string
	State  State  // of the server then
	Reason string // secrets of the configuration are masked; it may name addresses and paths
	Final  bool   // it is not tried again by itself: it is being closed, or cannot be spoken to at all
}

func (e *DownError) Error() string {
	if e.Final {
		return fmt.Sprintf("server %q cannot be reached: %s", e.Server, e.Reason)
	}
	return fmt.Sprintf("server %q cannot be reached at the moment: %s; it is tried again by itself", e.Server, e.Reason)
}

// Unwrap answers ErrNotRun.
func (e *DownError) Unwrap() error { return ErrNotRun }

// Errors that callers branch on.
var (
	// ErrNotRun says that a call has certainly not been begun, so that it may be repeated whatever it does.
	ErrNotRun = errors.New("the call has not been begun")

	// ErrUnknownServer is the answer to a call of a server that is not configured.
	ErrUnknownServer = errors.New("no such server")

	// ErrClosed is the answer to calls after Close.
	ErrClosed = errors.New("the manager is closed")
)

// NotTaken tells whether a call has certainly not been taken by the server: it was not reached, has forgotten the session,
// no longer speaks the revision, or has sent the call away with the wish to see it later.
func NotTaken(err error) bool {
	if errors.Is(err, ErrNotRun) || errors.Is(err, mcp.CodeNotConnected) || isDial(err) {
		return true
	}
	var fault *mcp.Error
	if errors.As(err, &fault) && fault.Remote && fault.Code == mcp.CodeUnsupportedVersion {
		return true
	}
	var status *transport.StatusError
	if !errors.As(err, &status) {
		return false
	}
	switch {
	case status.SessionGone, status.Status == http.StatusNotFound && status.Message == nil, status.Refused():
		return true
	case status.Status == http.StatusServiceUnavailable:
		return status.Header != nil && status.Header("Retry-After") != ""
	}
	return status.Status == http.StatusTooManyRequests
}

// IsLoss tells whether an error of a call means that the connection is of no use any more, though nothing else shows it.
func IsLoss(err error) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	var auth *client.AuthError
	if errors.As(err, &auth) {
		return auth.Status == http.StatusUnauthorized
	}
	var fault *mcp.Error
	if errors.As(err, &fault) && fault.Remote && fault.Code == mcp.CodeUnsupportedVersion {
		return true
	}
	var status *transport.StatusError
	gone := errors.As(err, &status) && (status.SessionGone || status.Status == http.StatusNotFound && status.Message == nil)
	return gone || isDial(err)
}

func isDial(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}
