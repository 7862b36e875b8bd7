package streamhttp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/rialto-mcp/rialto/internal/sse"
	"github.com/rialto-mcp/rialto/transport"
	"github.com/rialto-mcp/rialto/transport/internal/web"
)

// place is where a stream has got to, which may outlive several connections.
type place struct {
	lastID   string        // of the last event that had one
	retry    time.Duration // what the server wants the client to wait before it comes again; 0 for nothing
	messages int           // that have come
}

// events reads a stream to its end, or until handle answers false, and calls it with every message. It returns nil after
// the latter and at the end of the stream.
func (c *Client) events(body io.Reader, at *place, handle func(frame []byte) (more bool)) error {
	r := sse.NewReader(body, c.opts.MaxEventBytes)
	for {
		event, err := r.Next()
		var large *sse.LimitError
		switch {
		case errors.As(err, &large):
			c.opts.OnError(fmt.Errorf("skipped an event from %s: %w", c.where, err))
			transport.Lose(c.peer, &transport.FrameError{Limit: large.Limit, Start: large.Start})
			continue
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if event.HasID {
			at.lastID = event.ID
		}
		if event.HasRetry {
			at.retry = max(event.Retry, time.Millisecond)
		}
		if event.Kind == sse.Message && event.Name == sse.DefaultName && len(event.Data) > 0 {
			at.messages++
			if !handle(event.Data) {
				return nil
			}
		}
	}
}

// readStream hands over the messages of the stream that a request is answered on. One that breaks before the answer is
// resumed where the server numbers its events, unless the answer has come and could not be read.
func (x *call) readStream(resp *http.Response) error {
	err := x.follow(resp)
	if x.answered {
		web.Discard(resp, x.client.spawn, x.end) // the server ends the stream now
		return nil
	}
	resp.Body.Close()
	defer x.end()
	switch {
	case x.ctx.Err() != nil:
		return x.broken(x.ctx.Err())
	case x.odd == nil && x.at.lastID != "" && x.resumable():
		return x.resume()
	case x.odd == nil && err != nil && !errors.Is(err, sse.ErrCut):
		return x.broken(err)
	}
	return x.over()
}

func (x *call) follow(resp *http.Response) error {
	return x.client.events(resp.Body, &x.at, func(frame []byte) bool {
		x.take(frame, resp, x.client.skipped)
		return !x.answered
	})
}

func (x *call) resumable() bool {
	codec := x.client.peer.Codec()
	return codec != nil && codec.Traits().Resumable
}

// resume opens the stream of a call again after the last event that came, as often as it brings anything new.
func (x *call) resume() error {
	const most = 8 // attempts without a new event
	for failed := 0; failed < most; failed++ {
		if err := x.client.pause(x.ctx, x.at.retry, failed); err != nil {
			return err
		}
		before := x.at.lastID
		err := x.again()
		switch {
		case x.answered:
			return nil
		case x.ctx.Err() != nil:
			return x.broken(x.ctx.Err())
		case x.odd != nil:
			return x.over()
		case final(err):
			x.client.forgottenBy(err)
			return &transport.CutError{Why: err}
		case x.at.lastID != before:
			failed = -1
		}
	}
	return fmt.Errorf("%w, nor after it was opened again %d times", transport.ErrCut, most)
}

func (x *call) again() error {
	resp, err := x.client.get(x.ctx, x.at.lastID)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return x.follow(resp)
}

// errNoStream says that an address answers a GET with something else.
var errNoStream = errors.New("there is no event stream")

// get opens an event stream.
func (c *Client) get(ctx context.Context, after string) (*http.Response, error) {
	req := c.open(ctx, after)
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.explain(ctx, err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, c.statusError(ctx, resp, nil, req.Header.Get(headerSession))
	}
	if essence(resp.Header["Content-Type"]) != typeEvents {
		resp.Body.Close()
		return nil, fmt.Errorf("%w: %s answered with %.80q", errNoStream, c.where, resp.Header.Get("Content-Type"))
	}
	return resp, nil
}

// pause waits before a stream is opened again: as long as the server said, else longer with each failure; never quite the
// same, and never shorter, so that many clients do not come at once.
func (c *Client) pause(ctx context.Context, retry time.Duration, failed int) error {
	const floor, ceiling = 10, 10 // a server's word counts between a tenth of the first wait and ten of the longest
	wait, spread := retry, int64(32)
	if wait > 0 {
		wait = min(max(wait, c.opts.Reconnect/floor), c.opts.MaxReconnect*ceiling)
	}
	if wait == 0 || failed > 0 {
		grown := c.opts.Reconnect
		for i := 0; i < failed && grown < c.opts.MaxReconnect; i++ {
			grown = min(grown*3/2+1, c.opts.MaxReconnect)
		}
		wait, spread = max(wait, grown), 4
	}
	wait += time.Duration(rand.Int64N(int64(wait)/spread + 1))
	return c.rest(ctx, wait)
}

// rest waits, unless the context or the client ends first.
func (c *Client) rest(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
	case <-c.ctx.Done():
	}
	return c.explain(ctx, context.Cause(ctx))
}
