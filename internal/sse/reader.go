package sse

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// DefaultLimit is the size of the largest event a Reader takes when it is told nothing else: 10 MiB.
const DefaultLimit = 10 << 20

// ErrCut is returned in place of io.EOF when the stream ended inside an event. That event is dropped, as the standard
// says; whoever can resume should.
var ErrCut = errors.New("event stream ended inside an event")

// LimitError reports an event that is larger than the limit. Its data is dropped; reading may go on. Where the same
// event carries an ID or a retry time, they still follow as a Setting.
type LimitError struct {
	Limit int64  // in bytes
	Start []byte // the first bytes of its data (at most 256); nil where something else was too large
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("event of more than %d bytes", e.Limit)
}

// place says where in a line the reader stands.
type place uint8

const (
	atStart   place = iota // nothing of the line seen
	inName                 // before the colon
	beforeVal              // after the colon, where one space may follow
	inValue                // in a value that is wanted
	inNoise                // in an unknown field
	inComment              // in a comment
)

// Reader takes events out of a stream. It is not safe for concurrent use; whoever must stop it closes the source.
type Reader struct {
	src   io.Reader
	limit int64

	buf        []byte // read from src
	start, end int    // what of buf is unread
	srcErr     error  // what ended src, told once buf is empty
	begun      bool   // the byte order mark has been looked for
	ended      bool   // the line's end has been taken, but not acted upon
	afterCR    bool   // a line feed that comes next belongs to the line before

	place place
	field []byte // name of the field being read; at most as long as the longest known one and a byte
	value []byte // its value, save for data

	// The block being read.
	dirty   bool // a field line has been seen
	over    bool // it broke the limit
	size    int64
	data    []byte
	hasData bool
	event   Event
}

// NewReader returns a Reader of src. An event may hold limit bytes in its values; zero means DefaultLimit, negative
// means no bound. Comments and unknown fields are never stored and do not count.
func NewReader(src io.Reader, limit int64) *Reader {
	if limit == 0 {
		limit = DefaultLimit
	}
	return &Reader{src: src, limit: limit, buf: make([]byte, minBuffer)}
}

// Next returns the next event, setting or comment as soon as the line end that completes it has arrived.
//
// It fails with io.EOF at the end of the stream, with ErrCut when an event was left unfinished there, with *LimitError
// for an event that is too large (call again to go on), and else with the error of the source.
func (r *Reader) Next() (Event, error) {
	for {
		if !r.ended {
			if err := r.readPart(); err != nil {
				return Event{}, err
			}
		}
		if !r.ended {
			continue
		}
		r.ended = false
		if event, ok := r.endLine(); ok {
			return event, nil
		}
		if err := r.checkSize(); err != nil {
			return Event{}, err
		}
	}
}

// readPart takes the next piece of the current line, and notes whether the line ended with it.
func (r *Reader) readPart() error {
	if r.start == r.end {
		if err := r.fill(); err != nil {
			return err
		}
	}
	var part []byte
	part, r.ended = r.cut()
	r.feed(part)
	return r.checkSize()
}

// feed takes a piece of the current line, in whatever portions the network gave it.
func (r *Reader) feed(part []byte) {
	for len(part) > 0 {
		switch r.place {
		case atStart:
			r.place = inName
			if part[0] == ':' {
				r.place = inComment
			}
		case inName:
			part = r.feedName(part)
		case beforeVal:
			r.place = inValue
			if part[0] == ' ' {
				part = part[1:]
			}
		case inValue:
			r.feedValue(part)
			return
		case inNoise, inComment:
			return
		}
	}
}

// feedName collects the name of a field and returns what follows the colon.
func (r *Reader) feedName(part []byte) []byte {
	colon := bytes.IndexByte(part, ':')
	name, rest := part, []byte(nil)
	if colon >= 0 {
		name, rest = part[:colon], part[colon+1:]
	}
	if room := len("event") + 1 - len(r.field); len(name) > room {
		name = name[:room] // longer than any known field: enough to see that it is none
	}
	r.field = append(r.field, name...)
	if colon >= 0 {
		r.openField()
	}
	return rest
}

// openField decides what the value of the field just named is good for.
func (r *Reader) openField() {
	r.place = beforeVal
	switch string(r.field) {
	case "data":
		if r.over {
			r.place = inNoise
		} else if r.hasData {
			r.data = append(r.data, '\n')
			r.size++
		}
		r.hasData = true
	case "event", "id", "retry":
	default:
		r.place = inNoise
	}
}

// feedValue stores a piece of a value. A piece is no larger than the buffer, so the limit may be checked after it.
func (r *Reader) feedValue(part []byte) {
	r.size += int64(len(part))
	if string(r.field) == "data" {
		r.data = append(r.data, part...)
	} else {
		r.value = append(r.value, part...)
	}
}

// checkSize gives up the data of an event over the limit, and what it still reads. It reports once an event; a further
// field that is too large by itself (an ID, say) is dropped without another word.
func (r *Reader) checkSize() error {
	if r.limit < 0 || r.size <= r.limit {
		return nil
	}
	if r.place != atStart {
		r.place = inNoise
	}
	const most = 256
	start := bytes.Clone(r.data[:min(len(r.data), most)])
	r.size = 0
	r.data, r.value = nil, nil
	if r.over {
		return nil
	}
	r.over = true
	return &LimitError{Limit: r.limit, Start: start}
}
