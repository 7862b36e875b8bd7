package skills

import (
	"bytes"
	stdjson "encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// sameJSON compares two texts as JSON values: the order of members and the way a number is written do not matter.
func sameJSON(a, b []byte) bool {
	x, okX := valueOf(a)
	y, okY := valueOf(b)
	if !okX || !okY {
		return bytes.Equal(a, b)
	}
	return same(x, y)
}

// valueOf reads a value. One that has a member twice is none: which of them counts would depend on the reader.
func valueOf(raw []byte) (v any, ok bool) {
	if !jsontext.Value(raw).IsValid() {
		return nil, false
	}
	d := stdjson.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return v, d.Decode(&v) == nil
}

func same(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, same)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, same)
	case stdjson.Number:
		b, ok := b.(stdjson.Number)
		return ok && sameNumber(a.String(), b.String())
	}
	return a == b
}

// sameNumber compares two numbers. Whole ones are compared digit by digit: beyond 2^53 many of them are one and the same
// float. Others are compared as floats, as every JSON reader has them; exact fractions of a peer could be made to need gigabytes.
func sameNumber(a, b string) bool {
	if isWhole(a) && isWhole(b) {
		return digitsOf(a) == digitsOf(b)
	}
	x, errX := stdjson.Number(a).Float64()
	y, errY := stdjson.Number(b).Float64()
	return errX == nil && errY == nil && x == y || a == b
}

func isWhole(n string) bool { return !strings.ContainsAny(n, ".eE") }

func digitsOf(n string) string {
	if n == "-0" {
		return "0"
	}
	return n // JSON has no zeros in front, and no plus
}
