package sse

import (
	"bytes"
	"io"
)

const (
	minBuffer = 4 << 10  // an idle stream holds this much
	maxBuffer = 32 << 10 // a busy one this much
)

// fill reads once from the source. Errors are kept, since a source may return bytes and an error together.
func (r *Reader) fill() error {
	if r.end == len(r.buf) && len(r.buf) < maxBuffer {
		r.buf = make([]byte, maxBuffer) // the last read filled it: there is more to come
	}
	r.start, r.end = 0, 0
	for r.end == 0 && r.srcErr == nil {
		r.read()
	}
	if !r.begun && r.end > 0 {
		r.skipMark()
	}
	if r.start < r.end {
		return nil
	}
	if r.srcErr == nil {
		return r.fill() // the first bytes were a byte order mark alone
	}
	if r.srcErr == io.EOF && r.unfinished() {
		return ErrCut
	}
	return r.srcErr
}

// read adds to the buffer. A source that goes on giving nothing counts as broken.
func (r *Reader) read() {
	for range 100 {
		var n int
		n, r.srcErr = r.src.Read(r.buf[r.end:])
		r.end += n
		if n > 0 || r.srcErr != nil {
			return
		}
	}
	r.srcErr = io.ErrNoProgress
}

// skipMark drops one byte order mark at the head of the stream, reading on where it has not arrived whole.
func (r *Reader) skipMark() {
	mark := []byte("\xEF\xBB\xBF")
	for r.end < len(mark) && r.srcErr == nil && bytes.HasPrefix(mark, r.buf[:r.end]) {
		r.read()
	}
	if bytes.HasPrefix(r.buf[:r.end], mark) {
		r.start = len(mark)
	}
	r.begun = true
}

// unfinished reports whether something of an event would be lost if the stream ended here.
func (r *Reader) unfinished() bool {
	return r.dirty || (r.place != atStart && r.place != inComment)
}

// cut takes from the buffer up to the next line end, which it drops, or all there is.
func (r *Reader) cut() (part []byte, ended bool) {
	if r.afterCR {
		r.afterCR = false
		if r.buf[r.start] == '\n' {
			r.start++
		}
	}
	rest := r.buf[r.start:r.end]
	at := bytes.IndexByte(rest, '\n')
	if at < 0 {
		at = len(rest)
	}
	if cr := bytes.IndexByte(rest[:at], '\r'); cr >= 0 {
		at = cr
		r.afterCR = true
	}
	if at == len(rest) {
		r.start = r.end
		return rest, false
	}
	r.start += at + 1
	return rest[:at], true
}
