package httpsse

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/rialto-mcp/rialto/internal/sse"
	"github.com/rialto-mcp/rialto/transport"
	"github.com/rialto-mcp/rialto/transport/internal/web"
)

// endpointEvent is the name of the event that says where to post messages. Spec 2024-11-05, basic/transports.
const endpointEvent = "endpoint"

// open opens the stream and reads it up to the endpoint event.
func (c *Conn) open(address *url.URL) (*http.Response, *sse.Reader, error) {
	resp, err := c.http.Do(c.request(c.life, http.MethodGet, address, nil))
	if err != nil {
		if cause := c.life.Err(); cause != nil {
			return nil, nil, fmt.Errorf("wait for the event stream of %s: %w", c.where, c.cause())
		}
		return nil, nil, &transport.ReachError{Where: c.where, Err: web.Bare(err)}
	}
	events, err := c.greeted(resp)
	if err != nil {
		resp.Body.Close()
		return nil, nil, err
	}
	return resp, events, nil
}

// greeted waits for the endpoint event of a response to the GET.
func (c *Conn) greeted(resp *http.Response) (*sse.Reader, error) {
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return nil, c.statusError(resp, nil)
	}
	if media := essence(resp.Header); media != typeEvents {
		return nil, fmt.Errorf("%s answered the GET with status %d and the type %.80q, where a server of HTTP+SSE answers with %s; is the address right?",
			c.where, resp.StatusCode, media, typeEvents)
	}
	events := sse.NewReader(resp.Body, c.opts.MaxEventBytes)
	for {
		event, err := events.Next()
		var large *sse.LimitError
		switch {
		case errors.As(err, &large):
			c.opts.OnError(fmt.Errorf("skipped an %w", err))
		case err != nil && c.life.Err() != nil:
			return nil, c.late("wait for", c.cause())
		case err != nil:
			return nil, fmt.Errorf("the event stream of %s ended before its endpoint event: %w", c.where, err)
		case event.Kind != sse.Message:
		case event.Name == endpointEvent:
			c.endpoint, err = c.resolve(resp.Request.URL, string(event.Data))
			return events, err
		case event.Name == sse.DefaultName:
			c.opts.OnError(errors.New("skipped a message that came before the endpoint event"))
		default:
			c.opts.OnEvent(event.Name, event.Data)
		}
	}
}

// pump reads the stream to its end.
func (c *Conn) pump(body io.ReadCloser, events *sse.Reader) {
	err := c.deliver(events)
	if errors.Is(err, sse.ErrCut) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("the event stream was cut off: %w", err)
	}
	c.end = web.Bare(err)
	body.Close()
	c.cancel(io.ErrClosedPipe)
	close(c.ended)
}

// deliver hands over what comes until the stream or the connection is over.
func (c *Conn) deliver(events *sse.Reader) error {
	for {
		event, err := events.Next()
		var large *sse.LimitError
		switch {
		case errors.As(err, &large):
			err = c.hand(arrival{err: &transport.FrameError{
				Limit: large.Limit, Text: fmt.Sprintf("an event of more than %d bytes was skipped", large.Limit), Start: large.Start,
			}})
		case err == nil && event.Kind == sse.Message:
			err = c.take(event)
		}
		if err != nil {
			return err
		}
	}
}

// take looks at one event. Events without data keep the connection alive and mean nothing.
func (c *Conn) take(event sse.Event) error {
	switch {
	case event.Name == endpointEvent:
		c.opts.OnError(errors.New("ignored a second endpoint event: messages go on to the first"))
	case event.Name != sse.DefaultName:
		c.opts.OnEvent(event.Name, event.Data)
	case len(bytes.TrimSpace(event.Data)) > 0:
		frame := event.Data
		if bytes.ContainsAny(frame, "\r\n") {
			frame = transport.AppendFrame(make([]byte, 0, len(frame)), frame)
		}
		return c.hand(arrival{frame: frame})
	}
	return nil
}

// hand waits for a Read.
func (c *Conn) hand(a arrival) error {
	select {
	case c.arrived <- a:
		return nil
	case <-c.life.Done():
		return transport.ErrClosed
	}
}
