package sse

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"
)

// DefaultLimit is the size of the largest event a Reader takes when it is told nothing else: 10 MiB.
const DefaultLimit = 10 << 20

const (
	minBuffer = 4 << 10  // an idle stream holds this much
	maxBuffer = 32 << 10 // a busy one this much
	keepBytes = 64 << 10 // scratch space above this is not kept between events
)

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

// endLine finishes a line and reports whether it completed something to hand over.
func (r *Reader) endLine() (Event, bool) {
	was := r.place
	r.place = atStart
	switch was {
	case atStart:
		return r.dispatch()
	case inComment:
		return Event{Kind: Comment}, true
	case inName: // a line without a colon is a field with an empty value
		r.openField()
		was, r.place = r.place, atStart
	}
	r.dirty = true
	if was != inNoise {
		r.setField()
	}
	r.field, r.value = r.field[:0], r.value[:0]
	return Event{}, false
}

// setField keeps the value of a finished field for the event. Data is in place already.
func (r *Reader) setField() {
	switch string(r.field) {
	case "event":
		r.event.Name = intern(r.value)
	case "id":
		if bytes.IndexByte(r.value, 0) < 0 {
			r.event.ID, r.event.HasID = string(r.value), true
		}
	case "retry":
		if wait, ok := parseRetry(r.value); ok {
			r.event.Retry, r.event.HasRetry = wait, true
		}
	}
}

// dispatch ends a block at an empty line.
func (r *Reader) dispatch() (Event, bool) {
	event := r.event
	switch {
	case r.hasData && !r.over:
		event.Data = r.takeData()
	case event.HasID || event.HasRetry:
		event.Kind = Setting
	default:
		r.reset()
		return Event{}, false
	}
	if event.Name == "" {
		event.Name = DefaultName
	}
	r.reset()
	return event, true
}

// takeData makes the collected data the caller's: small events get an exact copy, large ones the buffer itself.
func (r *Reader) takeData() []byte {
	if cap(r.data) > keepBytes && len(r.data) > cap(r.data)/2 {
		data := r.data[:len(r.data):len(r.data)]
		r.data = nil
		return data
	}
	data := make([]byte, len(r.data))
	copy(data, r.data)
	return data
}

func (r *Reader) reset() {
	if cap(r.data) > keepBytes {
		r.data = nil
	}
	r.data = r.data[:0]
	r.dirty, r.over, r.hasData, r.size = false, false, false, 0
	r.event = Event{}
}

// intern spares the copy of the names MCP uses.
func intern(name []byte) string {
	switch string(name) {
	case DefaultName:
		return DefaultName
	case "endpoint":
		return "endpoint"
	}
	return string(name)
}

// parseRetry reads ASCII digits as milliseconds. Anything else makes the standard ignore the field. Absurd values end
// at about 24 days, so that no sum with a duration overflows.
func parseRetry(digits []byte) (time.Duration, bool) {
	const most = 1<<31 - 1
	if len(digits) == 0 {
		return 0, false
	}
	ms := int64(0)
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		ms = min(ms*10+int64(c-'0'), most)
	}
	return time.Duration(ms) * time.Millisecond, true
}
