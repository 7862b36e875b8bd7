package era

import (
	"encoding/json"

	"github.com/rialto-mcp/rialto/jsonrpc"
)

// Call is one decoded request in neutral form. It is read-only after DecodeCall and lives as long as its request.
type Call struct {
	Message *jsonrpc.Message
	Codec   Codec
	Row     *Row // nil for vendor methods
	Headers Headers

	// Envelope is the sender's own words on a modern request, the handshake's on a legacy one.
	Envelope Envelope

	// Retry material of the modern era; nil elsewhere. InputResponses is the raw object, or whatever came in its place;
	// RequestState is the raw value.
	InputResponses json.RawMessage
	RequestState   json.RawMessage

	lean func(*jsonrpc.Message) json.RawMessage
}

// NewCall is for codecs: lean cuts the era's own members out of the params.
func NewCall(m *jsonrpc.Message, codec Codec, row *Row, h Headers, lean func(*jsonrpc.Message) json.RawMessage) *Call {
	return &Call{Message: m, Codec: codec, Row: row, Headers: h, lean: lean}
}

// ID returns the id the request came with.
func (c *Call) ID() jsonrpc.ID { return c.Message.ID }

// Method returns the method's name.
func (c *Call) Method() string { return c.Message.Method }

// Params returns the neutral params: without the era's own members, every other token as it came. It is nil when the
// request had none. It cuts anew at each call.
func (c *Call) Params() json.RawMessage {
	if c.lean == nil {
		return c.Message.Params
	}
	return c.lean(c.Message)
}

// Param returns the raw value of a lifted member of params, by its Lift position.
func (c *Call) Param(position int) (json.RawMessage, bool) { return c.Message.Lifted(position) }

// ProgressToken returns the raw token the sender wants progress under, and whether it wants any.
func (c *Call) ProgressToken() (json.RawMessage, bool) {
	return c.Message.LiftedMeta(MetaProgressToken)
}

// Notice is a notification in neutral form, in either direction.
type Notice struct {
	Method string
	Params json.RawMessage // nil for none

	// Subscription is the raw id of the listen it belongs to, on the modern era; nil otherwise.
	Subscription json.RawMessage

	Message *jsonrpc.Message // the message it was decoded from; nil for one to be sent
}

// Outgoing is a request to be sent, in neutral form.
type Outgoing struct {
	ID     jsonrpc.ID
	Method string
	Params json.RawMessage // an object; nil for none

	// Token asks for progress under this raw token, replacing one in Params. Nil leaves Params as they are.
	Token json.RawMessage

	// LogLevel is the level asked for with this request, where the era carries it there; "" for none.
	LogLevel string

	// Meta holds further members of _meta as a raw object; they win over the codec's own. Nil for none.
	Meta json.RawMessage

	// InputResponses and RequestState are the answer to an earlier input_required result, as raw values.
	InputResponses json.RawMessage
	RequestState   json.RawMessage

	// Task asks for a task: the object of the parameter by which a client does that, where the revision has it; nil for
	// no wish.
	Task json.RawMessage

	// Mirrors are parameters to be mirrored into headers, already encoded, as name and value.
	Mirrors [][2]string
}
