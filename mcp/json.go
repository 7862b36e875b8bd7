package mcp

import (
	stdjson "encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rialto-mcp/rialto/jsonrpc"
)

// encodeOptions hold for every wire type, whoever calls: map order is stable, raw strings keep their escapes, and a
// Go string that is not UTF-8 (the output of a shell command, say) is repaired with U+FFFD instead of failing the call.
var encodeOptions = json.JoinOptions(
	json.Deterministic(true),
	jsontext.PreserveRawStrings(true),
	jsontext.AllowInvalidUTF8(true),
)

// decodeOptions hold for every wire type, whoever calls: exact member names and the lenient lists of lists.go.
// Duplicate names and invalid UTF-8 are refused by the decoder's own defaults.
var decodeOptions = json.JoinOptions(
	json.MatchCaseInsensitiveNames(false),
	json.WithUnmarshalers(lenientLists),
)

// marshal encodes a plain struct, which is a wire type without its methods.
func marshal(plain any) ([]byte, error) {
	out, err := json.Marshal(plain, encodeOptions)
	if err != nil {
		return nil, err
	}
	if !utf8.Valid(out) { // Go strings were repaired above, so this came from a raw member
		return nil, errors.New("a raw JSON member holds invalid UTF-8")
	}
	return out, nil
}

// unmarshal decodes into a plain struct. The target is replaced as a whole and left alone on an error, so that a value
// used twice does not gather the unknown members of both objects.
func unmarshal[T any](in []byte, plain *T) error {
	var fresh T
	if err := json.Unmarshal(in, &fresh, decodeOptions); err != nil {
		return err
	}
	*plain = fresh
	return nil
}

// unmarshalFrom is unmarshal on a decoder of the caller; it spares json v2 a second parse of nested objects.
func unmarshalFrom[T any](dec *jsontext.Decoder, plain *T) error {
	var fresh T
	if err := json.UnmarshalDecode(dec, &fresh, decodeOptions); err != nil {
		return err
	}
	*plain = fresh
	return nil
}

// tagged puts a fixed member "type" in front of a plain struct.
type tagged[T any] struct {
	Type string `json:"type"`
	Body *T     `json:",embed"`
}

// unmarshalTagged decodes an object whose member "type" has to be want.
func unmarshalTagged[T any](in []byte, want string, plain *T, opts json.Options) error {
	var fresh T
	wire := tagged[T]{Body: &fresh}
	if err := json.Unmarshal(in, &wire, opts); err != nil {
		return err
	}
	if wire.Type != want {
		return fmt.Errorf("member type is %q, want %q", wire.Type, want)
	}
	*plain = fresh
	return nil
}

// Member finds one member of a raw JSON object, for members this package has no field for (they are kept in the Extra
// field of each type). It answers false when raw is not an object or has no such member. The answer aliases raw.
func Member(raw []byte, name string) (stdjson.RawMessage, bool) { return jsonrpc.Member(raw, name) }

// isWholeObject tells whether bytes that nobody has checked yet are one valid JSON object.
func isWholeObject(raw []byte) bool { return jsonrpc.IsObject(raw) && jsontext.Value(raw).IsValid() }

// isNull reports whether a raw value is the literal null.
func isNull(raw []byte) bool { return string(raw) == "null" }

// absentIfNull turns an explicit null into an absent value, for members where peers use the two alike.
func absentIfNull(raw stdjson.RawMessage) stdjson.RawMessage {
	if isNull(raw) {
		return nil
	}
	return raw
}
