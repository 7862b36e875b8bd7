package streamhttp

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/transport"
)

// listen opens the GET stream of a legacy session in the background, unless it is being kept open already.
func (c *Client) listen() {
	codec := c.peer.Codec()
	if c.opts.NoStream || codec == nil || !codec.Traits().Sessions {
		return
	}
	c.mu.Lock()
	first := !c.streams && !c.closed
	c.streams = true
	c.mu.Unlock()
	if first {
		c.spawn(c.keepListening) // ends with the client, or when the server has no such stream
	}
}

// steady is how long a stream must have lived for its end to be no failure.
const steady = 5 * time.Second

// keepListening opens the stream again whenever it is lost. Its loss harms no call.
func (c *Client) keepListening() {
	defer func() {
		c.mu.Lock()
		c.streams = false
		c.mu.Unlock()
	}()
	var at place
	opened := c.barred.Swap(false) // by then messages were missed
	for failed, empty, barred := 0, 0, 0; ; failed++ {
		began, before := time.Now(), at.messages
		err := c.listenOnce(&at, &opened)
		barred++
		if refused(err) { // another may be let in again, but too late for who waits now
			c.loseStrays(err)
		} else {
			barred = 0
		}
		switch {
		case c.ctx.Err() != nil:
			return
		case at.lastID != "" && forgotten(err):
			c.beginAnew(&at, err)
		case opened && barred == mostBarred:
			c.barred.Store(true)
			c.opts.OnRefused(err)
			c.reportNoStream(err)
			return
		case final(err) && !(opened && barred > 0):
			c.reportNoStream(err)
			return
		case err != nil:
			c.opts.OnError(fmt.Errorf("the stream for messages outside calls was lost and is opened again: %w", err))
		case at.messages > before || time.Since(began) >= steady:
			empty = 0
		default:
			empty++
		}
		switch {
		case empty == mostEmpty && at.lastID != "":
			c.beginAnew(&at, errEmpty)
		case empty >= 3*mostEmpty:
			c.reportNoStream(fmt.Errorf("%w %d times in a row", errEmpty, empty))
			return
		}
		if at.messages > before {
			failed = 0
		}
		if err := c.pause(c.ctx, at.retry, failed); err != nil {
			return
		}
	}
}

// mostEmpty is how many streams in a row may end at once and bring nothing, before the place they were to go on from is
// given up; after as many again, twice, the server is taken to have no such stream.
const mostEmpty = 8

// mostBarred is how often in a row a stream that was open once may be refused for want of other credentials: they may be about to
// be renewed, but a client whose access was taken away would ask for ever. With the usual pauses that is half a minute.
const mostBarred = 8

var errEmpty = errors.New("the server opens the stream and ends it at once")

// beginAnew gives up the place in a stream.
func (c *Client) beginAnew(at *place, why error) {
	c.opts.OnError(fmt.Errorf("the stream for messages outside calls begins anew, and some may be missing: %w", why))
	at.lastID = ""
}

// reportNoStream tells why no stream is open. That a server has none is nothing to tell.
func (c *Client) reportNoStream(err error) {
	c.loseStrays(err)
	if c.forgottenBy(err) {
		return
	}
	c.opts.OnStream(false, false)
	var status *transport.StatusError
	if !errors.As(err, &status) || status.Status != http.StatusMethodNotAllowed {
		c.opts.OnError(fmt.Errorf("no stream for messages outside calls is open: %w", err))
	}
}

// forgottenBy tells whether an error says that the server no longer knows the session, and tells who wants to hear of it.
func (c *Client) forgottenBy(err error) bool {
	var status *transport.StatusError
	gone := errors.As(err, &status) && status.SessionGone
	if gone {
		c.opts.OnSessionGone()
	}
	return gone
}

// forgotten tells whether the server refuses to go on after an event: it may be willing to begin anew.
func forgotten(err error) bool {
	var status *transport.StatusError
	return errors.As(err, &status) && status.Status == http.StatusBadRequest
}

// refused tells whether the server wants other credentials. Those of a stream that was open once may be about to be renewed.
func refused(err error) bool {
	var status *transport.StatusError
	return errors.As(err, &status) && (status.Status == http.StatusUnauthorized || status.Status == http.StatusForbidden)
}

// final tells whether the server has said that there is no such stream, or no such session any more.
func final(err error) bool {
	var status *transport.StatusError
	if !errors.As(err, &status) {
		return errors.Is(err, errNoStream)
	}
	switch status.Status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return false
	}
	return status.Status < 500 || status.Status == http.StatusNotImplemented
}

func (c *Client) listenOnce(at *place, opened *bool) error {
	resp, err := c.get(c.ctx, at.lastID)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	gap := *opened && at.lastID == ""
	*opened = true
	c.listening.Store(true)
	c.opts.OnStream(true, gap)
	defer c.listening.Store(false)
	return c.events(resp.Body, at, func(frame []byte) bool {
		for _, m := range c.messages(frame, c.skipped) {
			c.deliver(c.ctx, m, jsonrpc.ID{})
		}
		return true
	})
}
