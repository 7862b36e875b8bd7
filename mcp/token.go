package mcp

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rialto-mcp/rialto/jsonrpc"
)

// Token is a JSON string or integer that one side makes up and the other gives back. It keeps the bytes it came with,
// so 2^53+1 and escapes survive. Two tokens are equal (==) when their bytes are; the zero Token means absent.
type Token struct{ raw string }

// ProgressToken names the request that progress belongs to.
type ProgressToken = Token

// RequestID is a JSON-RPC request id where it appears inside a payload.
type RequestID = Token

// StringToken makes a token from a string.
func StringToken(s string) Token { return Token{raw: string(jsonrpc.AppendString(nil, s))} }

// IntToken makes a token from an integer.
func IntToken(n int64) Token { return Token{raw: strconv.FormatInt(n, 10)} }

// ParseToken reads a raw JSON string or integer. Null reads as absent; fractions and other kinds are refused.
func ParseToken(raw []byte) (Token, error) {
	if isNull(raw) {
		return Token{}, nil
	}
	if len(raw) > 0 && (isString(raw) || isInteger(raw)) {
		return Token{raw: string(raw)}, nil
	}
	return Token{}, fmt.Errorf("a token must be a string or an integer, got %.40s", raw)
}

// isString leaves no room for white space around the string, which would make one token look like two.
func isString(raw []byte) bool {
	return raw[0] == '"' && raw[len(raw)-1] == '"' && jsontext.Value(raw).IsValid()
}

func isInteger(raw []byte) bool {
	if raw[0] == '-' {
		raw = raw[1:]
	}
	if len(raw) == 0 || raw[0] == '0' && len(raw) > 1 {
		return false
	}
	for _, c := range raw {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// Raw answers the JSON bytes as a string, "" when absent.
func (t Token) Raw() string { return t.raw }

// IsZero reports whether the token is absent.
func (t Token) IsZero() bool { return t.raw == "" }

// String answers the text of the token, without quotes.
func (t Token) String() string {
	if t.raw == "" || t.raw[0] != '"' {
		return t.raw
	}
	text, err := jsontext.AppendUnquote(nil, t.raw)
	if err != nil {
		return t.raw
	}
	return string(text)
}

// MarshalJSON implements json.Marshaler. An absent token is an error: where one is required it was forgotten.
func (t Token) MarshalJSON() ([]byte, error) {
	if t.raw == "" {
		return nil, errors.New("the token or request id is missing")
	}
	return []byte(t.raw), nil
}

// UnmarshalJSON implements json.Unmarshaler; see [ParseToken].
func (t *Token) UnmarshalJSON(in []byte) error {
	parsed, err := ParseToken(in)
	if err != nil {
		return err
	}
	*t = parsed
	return nil
}
