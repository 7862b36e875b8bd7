package mcp

import (
	stdjson "encoding/json"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/rialto-mcp/rialto/jsonrpc"
)

// Keys of `_meta` that the specification names.
const (
	MetaProtocolVersion    = "io.modelcontextprotocol/protocolVersion"
	MetaClientInfo         = "io.modelcontextprotocol/clientInfo"
	MetaClientCapabilities = "io.modelcontextprotocol/clientCapabilities"
	MetaLogLevel           = "io.modelcontextprotocol/logLevel"
	MetaServerInfo         = "io.modelcontextprotocol/serverInfo"
	MetaSubscriptionID     = "io.modelcontextprotocol/subscriptionId"
	MetaRelatedTask        = "io.modelcontextprotocol/related-task"
	MetaImmediateResponse  = "io.modelcontextprotocol/model-immediate-response" // 2025-11-25, in the answer that is a task: a text for the model
	MetaProgressToken      = "progressToken"
	MetaTraceParent        = "traceparent"
	MetaTraceState         = "tracestate"
	MetaBaggage            = "baggage"
)

// Meta is a `_meta` object as it stands on the wire: raw JSON, members in the order sent. Nil means absent.
//
// Methods never change the bytes they are called on; Set and Without answer a new value, so a Meta may be shared
// between goroutines. A Meta that is not an object (a peer's mistake) is kept, and reads as one without members.
type Meta []byte

// NewMeta builds a Meta from one member; chain Set for more.
func NewMeta(key string, value any) (Meta, error) { return Meta(nil).With(key, value) }

// Get answers the raw value of a member. It aliases m and must not be changed.
func (m Meta) Get(key string) (stdjson.RawMessage, bool) { return Member(m, key) }

// Text answers a member that is a string.
func (m Meta) Text(key string) (string, bool) {
	raw, ok := m.Get(key)
	if !ok {
		return "", false
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil || isNull(raw) {
		return "", false
	}
	return s, true
}

// Decode reads a member into v. It answers false without an error when the member is absent.
func (m Meta) Decode(key string, v any) (bool, error) {
	raw, ok := m.Get(key)
	if !ok {
		return false, nil
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return true, fmt.Errorf("_meta member %q: %w", key, err)
	}
	return true, nil
}

// With answers a copy in which key holds the JSON of value.
func (m Meta) With(key string, value any) (Meta, error) {
	raw, err := json.Marshal(value, encodeOptions)
	if err != nil {
		return nil, fmt.Errorf("_meta member %q: %w", key, err)
	}
	return m.Set(key, raw), nil
}

// Set answers a copy in which key holds raw, in its old place or at the end. Other members keep their bytes; of a Meta that
// is no object nothing is kept.
func (m Meta) Set(key string, raw stdjson.RawMessage) Meta {
	var old stdjson.RawMessage // counts as {}
	if isWholeObject(m) {
		old = stdjson.RawMessage(m)
	}
	return jsonrpc.With(make(Meta, 0, len(m)+len(key)+len(raw)+6), old, key, raw)
}

// Without answers a copy that lacks key, and nil when nothing is left.
func (m Meta) Without(key string) Meta {
	if _, ok := m.Get(key); !ok {
		return m
	}
	left := jsonrpc.Without(stdjson.RawMessage(m), key)
	for range jsonrpc.Fields(left) {
		return Meta(left)
	}
	return nil
}

// ProgressToken answers the token a requester wants its progress under. The zero token means none is wanted.
func (m Meta) ProgressToken() ProgressToken { return m.token(MetaProgressToken) }

// SubscriptionID answers the request id of the listen a notification belongs to, zero when there is none.
func (m Meta) SubscriptionID() RequestID { return m.token(MetaSubscriptionID) }

func (m Meta) token(key string) Token {
	raw, ok := m.Get(key)
	if !ok {
		return Token{}
	}
	token, err := ParseToken(raw)
	if err != nil {
		return Token{}
	}
	return token
}

// AppendJSON appends the object, null when absent.
func (m Meta) AppendJSON(dst []byte) ([]byte, error) {
	if len(m) == 0 {
		return append(dst, "null"...), nil
	}
	return appendRaw(dst, m)
}

// MarshalJSON implements json.Marshaler.
func (m Meta) MarshalJSON() ([]byte, error) { return m.AppendJSON(nil) }

// UnmarshalJSON keeps a copy of the bytes; null is absent.
func (m *Meta) UnmarshalJSON(in []byte) error {
	if isNull(in) {
		*m = nil
		return nil
	}
	*m = append(Meta(nil), in...)
	return nil
}

// CheckMetaKey says why a key breaks the grammar of `_meta` keys: an optional prefix of labels joined by dots and ended
// by one slash, then a name. Spec 2026-07-28, basic, "_meta".
func CheckMetaKey(key string) error {
	name := key
	if prefix, rest, ok := strings.Cut(key, "/"); ok {
		if err := checkPrefix(prefix); err != nil {
			return fmt.Errorf("key %q: %w", key, err)
		}
		name = rest
	}
	if name == "" && name != key { // a prefix alone is a legal key
		return nil
	}
	if !isKeyName(name) {
		return fmt.Errorf("key %q: the name must begin and end with a letter or digit, with letters, digits, '-', '_' and '.' between", key)
	}
	return nil
}

// IsReservedMetaKey reports whether the prefix of a key belongs to the specification: its second label is
// "modelcontextprotocol" or "mcp".
func IsReservedMetaKey(key string) bool {
	prefix, _, ok := strings.Cut(key, "/")
	if !ok {
		return false
	}
	labels := strings.Split(prefix, ".")
	return len(labels) > 1 && (labels[1] == "modelcontextprotocol" || labels[1] == "mcp")
}

func checkPrefix(prefix string) error {
	for label := range strings.SplitSeq(prefix, ".") {
		if !isLabel(label) {
			return fmt.Errorf("the prefix label %q must begin with a letter and end with a letter or digit, with letters, digits and '-' between", label)
		}
	}
	return nil
}

func isLabel(s string) bool {
	if s == "" || !isLetter(s[0]) || !isAlnum(s[len(s)-1]) {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool { return r != '-' && !isAlnumRune(r) }) < 0
}

func isKeyName(s string) bool {
	if s == "" || !isAlnum(s[0]) || !isAlnum(s[len(s)-1]) {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool { return !strings.ContainsRune("-_.", r) && !isAlnumRune(r) }) < 0
}

func isLetter(c byte) bool    { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isAlnum(c byte) bool     { return isLetter(c) || '0' <= c && c <= '9' }
func isAlnumRune(r rune) bool { return r < 0x80 && isAlnum(byte(r)) }
