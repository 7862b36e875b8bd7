package jsonrpc

import (
	"encoding/json"
	"errors"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// ID is the id of a request, kept as the token it came with: 1 and "1" are two ids, and so are "a" and "\u0061", since
// an answer must carry the very token. The zero ID means "no id"; 0 and "" are ids like any other. IDs may be compared
// with == and used as map keys. The ID of a decoded message keeps the message's frame in memory.
type ID struct{ token string }

// IntID returns the id that is written as the decimal n.
func IntID(n int64) ID { return ID{strconv.FormatInt(n, 10)} }

// StringID returns the id that is written as the JSON string s. Invalid UTF-8 is replaced.
func StringID(s string) ID { return ID{string(AppendString(nil, s))} }

var errID = errors.New("an id is a string or an integer")

// ParseID reads an id from its raw token. It fails for null, fractions, exponents, other types and what is no single JSON
// token.
func ParseID(token []byte) (ID, error) {
	padded := len(token) > 0 && token[0] == '"' && token[len(token)-1] != '"' // which IsValid lets pass
	if padded || !isIDToken(token) || !jsontext.Value(token).IsValid() {
		return ID{}, errID
	}
	return ID{string(token)}, nil
}

// isIDToken tells whether a valid JSON value is a string or an integer without fraction and exponent. Of any other bytes
// it says nothing.
func isIDToken(token []byte) bool {
	if len(token) == 0 {
		return false
	}
	if token[0] == '"' {
		return true
	}
	for i, c := range token {
		if (c < '0' || c > '9') && (c != '-' || i != 0) {
			return false
		}
	}
	return token[0] != '-' || len(token) > 1
}

// IsZero tells whether there is no id.
func (id ID) IsZero() bool { return id.token == "" }

// Raw returns the token as it is sent. It is nil for the zero ID.
func (id ID) Raw() json.RawMessage {
	if id.token == "" {
		return nil
	}
	return json.RawMessage(id.token)
}

// Append appends the token to dst, without an allocation of its own.
func (id ID) Append(dst []byte) []byte { return append(dst, id.token...) }

// String returns the token, for logs and errors.
func (id ID) String() string {
	if id.token == "" {
		return "(none)"
	}
	return id.token
}
