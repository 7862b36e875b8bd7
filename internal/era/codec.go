package era

import (
	"encoding/json"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// Codec speaks one revision for one side. A codec holds no state of a connection: every method may be called
// concurrently. The messages it is given were decoded with negotiate.Lift.
type Codec interface {
	// Revision is the name of the revision, for the wire and for logs; nobody branches on it.
	Revision() string

	// Traits answers what a peer of this revision may do.
	Traits() *Traits

	// Look finds how a method stands for a message sent to a side, and its row when it is Known.
	Look(method string, notification bool, to Side) (*Row, Standing)

	// DecodeCall reads a request: rows 5 to 8 of the table of refusals. It fails with *Refusal.
	DecodeCall(m *jsonrpc.Message, h Headers) (*Call, error)

	// DecodeNotice reads a notification. False means that the revision does not have it: it is dropped.
	DecodeNotice(m *jsonrpc.Message) (*Notice, bool)

	// AppendResult appends the wire form of a successful outcome's result member. It fails when the outcome is not one
	// this method may have; the peer is then told of an internal error.
	AppendResult(dst []byte, row *Row, o *Outcome) ([]byte, error)

	// WireError maps an error to the code and data of this revision.
	WireError(e *mcp.Error) *jsonrpc.Error

	// AppendCall appends a request as a frame. It fails with mcp.CodeMethodNotSupported when the revision does not have
	// the method, and then nothing is written.
	AppendCall(dst []byte, out *Outgoing) ([]byte, error)

	// CallHeaders returns the HTTP headers that go with a request beside those of every POST.
	CallHeaders(out *Outgoing) [][2]string

	// AppendNotice appends a notification as a frame, or fails as AppendCall does.
	AppendNotice(dst []byte, n *Notice) ([]byte, error)

	// NoticeHeaders returns the HTTP headers that go with a notification.
	NoticeHeaders(n *Notice) [][2]string

	// TaskTerms says on which terms a call of a tool may go on as a task.
	TaskTerms(call *Call) TaskTerms

	// DecodeOutcome reads the answer to a request that was sent.
	DecodeOutcome(out *Outgoing, m *jsonrpc.Message) (*Outcome, error)
}

// AppendOutcome appends the whole answer to a call. When the result cannot be encoded the peer gets an internal error
// and err says why, for the log; the frame is good in either case.
func AppendOutcome(dst []byte, codec Codec, id jsonrpc.ID, row *Row, o *Outcome) (frame []byte, err error) {
	if refused := o.Err; refused != nil {
		return jsonrpc.AppendError(dst, id, codec.WireError(refused)), nil //nolint:nilerr // the answer is the error
	}
	start := len(dst)
	dst = jsonrpc.OpenResult(dst, id)
	if o.Encoded {
		return append(append(dst, o.Result...), '}'), nil
	}
	out, err := codec.AppendResult(dst, row, o)
	if err != nil {
		internal := mcp.Errorf(mcp.CodeInternal, "Internal error")
		return jsonrpc.AppendError(dst[:start], id, codec.WireError(internal)), err
	}
	return append(out, '}'), nil
}

// Identity is who one side is, for a handshake.
type Identity struct {
	Info         json.RawMessage // Implementation
	Capabilities json.RawMessage // of this side
}

// Greeting is what the opening of a connection has shown of the other side.
type Greeting struct {
	Revision     string             // the revision both will speak; "" when none fits
	Supported    []string           // what the server lists
	Info         mcp.Implementation // zero when not told
	Capabilities mcp.ServerCapabilities
	Instructions string
	Raw          json.RawMessage // the result as it came
}

// Opening is how a client of one era opens a connection: the request that goes first, how its result is read, and what is
// sent afterwards.
type Opening interface {
	// Greet returns the first request, without id.
	Greet() *Outgoing

	// Read takes the result of the first request. It fails when the result is not of its shape.
	Read(result json.RawMessage) (*Greeting, error)

	// Confirm returns the notification that ends the handshake, or nil.
	Confirm() *Notice
}
