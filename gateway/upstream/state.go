package upstream

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"time"

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

// Pauses between tries: they double up to the longest, each shortened by chance by up to a half, so that servers that
// went together do not come back together.
const (
	firstPause   = 500 * time.Millisecond
	longestPause = time.Minute
	stable       = 30 * time.Second // a connection that held this long starts again with the first pause
)

// pause is how long to wait after the given number of failures in a row.
func pause(failures int) time.Duration {
	d := longestPause
	if failures < 7 {
		d = min(d, firstPause<<failures)
	}
	return d/2 + rand.N(d/2)
}

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
