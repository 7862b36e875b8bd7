package streamhttp

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// cut writes a last block and ends the connection of a stream whose handler may go on to run, and tells whether it has
// ended. False means that the server in front cannot do that: the stream is as it was, but for the block.
func (s *stream) cut(last []byte) bool {
	s.mu.Lock()
	done := s.closed || s.sever(last)
	s.mu.Unlock()
	if done {
		s.close()
	}
	return done
}

// sever writes the last block and ends the connection where close would not; s.mu is held.
func (s *stream) sever(last []byte) bool {
	if s.conn != nil || s.held { // close ends it, or its handler returns
		return len(last) == 0 || s.put(last, s.of.writeTimeout) == nil
	}
	rc := http.NewResponseController(s.w)
	conn, _, err := rc.Hijack()
	if err == nil {
		s.w = nil
		s.endChunked(conn, last)
		return true
	}
	if !errors.Is(err, http.ErrNotSupported) { // the connection is broken already
		return true
	}
	// HTTP/2 has no connection to take: the stream is reset, after the last block has gone out.
	if len(last) > 0 && s.put(last, s.of.writeTimeout) != nil {
		return true
	}
	return rc.SetWriteDeadline(time.Unix(1, 0)) == nil
}

// endChunked writes the end of a response that net/http has begun, so that the client does not take it for broken. What
// HTTP/1.0 has no chunks for ends with the connection.
func (s *stream) endChunked(conn net.Conn, last []byte) {
	var out []byte
	switch {
	case !s.chunked:
		out = last
	case len(last) > 0:
		out = fmt.Appendf(nil, "%x\r\n%s\r\n0\r\n\r\n", len(last), last)
	default:
		out = []byte("0\r\n\r\n")
	}
	err := conn.SetWriteDeadline(time.Now().Add(s.of.writeTimeout))
	if err == nil {
		_, err = conn.Write(out)
	}
	if closing := conn.Close(); err == nil {
		err = closing
	}
	if err != nil && !errors.Is(err, net.ErrClosed) {
		s.of.onError(fmt.Errorf("end a stream early: %w", err))
	}
}
