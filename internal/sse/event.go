package sse

import "time"

// DefaultName is the name of an event whose stream gives it none.
const DefaultName = "message"

// Kind tells what [Reader.Next] has found.
type Kind uint8

const (
	// Message is an event with data, which may be empty: a server opens a resumable stream with an ID and empty data.
	Message Kind = iota

	// Setting is a block without data: nothing to hand over, but its ID and Retry count.
	Setting

	// Comment is a line that starts with a colon. It says that the peer is alive and nothing else.
	Comment
)

// Event is one block of an event stream, or one comment. Data belongs to whoever got the event from a Reader.
type Event struct {
	Kind Kind

	// Name is the event's type. A Reader gives DefaultName where the stream gives none; AppendEvent leaves the line
	// out where Name is empty.
	Name string

	// ID is what to resume after. HasID tells an ID that is empty (it forgets the last one) from none at all.
	ID    string
	HasID bool

	// Data holds the data lines, joined by line feeds. It is not checked to be UTF-8.
	Data []byte

	// Retry is how long to wait before a reconnect, sent as whole milliseconds. HasRetry tells zero from none.
	Retry    time.Duration
	HasRetry bool
}
