package jsonrpc

import "encoding/json"

// Kind tells what a message is.
type Kind uint8

// The kinds of messages.
const (
	KindRequest      Kind = iota + 1 // a method and an id
	KindNotification                 // a method and no id
	KindResult                       // a result and an id
	KindError                        // an error; the id may be absent where the request could not be read
)

func (k Kind) String() string {
	switch k {
	case KindRequest:
		return "request"
	case KindNotification:
		return "notification"
	case KindResult:
		return "result"
	case KindError:
		return "error"
	}
	return "no message"
}

// Message is one JSON-RPC message. Decode fills it from a frame; a sender may also fill the exported fields and call
// [Message.Append]. The raw values of a decoded message point into its frame, which the message owns: nobody writes
// to them.
type Message struct {
	ID     ID
	Method string          // empty for results and errors
	Params json.RawMessage // an object; nil when absent
	Result json.RawMessage // any JSON value; nil when absent
	Error  *Error          // set for errors only

	// Extra holds the members that JSON-RPC does not name, as `"name":value` joined by commas; nil when there are none.
	Extra json.RawMessage

	frame  []byte
	body   span // params or result, as a span of the frame
	meta   span // its _meta member, when that is an object
	lifted [maxLifted]span

	metaSize int32 // how many members _meta has
}

func (m *Message) forgetLifted() {
	m.body, m.meta, m.lifted, m.metaSize = span{}, span{}, [maxLifted]span{}, 0
}

// Kind tells what m is, or 0 when it is no message.
func (m *Message) Kind() Kind {
	switch {
	case m.Method != "" && !m.ID.IsZero():
		return KindRequest
	case m.Method != "":
		return KindNotification
	case m.Result != nil:
		return KindResult
	case m.Error != nil:
		return KindError
	}
	return 0
}

// Error is the error member of an answer.
type Error struct {
	Code    int64           // the wire number
	Message string          // one sentence for people
	Data    json.RawMessage // any JSON value, kept as it came; nil when absent
}

// Frame returns the bytes the message was decoded from; nil for a message that was built.
func (m *Message) Frame() []byte { return m.frame }

// Lifted returns the raw value of the i-th name of the lift table's Body list, and whether params (or result) has it.
func (m *Message) Lifted(i int) (json.RawMessage, bool) { return m.at(m.lifted[i]) }

// LiftedMeta returns the raw value of the i-th name of the lift table's Meta list, and whether _meta has it. The
// argument is the position in Lift.Meta.
func (m *Message) LiftedMeta(i int) (json.RawMessage, bool) { return m.at(m.lifted[maxBody+i]) }

// Meta returns the raw _meta object of params or result, and whether there is one that is an object.
func (m *Message) Meta() (json.RawMessage, bool) { return m.at(m.meta) }

func (m *Message) at(s span) (json.RawMessage, bool) {
	if s.End == 0 {
		return nil, false
	}
	return m.frame[s.Start:s.End:s.End], true
}

// span is where a value stands in a frame, and where the name of its member begins (-1 where it is no member).
type span struct{ Name, Start, End int32 }

// Lift names the members that Decode notes while it scans: Body those of params or result, Meta those of their _meta.
// A table is built once and not changed afterwards.
type Lift struct {
	Body []string // at most 20 names
	Meta []string // at most 12 names
}

const (
	maxBody   = 20
	maxMeta   = 12
	maxLifted = maxBody + maxMeta
)

// NewLift returns a table over the names given. It panics when there are more names than a table holds, which only a
// programmer can cause.
func NewLift(body, meta []string) *Lift {
	if len(body) > maxBody || len(meta) > maxMeta {
		panic("jsonrpc: too many names to lift")
	}
	return &Lift{Body: body, Meta: meta}
}
