package client

import (
	"context"
	"encoding/json"
	"io"
	"sync"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/mcp"
)

// Message is something that came before the result of a call and belongs to it: progress, a log message, a change that a
// listen brings, or a request of the server.
type Message struct {
	Method string
	Params json.RawMessage // as they came

	// Request is set for a request, and has to be answered with Reply or Refuse.
	Request *IncomingRequest
}

// Stream is a raw call that is under way. Its methods may be called concurrently, but Next is for one goroutine.
type Stream struct {
	cancel   context.CancelFunc
	requests bool
	failed   func(error)
	ended    chan struct{} // closed when result and err are set

	mu      sync.Mutex
	queue   []Message
	dropped bool
	wake    chan struct{} // one place; filled when something was put in

	result *RawResult
	err    error
}

// mostMessages bounds what waits for a slow reader of a Stream; what comes beyond is dropped and reported.
const mostMessages = 10000

// Start sends any request, as [Client.Raw] does, and returns without waiting for its answer. Progress is asked for when
// params hold a progress token. The call ends with ctx, with its time limits, or by Close.
//
// On a pipe only what names the call belongs to it: progress, and the news of a listen. The rest (logs, requests of a
// legacy server) goes to the hooks of Options, since nobody can tell whose it is.
func (c *Client) Start(ctx context.Context, method string, params json.RawMessage, o RawOptions) (*Stream, error) {
	out, call, err := c.rawCall(method, params, o)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	s := &Stream{
		cancel: cancel, requests: o.Requests, failed: c.faults.report, ended: make(chan struct{}), wake: make(chan struct{}, 1),
	}
	_, call.WantProgress = tokenOf(params)
	call.OnNotice = func(n *era.Notice) bool {
		c.cache.heard(ctx, c.now(), n)
		return s.notice(n)
	}
	if own, ok := call.Tag.(*rawCall); ok {
		own.stream = s
	}
	if row, _ := c.now().codec.Look(method, false, era.ServerSide); row != nil && row.Long {
		call.Timeout, call.Total = pick(o.Timeout, 0), pick(o.Total, 0) // a listen lasts
	}
	began := c.background(func() {
		defer cancel()
		s.finish(rawResult(c.way(o)(ctx, out, call)))
	})
	if !began {
		cancel()
		return nil, c.usable()
	}
	return s, nil
}

// Next returns the next message. It fails with io.EOF when there is none left and the call has ended; Result says how.
func (s *Stream) Next(ctx context.Context) (*Message, error) {
	for {
		if m := s.take(); m != nil {
			return m, nil
		}
		select {
		case <-s.wake:
		case <-s.ended:
			if m := s.take(); m != nil {
				return m, nil
			}
			return nil, io.EOF
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// Result waits for the end of the call and returns what Raw would. Messages that nobody has taken with Next are kept.
func (s *Stream) Result() (*RawResult, error) {
	<-s.ended
	return s.result, s.err
}

// Close cancels the call if it still runs, in the form of the era and the wire, and waits for its end.
func (s *Stream) Close() {
	s.cancel()
	<-s.ended
}

func (s *Stream) take() *Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		return nil
	}
	m := s.queue[0]
	s.queue[0] = Message{}
	s.queue = s.queue[1:]
	return &m
}

func (s *Stream) put(m Message) bool {
	s.mu.Lock()
	full := len(s.queue) >= mostMessages
	report := full && !s.dropped
	s.dropped = full
	if !full {
		s.queue = append(s.queue, m)
	}
	s.mu.Unlock()
	if report {
		s.failed(mcp.Errorf(mcp.CodeOverloaded, "%d messages of a call wait for their reader; further ones are dropped", mostMessages))
	}
	select {
	case s.wake <- struct{}{}:
	default:
	}
	return !full
}

// notice takes a notification on the reader's goroutine.
func (s *Stream) notice(n *era.Notice) bool {
	s.put(Message{Method: n.Method, Params: n.Params})
	return true
}

// ask puts a request of the server into the stream and waits for its answer.
func (s *Stream) ask(ctx context.Context, req *IncomingRequest) *era.Outcome {
	req.answer = make(chan *era.Outcome, 1)
	if !s.put(Message{Method: req.Method, Params: req.Params, Request: req}) {
		return errorOutcome(mcp.Errorf(mcp.CodeInternal, "too many messages wait to be read"))
	}
	select {
	case o := <-req.answer:
		return o
	case <-s.ended:
	case <-ctx.Done():
	}
	return errorOutcome(mcp.Errorf(mcp.CodeInternal, "the call that this request belongs to has ended"))
}

func (s *Stream) finish(result *RawResult, err error) {
	s.result, s.err = result, err
	close(s.ended)
}
