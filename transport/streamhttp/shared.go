package streamhttp

import (
	"net/http"
	"time"
)

// Streams holds event streams open that are written to from elsewhere, and keeps them alive: for wires beside this one
// that have such streams, of which HTTP+SSE is one. Its methods may be called concurrently; it is made by NewStreams.
//
// A stream takes its connection over from net/http where that is possible (HTTP/1.1), so that an idle one costs a few KiB
// and no goroutine but its reader's. http.Server.Shutdown does not know of it then: Close ends it.
type Streams struct{ all streams }

// StreamOptions configures Streams. There are no defaults but those named.
type StreamOptions struct {
	KeepAlive    time.Duration // between comments; not positive means none
	WriteTimeout time.Duration // for one write to a client that does not read
	NoHijack     bool          // keep the streams on net/http's goroutines
	OnError      func(error)   // faults that no client is told of; must not be nil
}

// NewStreams makes a keeper of streams. Close must be called in the end.
func NewStreams(opts StreamOptions) *Streams {
	s := &Streams{}
	s.all.init(opts.KeepAlive, opts.WriteTimeout, opts.NoHijack, opts.OnError)
	return s
}

// Open answers a request with an event stream, whose first bytes are the block first. attach is called before the client
// can know of the stream; what is written to it from then on follows the first block. An error of attach, or ErrClosed
// after Close, means that nothing was written and the request can be answered otherwise. The handler then calls
// [Stream.Follow] and returns.
func (s *Streams) Open(w http.ResponseWriter, r *http.Request, first []byte, attach func(*Stream) error) (*Stream, error) {
	one, err := s.all.begin(w, r, true, first, func(one *stream) error { return attach((*Stream)(one)) })
	return (*Stream)(one), err
}

// Count returns how many streams are open.
func (s *Streams) Count() int { return s.all.count() }

// Close takes no more streams, closes those there are, and returns when their goroutines have ended, functions given to
// Follow included. It may be called twice.
func (s *Streams) Close() {
	s.all.closeAll()
	s.all.wait()
}

// Stream is one open event stream. Its methods may be called concurrently.
type Stream stream

// Write writes whole blocks of an event stream, in the order of the calls. An error means that the stream is over.
func (s *Stream) Write(blocks []byte) error {
	one := (*stream)(s)
	return one.write(blocks, one.of.writeTimeout)
}

// Event writes one message, as an event of the name "message". The frame is not kept.
func (s *Stream) Event(frame []byte) error { return (*stream)(s).event(frame) }

// Follow sees the stream to its end: it calls over when the client has gone or the stream cannot be written to any more.
// After End it may be called or not. Where the connection has been taken over Follow returns at once, otherwise at the end
// of the stream; the handler of the request must return then.
func (s *Stream) Follow(r *http.Request, over func()) {
	one := (*stream)(s)
	if one.conn != nil {
		one.onGone(over)
		return
	}
	one.hold(r)
	over()
}

// End closes the stream. It may be called twice, and does not wait for what Follow was given.
func (s *Stream) End() {
	(*stream)(s).unblock() // a client that does not read holds up nobody
	(*stream)(s).end()
}
