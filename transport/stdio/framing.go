package stdio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/rialto-mcp/rialto/transport"
)

const (
	defaultLimit = 10 << 20 // bytes a frame
	minBuffer    = 4 << 10  // a quiet connection holds this much
	maxBuffer    = 64 << 10 // a busy one this much
	startBytes   = 256      // of a refused frame, and as many of its end
)

// frameReader cuts a source into lines. Its memory is bounded by the limit and the buffer, and each byte of a long line
// is looked at once.
type frameReader struct {
	src   source
	limit int64 // below zero: none

	buf        []byte
	start, end int                   // what of buf is unread
	long       []byte                // the head of a line that did not fit into buf
	bad        *transport.FrameError // the rest of this line is being dropped, but for its end
	begun      bool                  // a byte order mark has been looked for
	err        error                 // what ended the source
}

func newFrameReader(src source, limit int64) frameReader {
	if limit == 0 {
		limit = defaultLimit
	}
	return frameReader{src: src, limit: limit, buf: make([]byte, minBuffer)}
}

// next returns the next line that is not empty, without its line end, in memory of its own. The last line counts
// without a line end too. An error of ctx leaves everything in place for the next call.
func (r *frameReader) next(ctx context.Context) ([]byte, error) {
	for {
		for r.start < r.end {
			if frame, err := r.line(r.cut()); frame != nil || err != nil {
				return frame, err
			}
		}
		if r.err != nil {
			return r.finish()
		}
		if err := r.fill(ctx); err != nil {
			return nil, err
		}
	}
}

// ready tells whether next is sure to return without waiting.
func (r *frameReader) ready() bool {
	if r.bad != nil || !r.begun {
		return false // what comes first may be no frame
	}
	for rest := r.buf[r.start:r.end]; ; {
		at := bytes.IndexByte(rest, '\n')
		if at < 0 {
			return false
		}
		if at > 1 || (at == 1 && rest[0] != '\r') {
			return true
		}
		rest = rest[at+1:]
	}
}

// cut takes from the buffer up to the next line feed, which it drops, or all there is.
func (r *frameReader) cut() (part []byte, ended bool) {
	rest := r.buf[r.start:r.end]
	at := bytes.IndexByte(rest, '\n')
	if at < 0 {
		r.start = r.end
		return rest, false
	}
	r.start += at + 1
	return rest[:at], true
}

// line takes a piece of a line and returns the frame it completes, if any.
func (r *frameReader) line(part []byte, ended bool) ([]byte, error) {
	if r.bad != nil {
		r.bad.End = lastBytes(append(r.bad.End, lastBytes(part)...))
		if !ended {
			return nil, nil
		}
		return nil, r.refused()
	}
	if ended && len(r.long) == 0 {
		return r.frame(part)
	}
	r.long = r.skipMark(append(r.long, part...), ended)
	if ended {
		return r.takeLong()
	}
	// A carriage return at the end may belong to the line end.
	if over := int64(len(r.long)) - r.limit; r.limit >= 0 && over > 0 && (over > 1 || r.long[len(r.long)-1] != '\r') {
		r.bad = r.tooLong(r.long)
		r.long = nil
	}
	return nil, nil
}

// takeLong turns the collected line into a frame. Large scratch space is given back.
func (r *frameReader) takeLong() ([]byte, error) {
	frame, err := r.frame(r.long)
	r.long = r.long[:0]
	if cap(r.long) > maxBuffer {
		r.long = nil
	}
	return frame, err
}

// frame copies a whole line. It returns nil for an empty one.
func (r *frameReader) frame(line []byte) ([]byte, error) {
	line = bytes.TrimSuffix(r.skipMark(line, true), []byte{'\r'})
	if len(line) == 0 {
		return nil, nil
	}
	if r.limit >= 0 && int64(len(line)) > r.limit {
		return nil, r.tooLong(line)
	}
	frame := make([]byte, len(line))
	copy(frame, line)
	return frame, nil
}

// skipMark drops a byte order mark, which some shells put at the head of what they write, from the first line.
func (r *frameReader) skipMark(line []byte, whole bool) []byte {
	const mark = "\xEF\xBB\xBF"
	if r.begun || (len(line) < len(mark) && !whole) {
		return line
	}
	r.begun = true
	return bytes.TrimPrefix(line, []byte(mark))
}

// refused reports the line that was dropped, now that it has ended.
func (r *frameReader) refused() error {
	bad := r.bad
	r.bad = nil
	return bad
}

func (r *frameReader) tooLong(line []byte) *transport.FrameError {
	return &transport.FrameError{
		Limit: r.limit,
		Text:  fmt.Sprintf("the message is longer than the limit of %d bytes; it was skipped, send a smaller one", r.limit),
		Start: bytes.Clone(line[:min(len(line), startBytes)]), End: lastBytes(line),
	}
}

// lastBytes copies the end of what there is of a line.
func lastBytes(line []byte) []byte { return bytes.Clone(line[max(0, len(line)-startBytes):]) }

// fill reads once. Only what ends the source for good is kept.
func (r *frameReader) fill(ctx context.Context) error {
	if r.end == len(r.buf) && len(r.buf) < maxBuffer {
		r.buf = make([]byte, maxBuffer) // the last read filled it: there is more to come
	}
	r.start, r.end = 0, 0
	n, err := r.src.read(ctx, r.buf)
	r.end = n
	if err == nil || n > 0 {
		return nil
	}
	if ctx.Err() != nil || errors.Is(err, transport.ErrClosed) {
		return err
	}
	r.err = err
	return nil
}

// finish hands over a last line without a line end, once, and then the error.
func (r *frameReader) finish() ([]byte, error) {
	if r.bad != nil && r.err == io.EOF {
		return nil, r.refused()
	}
	if len(r.long) > 0 && r.err == io.EOF {
		if frame, err := r.takeLong(); frame != nil || err != nil {
			return frame, err
		}
	}
	return nil, r.err
}
