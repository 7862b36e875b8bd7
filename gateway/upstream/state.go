package upstream

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// State is where a server stands.
type State string

// The states.
const (
	Connecting State = "connecting"
	Ready      State = "ready"
	Failed     State = "failed"
)

// Status tells of one server.
type Status struct {
	Name    string
	State   State
	Reason  string        // why it failed; empty otherwise. Secrets of the configuration are masked
	Retry   time.Duration // when it is tried again, counted from the failure; zero means never
	Version string        // the revision agreed on, while ready
	Took    time.Duration // how long connecting took, while ready
	Counts  Counts        // what it lists, while ready
}

// Counts are the lengths of the lists.
type Counts struct{ Tools, Prompts, Resources, Templates int }

func countsOf(l *Lists) Counts {
	return Counts{len(l.Tools), len(l.Prompts), len(l.Resources), len(l.Templates)}
}

// policy is when a server is tried again: the client's own policy, without an end. A server of a gateway may come back
// tomorrow, and meanwhile its state is to be seen, so that the tries are made here and not by the client.
var policy = client.Restart{}.WithDefaults()

// pause is how long to wait after a failure that had so many before it in a row.
func pause(failures int) time.Duration { return policy.Pause(failures + 1) }

// notTaken tells whether a call has certainly not been taken by the server: it no longer knows the session, or no longer
// speaks the revision.
func notTaken(err error) bool {
	var fault *mcp.Error
	if errors.As(err, &fault) && fault.Remote && fault.Code == mcp.CodeUnsupportedVersion {
		return true
	}
	var status *transport.StatusError
	return errors.As(err, &status) && status.Status == http.StatusNotFound && status.Message == nil
}

// isLoss tells whether an error of a call means that the connection is of no use any more.
func isLoss(err error) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	var op *net.OpError
	return notTaken(err) || errors.As(err, &op) && op.Op == "dial"
}
