package streamhttp

import (
	"bytes"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rialto-mcp/rialto/internal/sse"
	"github.com/rialto-mcp/rialto/state"
	"github.com/rialto-mcp/rialto/transport"
)

// stream is one open event stream: the response of a POST, a listen, or a GET of a session. It writes either through
// net/http or, once it has taken the connection over, to the connection itself. Its methods may be called concurrently.
type stream struct {
	of   *streams
	conn net.Conn // taken over from net/http; nil while it writes through w
	held bool     // its handler waits for its end, where the connection was not taken over; else it runs a call

	taken atomic.Bool // conn is there: for who does not hold mu

	chunked bool // net/http writes the body in chunks

	mu     sync.Mutex
	w      http.ResponseWriter
	closed bool
	left   bool          // the client is known to have gone
	gone   func()        // what to do then, once
	done   chan struct{} // closed with the stream; nil unless somebody waits
}

// begin begins an event stream with the headers that w has; first, where not nil, is its first block. long lets it take the
// connection over, where that is possible and allowed. attach, where not nil, is called before the client can know of the
// stream; what it lets others send follows the head. It fails with ErrClosed when nothing has been written.
func (l *streams) begin(w http.ResponseWriter, r *http.Request, long bool, first []byte, attach func(*stream) error) (*stream, error) {
	header := w.Header()
	header["Content-Type"] = eventsType
	header["Cache-Control"] = noCache
	header["X-Accel-Buffering"] = noBuffer
	s := &stream{of: l, w: w, held: long, chunked: r.ProtoMajor == 1 && r.ProtoAtLeast(1, 1)}
	s.mu.Lock() // nothing goes out before the head
	err := l.add(s)
	if err == nil && attach != nil {
		err = attach(s)
	}
	if err == nil {
		err = s.begin(header, first, long && !l.noHijack && r.ProtoMajor == 1 && r.ProtoAtLeast(1, 1))
	}
	s.mu.Unlock()
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// begin writes the head of the response and the first block; s.mu is held.
func (s *stream) begin(header http.Header, first []byte, takeOver bool) error {
	rc := http.NewResponseController(s.w)
	if takeOver {
		if conn, _, err := rc.Hijack(); err == nil { // otherwise net/http goes on writing
			return s.takeOver(conn, header, first)
		}
	}
	header["Connection"] = keepAlive
	s.of.writeBy(rc, s.of.writeTimeout)
	s.w.WriteHeader(http.StatusOK)
	if _, err := s.w.Write(first); err != nil {
		return err
	}
	if err := rc.Flush(); !errors.Is(err, http.ErrNotSupported) { // without Flush events arrive at the end
		return err
	}
	return nil
}

// takeOver writes the head to the connection itself; s.mu is held. The body ends with the connection.
func (s *stream) takeOver(conn net.Conn, header http.Header, first []byte) error {
	s.conn, s.w = conn, nil
	s.taken.Store(true)
	var head bytes.Buffer
	head.WriteString("HTTP/1.1 200 OK\r\n")
	header.Del("Connection")
	if err := header.Write(&head); err != nil {
		return err
	}
	head.WriteString("Date: " + time.Now().UTC().Format(http.TimeFormat) + "\r\nConnection: close\r\n\r\n")
	head.Write(first)
	s.of.readers.Go(s.watch) // ends with the connection; Close closes that and waits
	return s.put(head.Bytes(), s.of.writeTimeout)
}

// watch reads from a connection taken over until the client goes. What a client sends meanwhile has no meaning.
func (s *stream) watch() {
	var ignored [16]byte
	for {
		if _, err := s.conn.Read(ignored[:]); err != nil {
			s.close()
			return
		}
	}
}

// event writes one message.
func (s *stream) event(frame []byte) error { return s.eventAs("", frame) }

// eventAs writes one message with its id, or without one where that is "".
func (s *stream) eventAs(id string, frame []byte) error {
	buf := buffers.Get().(*[]byte)
	defer giveBack(buf)
	*buf = sse.AppendEvent((*buf)[:0], sse.Event{Name: sse.DefaultName, ID: id, HasID: id != "", Data: frame})
	return s.write(*buf, s.of.writeTimeout)
}

// stored writes an event of the log.
func (s *stream) stored(e state.Event) error {
	buf := buffers.Get().(*[]byte)
	defer giveBack(buf)
	*buf = appendStored((*buf)[:0], e)
	return s.write(*buf, s.of.writeTimeout)
}

// alive tells whether the stream is open, as far as is known.
func (s *stream) alive() bool {
	if !s.mu.TryLock() {
		return true // something is being written
	}
	defer s.mu.Unlock()
	return !s.closed
}

var keepAliveComment = sse.AppendComment(nil, "keepalive")

// beat writes a comment, unless something is being written just now.
func (s *stream) beat() {
	const limit = time.Second // one client that does not read must not hold up the others for long
	if !s.mu.TryLock() {
		return
	}
	err := s.put(keepAliveComment, limit)
	s.mu.Unlock()
	if err != nil {
		s.breakOff()
	}
}

func (s *stream) write(p []byte, limit time.Duration) error {
	s.mu.Lock()
	err := s.put(p, limit)
	s.mu.Unlock()
	if err != nil {
		s.breakOff()
	}
	return err
}

// put writes within a time limit; s.mu is held.
func (s *stream) put(p []byte, limit time.Duration) error {
	if s.closed {
		return transport.ErrClosed
	}
	if s.conn != nil {
		if err := s.conn.SetWriteDeadline(time.Now().Add(limit)); err != nil {
			return err
		}
		_, err := s.conn.Write(p)
		return err
	}
	rc := http.NewResponseController(s.w)
	s.of.writeBy(rc, limit)
	if _, err := s.w.Write(p); err != nil {
		return err
	}
	if err := rc.Flush(); !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}

// breakOff ends a stream that cannot be written to. Whoever writes may hold locks that what onGone has set needs too, so
// for a connection taken over that is left to its reader, which now finds it closed.
func (s *stream) breakOff() {
	if s.conn == nil {
		s.close()
		return
	}
	if err := s.conn.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		s.of.onError(err)
	}
}

// unblock ends a write that waits for the client, where the connection was taken over. Elsewhere a write has its time.
func (s *stream) unblock() {
	if s.taken.Load() {
		s.breakOff()
	}
}

// onGone says what to do when the client goes, or the stream breaks. It replaces what was said before, and is called at
// once when that has happened already.
func (s *stream) onGone(do func()) {
	s.mu.Lock()
	s.gone = do
	left := s.left
	if left {
		s.gone = nil
	}
	s.mu.Unlock()
	if left {
		do()
	}
}

// end closes a stream whose last message has been written: nobody has to be told.
func (s *stream) end() {
	s.mu.Lock()
	s.gone = nil
	s.mu.Unlock()
	s.close()
}

// close ends the stream, once, and calls what onGone has set. After it returns nothing touches the writer.
func (s *stream) close() {
	s.mu.Lock()
	first := !s.closed
	s.closed, s.left, s.w = true, true, nil
	gone := s.gone
	s.gone = nil
	if first && s.done != nil {
		close(s.done)
	}
	s.mu.Unlock()
	if first {
		s.of.remove(s)
		if s.conn != nil {
			if err := s.conn.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
				s.of.onError(err)
			}
		}
	}
	if gone != nil {
		gone()
	}
}

// buffers holds the scratch space of events.
var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 1024); return &b }}

func giveBack(buf *[]byte) {
	if cap(*buf) <= step { // a rare large event must not stay in memory
		buffers.Put(buf)
	}
}
