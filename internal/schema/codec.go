package schema

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// Codec carries values of one type over the wire by the rules in the package documentation. It is immutable and safe
// for concurrent use; build it once, where a handler is registered.
type Codec struct {
	typ      reflect.Type
	decoding json.Options
	lenient  json.Options
	encoding json.Options
	defaults []preset
}

// preset is the default of a member, set before decoding, so that an absent member keeps it.
type preset struct {
	index []int
	value reflect.Value
}

// CodecFor prepares a codec for a type. It fails as [ForType] does, and for a default that does not fit its field.
//
// Defaults of the struct's own members of boolean, number and string kinds (and pointers to those) are filled in when
// the member is absent; an explicit zero stays zero. Defaults elsewhere only stand in the schema.
func CodecFor(t reflect.Type) (*Codec, error) {
	if _, err := ForType(t); err != nil {
		return nil, err
	}
	c := &Codec{typ: t, encoding: json.JoinOptions(json.Deterministic(true), jsonv1.OmitEmptyWithLegacySemantics(true))}
	if mayHoldDuration(t) { // functions of ours cost time at each value
		c.encoding = json.JoinOptions(c.encoding, json.WithMarshalers(json.MarshalToFunc(writeDuration)))
	}
	durations := json.UnmarshalFromFunc(readDuration)
	c.lenient = json.JoinOptions(json.WithUnmarshalers(json.JoinUnmarshalers(
		durations, json.UnmarshalFromFunc(readTime), json.UnmarshalFromFunc(readInteger))))
	c.decoding = json.JoinOptions()
	if mayHoldDuration(t) {
		c.decoding = json.WithUnmarshalers(durations)
	}
	return c, c.readDefaults()
}

// mayHoldDuration also says yes for an interface, in which one may come along.
func mayHoldDuration(t reflect.Type) bool {
	match := func(inner reflect.Type) bool { return inner == durationType || inner.Kind() == reflect.Interface }
	return match(t) || holds(t, match, map[reflect.Type]bool{})
}

func (c *Codec) readDefaults() error {
	t := indirect(c.typ)
	if t.Kind() != reflect.Struct || hasOwnForm(t) {
		return nil
	}
	fields, err := structFields(t)
	if err != nil {
		return err
	}
	for _, f := range fields {
		settings, err := parseTag(f.tag)
		if err != nil {
			return fmt.Errorf("%s: %w", f.where, err)
		}
		for _, s := range settings {
			if s.key != "default" || !presettable(f.typ) {
				continue
			}
			value := reflect.New(f.typ)
			raw, err := literal(s.value, indirect(f.typ))
			if err == nil {
				err = json.Unmarshal(raw, value.Interface(), c.lenient)
			}
			if err != nil {
				return fmt.Errorf("%s: the default %q does not fit: %w", f.where, s.value, err)
			}
			c.defaults = append(c.defaults, preset{f.index, value.Elem()})
		}
	}
	return nil
}

func presettable(t reflect.Type) bool {
	t = indirect(t)
	return t.Kind() == reflect.Bool || t.Kind() == reflect.String || integer(t.Kind()) != nil ||
		t.Kind() == reflect.Float32 || t.Kind() == reflect.Float64
}

// Decode reads a value of the codec's type. The error is a [*ValidationError] that holds nothing of the value but the
// path. raw is not kept. T must be the codec's type.
func Decode[T any](c *Codec, raw stdjson.RawMessage) (T, error) {
	var v T
	err := c.DecodeInto(raw, &v)
	return v, err
}

// DecodeInto is Decode into target, a pointer to a zero value of the codec's type.
func (c *Codec) DecodeInto(raw stdjson.RawMessage, target any) error {
	if c.defaults != nil {
		c.preset(target)
	}
	if json.Unmarshal(raw, target, c.decoding) == nil {
		return nil
	}
	// Numbers like 1.0 for an integer and times with a small t are rare; they cost a second run. The first one may
	// have filled maps and slices already.
	reflect.ValueOf(target).Elem().SetZero()
	c.preset(target)
	if err := json.Unmarshal(raw, target, c.lenient); err != nil {
		return decodeError(err)
	}
	return nil
}

func (c *Codec) preset(target any) {
	for _, p := range c.defaults {
		v := reflect.ValueOf(target).Elem()
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				v.Set(reflect.New(v.Type().Elem()))
			}
			v = v.Elem()
		}
		fillField(v, p)
	}
}

// fillField leaves members behind a nil embedded pointer alone: there is nothing to hold them yet.
func fillField(v reflect.Value, p preset) {
	field, err := v.FieldByIndexErr(p.index)
	if err != nil {
		return
	}
	if p.value.Kind() == reflect.Pointer {
		copied := reflect.New(p.value.Type().Elem())
		copied.Elem().Set(p.value.Elem())
		field.Set(copied)
		return
	}
	field.Set(p.value)
}

// Encode writes a value. v must be of the codec's type. It fails for what JSON cannot hold: NaN, a time outside the
// years 0 to 9999, a duration outside the range of the schema, and what a type's own method refuses.
func (c *Codec) Encode(v any) (stdjson.RawMessage, error) {
	raw, err := json.Marshal(v, c.encoding)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", c.typ, err)
	}
	return raw, nil
}

var (
	errRange    = errors.New("out of range")
	errInteger  = errors.New("not an integer")
	errDuration = errors.New("not a duration like 1m30s")
)

const maxDuration = 2_499_999 * time.Hour

func writeDuration(enc *jsontext.Encoder, d time.Duration) error {
	if d > maxDuration || d < -maxDuration {
		return fmt.Errorf("a duration lies outside plus and minus %v", maxDuration)
	}
	return enc.WriteToken(jsontext.String(d.String()))
}

func readDuration(dec *jsontext.Decoder, d *time.Duration) error {
	if dec.PeekKind() != '"' {
		return errDuration // the default would take a number
	}
	tok, err := dec.ReadToken()
	if err != nil {
		return err
	}
	if *d, err = time.ParseDuration(tok.String()); err != nil {
		return errDuration
	}
	if *d > maxDuration || *d < -maxDuration {
		return errRange // Encode could not write it back
	}
	return nil
}

func readTime(dec *jsontext.Decoder, t *time.Time) error {
	if dec.PeekKind() != '"' {
		return errors.ErrUnsupported
	}
	tok, err := dec.ReadToken()
	if err != nil {
		return err
	}
	*t, err = parseDateTime(tok.String())
	return err
}

// readInteger sees every value and takes those that are numbers bound for an integer.
func readInteger(dec *jsontext.Decoder, target any) error {
	v := reflect.ValueOf(target)
	if v.Kind() != reflect.Pointer || integer(v.Type().Elem().Kind()) == nil || hasOwnForm(v.Type().Elem()) || dec.PeekKind() != '0' {
		return errors.ErrUnsupported
	}
	tok, err := dec.ReadToken()
	if err != nil {
		return err
	}
	n, err := toInteger(tok.String())
	if err != nil {
		return err
	}
	v = v.Elem()
	if v.CanInt() {
		if !n.IsInt64() || v.OverflowInt(n.Int64()) {
			return errRange
		}
		v.SetInt(n.Int64())
		return nil
	}
	if !n.IsUint64() || v.OverflowUint(n.Uint64()) {
		return errRange
	}
	v.SetUint(n.Uint64())
	return nil
}

func toInteger(text string) (*big.Int, error) {
	if _, err := parseNumber(text); err != nil {
		return nil, errRange
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok || !r.IsInt() {
		return nil, errInteger
	}
	return r.Num(), nil
}

func decodeError(err error) error {
	semantic, ok := errors.AsType[*json.SemanticError](err)
	if !ok {
		return violation("", "json", "is not valid JSON")
	}
	path, kind := string(semantic.JSONPointer), "the wanted kind"
	if t := semantic.GoType; t != nil && t.Kind() != reflect.Interface {
		kind = t.String()
	}
	switch {
	case errors.Is(err, errInteger):
		return violation(path, "type", "must be an integer")
	case errors.Is(err, errDuration):
		return violation(path, "type", "must be a duration like 1m30s")
	case errors.Is(err, errRange), errors.Is(err, strconv.ErrRange):
		return violation(path, "range", "lies outside what can be held here")
	}
	return violation(path, "type", "cannot be read as "+kind)
}

// RootIsObject reports whether the type of a schema's root is exactly "object".
func RootIsObject(raw stdjson.RawMessage) bool {
	members, err := splitObject(raw)
	if err != nil {
		return false
	}
	kind, _ := members.get("type")
	return bytes.Equal(kind, []byte(`"object"`))
}
