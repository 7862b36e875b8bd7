package mcp

import (
	"encoding/base64"
	stdjson "encoding/json"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rialto-mcp/rialto/jsonrpc"
)

// object appends one JSON object to a buffer without reflection. Methods do nothing after the first error.
type object struct {
	dst   []byte
	start int
	err   error
}

// appender is what the types with a fast encoder share.
type appender interface {
	AppendJSON(dst []byte) ([]byte, error)
}

func newObject(dst []byte) object {
	return object{start: len(dst), dst: append(dst, '{')}
}

// key writes a member name. Names come from this package and need no escapes.
func (o *object) key(name string) {
	if len(o.dst) > o.start+1 {
		o.dst = append(o.dst, ',')
	}
	o.dst = append(o.dst, '"')
	o.dst = append(o.dst, name...)
	o.dst = append(o.dst, '"', ':')
}

func (o *object) str(name, value string) {
	o.key(name)
	o.dst = jsonrpc.AppendString(o.dst, value)
}

func (o *object) optStr(name, value string) {
	if value != "" {
		o.str(name, value)
	}
}

func (o *object) ptrStr(name string, value *string) {
	if value != nil {
		o.str(name, *value)
	}
}

func (o *object) strs(name string, values []string) {
	if values == nil {
		return
	}
	o.key(name)
	o.dst = append(o.dst, '[')
	for i, value := range values {
		if i > 0 {
			o.dst = append(o.dst, ',')
		}
		o.dst = jsonrpc.AppendString(o.dst, value)
	}
	o.dst = append(o.dst, ']')
}

func (o *object) bytes(name string, value []byte) {
	o.key(name)
	o.dst = append(o.dst, '"')
	o.dst = base64.StdEncoding.AppendEncode(o.dst, value)
	o.dst = append(o.dst, '"')
}

func (o *object) flag(name string, value bool) {
	if value {
		o.key(name)
		o.dst = append(o.dst, "true"...)
	}
}

func (o *object) ptrFlag(name string, value *bool) {
	if value != nil {
		o.key(name)
		o.dst = strconv.AppendBool(o.dst, *value)
	}
}

func (o *object) ptrInt(name string, value *int64) {
	if value != nil {
		o.key(name)
		o.dst = strconv.AppendInt(o.dst, *value, 10)
	}
}

func (o *object) ptrFloat(name string, value *float64) {
	if value == nil || o.err != nil {
		return
	}
	out, err := json.Marshal(*value)
	if err != nil {
		o.err = fmt.Errorf("member %s: %w", name, err)
		return
	}
	o.key(name)
	o.dst = append(o.dst, out...)
}

// raw writes a raw value, checked and without the white space between its tokens. Nil is absent.
func (o *object) raw(name string, value []byte) {
	if len(value) == 0 || o.err != nil {
		return
	}
	o.key(name)
	o.dst, o.err = appendRaw(o.dst, value)
	if o.err != nil {
		o.err = fmt.Errorf("member %s: %w", name, o.err)
	}
}

// end closes the object. Unknown members come last; they may not repeat a member written before.
func (o *object) end(extra jsontext.Value) ([]byte, error) {
	if o.err != nil {
		return o.dst[:o.start], o.err
	}
	if len(extra) > 0 {
		o.extra(extra)
	}
	o.dst = append(o.dst, '}')
	if len(extra) > 0 && o.err == nil && !jsontext.Value(o.dst[o.start:]).IsValid() {
		o.err = fmt.Errorf("member Extra repeats a member the type has a field for: %.80s", extra)
	}
	if o.err != nil {
		return o.dst[:o.start], o.err
	}
	return o.dst, nil
}

func (o *object) extra(extra jsontext.Value) {
	at := len(o.dst)
	o.dst, o.err = appendRaw(o.dst, extra)
	if o.err != nil || o.dst[at] != '{' {
		o.err = fmt.Errorf("member Extra is not a valid JSON object: %.80s", extra)
		return
	}
	if len(o.dst)-at == 2 { // {}
		o.dst = o.dst[:at]
		return
	}
	if at > o.start+1 {
		o.dst[at] = ','
	} else { // nothing before it: drop its brace
		o.dst = append(o.dst[:at], o.dst[at+1:]...)
	}
	o.dst = o.dst[:len(o.dst)-1]
}

// list writes an array member, [] for nil.
func list[T appender](o *object, name string, items []T) {
	o.key(name)
	o.dst = append(o.dst, '[')
	for i := range items {
		if o.err != nil {
			return
		}
		if i > 0 {
			o.dst = append(o.dst, ',')
		}
		if any(items[i]) == nil {
			o.err = errNilContent
			return
		}
		o.dst, o.err = items[i].AppendJSON(o.dst)
	}
	o.dst = append(o.dst, ']')
}

// optList writes an array member unless it is nil.
func optList[T appender](o *object, name string, items []T) {
	if items != nil && o.err == nil {
		list(o, name, items)
	}
}

// value writes a member whose type has a fast encoder.
func value[T appender](o *object, name string, v *T) {
	if v == nil || o.err != nil {
		return
	}
	o.key(name)
	o.dst, o.err = (*v).AppendJSON(o.dst)
}

// appendRaw appends a raw value after checking it: syntax, duplicate names, UTF-8. String and number tokens stay as they are.
func appendRaw(dst []byte, raw []byte) ([]byte, error) {
	return jsontext.AppendFormat(dst, raw, jsontext.PreserveRawStrings(true))
}

// rawMap is how maps of raw settings are spelled in the exported types.
type rawMap = map[string]stdjson.RawMessage
