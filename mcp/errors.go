package mcp

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Error is a protocol error, sent or received. An error a handler returns as *Error reaches the peer with its code,
// message and data; keep local detail (paths, addresses, credentials) out of those and wrap it instead: what Unwrap
// answers stays here. Values are read-only once handed over.
type Error struct {
	Code    Code            // wire number, sent as it is; a few named codes get theirs from the era
	Message string          // one sentence for people
	Data    json.RawMessage // passed on unchanged; nil is absent
	Remote  bool            // the peer sent it, as against made on this side
	err     error
}

// Errorf makes an error. Operands of %w become its causes; their text is part of the message like that of any operand,
// so use [Error.Because] for a cause that is not for the peer.
func Errorf(code Code, format string, args ...any) *Error {
	formatted := fmt.Errorf(format, args...)
	made := &Error{Code: code, Message: formatted.Error(), err: errors.Unwrap(formatted)}
	if _, several := formatted.(interface{ Unwrap() []error }); several {
		made.err = formatted
	}
	return made
}

// Because answers a copy with a cause that is logged and found by errors.Is and errors.As, but never sent.
func (e *Error) Because(cause error) *Error {
	copied := *e
	copied.err = cause
	return &copied
}

// WithData answers a copy that carries v as JSON. It panics when v has no JSON form, which only a programmer can cause.
func (e *Error) WithData(v any) *Error {
	raw, err := marshal(v)
	if err != nil {
		panic("mcp: error data: " + err.Error())
	}
	copied := *e
	copied.Data = raw
	return &copied
}

// Error implements error: side, message and the code's name where the message does not say it. A long message is cut.
func (e *Error) Error() string {
	text := e.Message
	if name := e.Code.String(); text == "" {
		text = name
	} else if !strings.Contains(strings.ToLower(text), strings.ToLower(name)) {
		text = name + ": " + text
	}
	if e.Remote {
		return "peer: " + shown(text, mostRemote)
	}
	return shown(text, mostLocal)
}

// Bounds of the text of an error, in bytes: a peer may send a message of any length. Message is whole.
const (
	mostRemote = 2000
	mostLocal  = 10_000 // which has room for the last words of a process
)

func shown(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return fmt.Sprintf("%s... (%d bytes)", strings.ToValidUTF8(text[:most], ""), len(text))
}

// Unwrap answers the cause.
func (e *Error) Unwrap() error { return e.err }

// Is lets errors.Is find a [Code], and another *Error by its code. A local code in an error of the peer is a number the
// peer made up, and matches nothing.
func (e *Error) Is(target error) bool {
	var code Code
	switch target := target.(type) {
	case Code:
		code = target
	case *Error:
		code = target.Code
	default:
		return false
	}
	return e.Code == code && !(e.Remote && code.IsLocal())
}

// CodeOf answers the code of the first *Error or Code in err's tree, and [CodeInternal] when there is none.
func CodeOf(err error) Code {
	var protocol *Error
	if errors.As(err, &protocol) {
		return protocol.Code
	}
	var code Code
	if errors.As(err, &code) {
		return code
	}
	return CodeInternal
}

// InvalidParams says what is wrong with the parameters of a request.
func InvalidParams(format string, args ...any) *Error {
	return Errorf(CodeInvalidParams, format, args...)
}

// MethodNotFound says that a method does not exist here.
func MethodNotFound(method string) *Error {
	return Errorf(CodeMethodNotFound, "method %q not found", method)
}

// ResourceNotFound says that a URI leads nowhere.
func ResourceNotFound(uri string) *Error {
	return Errorf(CodeResourceNotFound, "resource not found: %s", uri).WithData(map[string]string{"uri": uri})
}

// MissingCapability says which capabilities the client would have to declare, in its message and in its data.
func MissingCapability(required ClientCapabilities) *Error {
	e := Errorf(CodeMissingCapability, "").WithData(missingCapabilityData{Required: required})
	names, _ := Member(e.Data, "requiredCapabilities")
	e.Message = "the request needs client capabilities that it does not declare: " + string(names)
	return e
}

// UnsupportedVersion says which revisions are served instead of the requested one.
func UnsupportedVersion(supported []string, requested string) *Error {
	if supported == nil {
		supported = []string{}
	}
	return Errorf(CodeUnsupportedVersion, "protocol version %q is not served here; use one of: %s",
		requested, strings.Join(supported, ", ")).
		WithData(unsupportedVersionData{Supported: supported, Requested: requested})
}

// URLElicitationRequired says which pages the user has to visit before a retry can succeed (2025-11-25). An empty Mode becomes
// ElicitModeURL.
func URLElicitationRequired(elicitations ...ElicitURLParams) *Error {
	elicitations = append([]ElicitURLParams{}, elicitations...)
	for i := range elicitations {
		elicitations[i].Mode = cmp.Or(elicitations[i].Mode, ElicitModeURL)
	}
	return Errorf(CodeURLElicitationRequired, "the user has to visit a page first").
		WithData(urlElicitationData{Elicitations: elicitations})
}
