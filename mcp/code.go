package mcp

import "strconv"

// Code is the code of an [Error]. Numbers go on the wire as they are, a vendor's or a relayed one too. The symbolic
// codes below lie outside 32 bits; codecs give those for peers their number, and the local ones never leave.
//
// A Code is an error itself and works as a sentinel: errors.Is(err, mcp.CodeRequestTimeout).
type Code int64

// Codes with one number in every revision.
const (
	CodeParse          Code = -32700 // JSON-RPC 2.0
	CodeInvalidRequest Code = -32600
	CodeMethodNotFound Code = -32601
	CodeInvalidParams  Code = -32602
	CodeInternal       Code = -32603

	CodeHeaderMismatch     Code = -32020 // 2026-07-28, basic, "Error Codes"
	CodeMissingCapability  Code = -32021
	CodeUnsupportedVersion Code = -32022
)

// symbolic is beyond every number a peer can write exactly in JSON.
const symbolic Code = 1 << 60

// Codes whose number depends on the era. Only codecs translate them.
const (
	// CodeResourceNotFound is -32002 on the legacy wire and -32602 with data.uri on the modern one.
	CodeResourceNotFound = symbolic + iota
	// CodeURLElicitationRequired is -32042 in 2025-11-25 and no error anywhere else.
	CodeURLElicitationRequired
)

// Codes of failures on this side of the wire.
const (
	// CodeNotConnected: the call was made before a connection stood or after it was closed.
	CodeNotConnected = symbolic + 1000 + iota
	// CodeConnectionClosed: the connection ended while the call waited.
	CodeConnectionClosed
	// CodeRequestTimeout: no answer came in time.
	CodeRequestTimeout
	// CodeInvalidResult: the answer breaks the shape of its method.
	CodeInvalidResult
	// CodeUnsupportedResultType: the answer's resultType is none this side knows; data names it and the method.
	CodeUnsupportedResultType
	// CodeMethodNotSupported: the method does not exist in the negotiated revision; nothing was sent.
	CodeMethodNotSupported
	// CodeCapabilityNotSupported: the peer did not declare the capability the call needs; nothing was sent.
	CodeCapabilityNotSupported
	// CodeInputRoundsExceeded: the server kept asking for input beyond the limit.
	CodeInputRoundsExceeded
	// CodeInputHandlerMissing: the server asked for input that no handler of this side gives.
	CodeInputHandlerMissing
	// CodeNegotiationFailed: the two sides share no revision, or the server could not be asked for its own.
	CodeNegotiationFailed
	// CodeMessageTooLarge: a message exceeds the limit of this side.
	CodeMessageTooLarge
	// CodeOverloaded: this side has too many requests in flight.
	CodeOverloaded
)

var codeNames = map[Code]string{
	CodeParse:                  "parse error",
	CodeInvalidRequest:         "invalid request",
	CodeMethodNotFound:         "method not found",
	CodeInvalidParams:          "invalid params",
	CodeInternal:               "internal error",
	CodeHeaderMismatch:         "header mismatch",
	CodeMissingCapability:      "missing required client capability",
	CodeUnsupportedVersion:     "unsupported protocol version",
	CodeResourceNotFound:       "resource not found",
	CodeURLElicitationRequired: "URL elicitation required",
	CodeNotConnected:           "not connected",
	CodeConnectionClosed:       "connection closed",
	CodeRequestTimeout:         "request timed out",
	CodeInvalidResult:          "invalid result",
	CodeUnsupportedResultType:  "unsupported result type",
	CodeMethodNotSupported:     "method not supported by the protocol version",
	CodeCapabilityNotSupported: "capability not supported by the peer",
	CodeInputRoundsExceeded:    "too many input rounds",
	CodeInputHandlerMissing:    "no handler for the input the server asks for",
	CodeNegotiationFailed:      "negotiation failed",
	CodeMessageTooLarge:        "message too large",
	CodeOverloaded:             "too many requests in flight",
}

// String answers the name of a code, or its number.
func (c Code) String() string {
	if name, ok := codeNames[c]; ok {
		return name
	}
	return "error " + strconv.FormatInt(int64(c), 10)
}

// Error implements error; see [Code].
func (c Code) Error() string { return c.String() }

// IsLocal reports whether the code describes a failure on this side and has no number on any wire. What is to be told
// to a peer of such a failure is [CodeInternal].
func (c Code) IsLocal() bool { return c >= symbolic+1000 }

// IsSymbolic reports whether the code lies outside 32 bits: a codec must translate it before it is written.
func (c Code) IsSymbolic() bool { return c >= symbolic }
