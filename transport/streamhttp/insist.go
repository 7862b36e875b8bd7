package streamhttp

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/rialto-mcp/rialto/transport"
)

// Waits before a message is sent again: they double, and are lengthened by chance by up to a half. A server that wants more
// than the longest is not asked again.
const (
	firstRetry   = 250 * time.Millisecond
	longestRetry = 10 * time.Second
)

// insist posts a message, again where the server has certainly not begun to handle it.
func (c *Client) insist(ctx context.Context, out transport.Outbound, session string) (*http.Response, error) {
	for failed := 0; ; failed++ {
		resp, err := c.do(ctx, out.Frame, out.Headers, session)
		if err == nil || out.Opening || failed >= c.opts.Retries {
			return resp, err
		}
		wait, safe := untouched(err, failed)
		if !safe || c.rest(ctx, wait) != nil {
			return nil, err // of the wait nobody has to know: it is the first failure that tells something
		}
	}
}

// untouched tells whether a failure shows that nothing has been done, and how long to wait before the next attempt.
func untouched(err error, failed int) (time.Duration, bool) {
	wait := firstRetry << failed
	wait += time.Duration(rand.Int64N(int64(wait)/2 + 1))
	var status *transport.StatusError
	if !errors.As(err, &status) {
		return wait, unreached(err)
	}
	asked, given := retryAfter(status.Header("Retry-After"))
	switch status.Status {
	case http.StatusTooManyRequests:
	case http.StatusServiceUnavailable:
		if !given {
			return 0, false
		}
	default:
		return 0, false
	}
	if asked > 0 {
		wait = max(wait, asked+time.Duration(rand.Int64N(int64(asked)/8+1)))
	}
	return wait, wait <= longestRetry
}

// unreached tells whether no connection came about. A name that does not exist will not do so in a moment.
func unreached(err error) bool {
	var op *net.OpError
	var name *net.DNSError
	return errors.As(err, &op) && op.Op == "dial" && !(errors.As(err, &name) && name.IsNotFound)
}

// retryAfter reads a header Retry-After: seconds, or a date. RFC 9110, section 10.2.3.
func retryAfter(value string) (time.Duration, bool) {
	const most = 1 << 20
	if seconds, err := strconv.Atoi(value); err == nil && seconds >= 0 {
		return time.Duration(min(seconds, most)) * time.Second, true
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0, false
	}
	return max(time.Until(at), 0), true
}
