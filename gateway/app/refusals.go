package app

import (
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/rialto-mcp/rialto/auth"
)

const (
	mostTold  = 10          // refusals told one by one, in toldTime
	mostNoted = 600         // refusals noted in the audit log one by one, in toldTime: strangers must not be able to push others out of it
	toldTime  = time.Minute // after which the rest is told as a number
)

// refusals tells of requests that were not let in, without their tokens, and not of all of them where there are many. Its
// methods may be called concurrently.
type refusals struct {
	line func(format string, args ...any)
	note func(req *http.Request, status int, reason string) // hears of mostNoted; nil for nobody
	rest func(n int)                                        // hears how many others there were; it goes with note

	mu      sync.Mutex
	told    int
	more    int
	noted   int
	unnoted int
	timer   *time.Timer // runs from the first one told or noted; nil before
}

// refused tells of one request. One without a token is what every client begins with that has to find out where to get one.
func (r *refusals) refused(no auth.Refusal) {
	if r.note != nil && r.notes() {
		r.note(no.Request, no.Status, no.Reason)
	}
	if no.Status == http.StatusUnauthorized && no.Code == "" || no.Status == http.StatusServiceUnavailable { // which failed tells
		return
	}
	from := no.Request.RemoteAddr
	if host, _, err := net.SplitHostPort(from); err == nil {
		from = host
	}
	r.tell("rialto: refused a request from %s: %s (%d)", from, no.Reason, no.Status)
}

// failed tells of a token of which nobody could say whether it is good.
func (r *refusals) failed(err error) {
	r.tell("rialto: refused a request: %v (%d)", err, http.StatusServiceUnavailable)
}

func (r *refusals) tell(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.told == mostTold {
		r.more++
		return
	}
	r.begin()
	r.told++
	r.line(format, args...)
}

// notes tells whether another refusal is noted by itself.
func (r *refusals) notes() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begin()
	if r.noted == mostNoted {
		r.unnoted++
		return false
	}
	r.noted++
	return true
}

// begin begins to count; r.mu is held.
func (r *refusals) begin() {
	if r.timer == nil {
		r.timer = time.AfterFunc(toldTime, r.sum) // ends with close
	}
}

// sum tells how many there were beside those that have been told of.
func (r *refusals) sum() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.more > 0 {
		r.line("rialto: refused %d more requests meanwhile", r.more)
	}
	if r.unnoted > 0 {
		r.rest(r.unnoted)
	}
	r.told, r.more, r.noted, r.unnoted, r.timer = 0, 0, 0, 0, nil
}

// close tells what is left.
func (r *refusals) close() {
	r.mu.Lock()
	running := r.timer != nil && r.timer.Stop()
	r.mu.Unlock()
	if running {
		r.sum()
	}
}
