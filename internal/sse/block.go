package sse

import (
	"bytes"
	"time"
)

const keepBytes = 64 << 10 // scratch space above this is not kept between events

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
