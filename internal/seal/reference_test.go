package seal_test

import (
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/go-json-experiment/json/jsontext"
)

// The slow reference: JSON as a tree whose numbers are fractions. nil, bool, string, *big.Rat, []any, map[string]any.

// parse reads valid JSON whose depth and exponents a test can afford.
func parse(in string) (any, bool) {
	if !jsontext.Value(in).IsValid() || strings.Count(in, "[")+strings.Count(in, "{") > 100 {
		return nil, false
	}
	return parseNext(jsontext.NewDecoder(strings.NewReader(in)))
}

func parseNext(dec *jsontext.Decoder) (any, bool) {
	switch dec.PeekKind() {
	case '[':
		list := []any{}
		for dec.ReadToken(); dec.PeekKind() != ']'; {
			v, ok := parseNext(dec)
			if !ok {
				return nil, false
			}
			list = append(list, v)
		}
		_, err := dec.ReadToken()
		return list, err == nil
	case '{':
		object := map[string]any{}
		for dec.ReadToken(); dec.PeekKind() != '}'; {
			name, err := dec.ReadToken()
			key := name.String() // a token is void once the next is read
			v, ok := parseNext(dec)
			if err != nil || !ok {
				return nil, false
			}
			object[key] = v
		}
		_, err := dec.ReadToken()
		return object, err == nil
	}
	return parseScalar(dec)
}

func parseScalar(dec *jsontext.Decoder) (any, bool) {
	raw, err := dec.ReadValue()
	if err != nil {
		return nil, false
	}
	switch raw.Kind() {
	case '"':
		text, err := jsontext.AppendUnquote(nil, raw)
		return string(text), err == nil
	case '0':
		if _, exponent, ok := strings.Cut(strings.ToLower(string(raw)), "e"); ok {
			if n, err := strconv.Atoi(exponent); err != nil || n > 1000 || n < -1000 {
				return nil, false
			}
		}
		return new(big.Rat).SetString(string(raw))
	case 'n':
		return nil, true
	}
	return raw.Kind() == 't', true
}

// slow writes a tree in the one way there is.
func slow(v any) string {
	switch v := v.(type) {
	case *big.Rat:
		return v.RatString()
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = slow(v[i])
		}
		return "[" + strings.Join(parts, ",") + "]"
	case map[string]any:
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, slow(name)+":"+slow(v[name]))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case string:
		return strconv.Quote(v)
	case nil:
		return "null"
	}
	return fmt.Sprint(v)
}

// write writes a tree in one of many ways: white space, member order, escapes and notation of numbers at random.
func write(rng *rand.Rand, dst []byte, v any) []byte {
	dst = blank(rng, dst)
	switch v := v.(type) {
	case *big.Rat:
		dst = append(dst, notation(rng, v)...)
	case []any:
		dst = append(dst, '[')
		for i := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = write(rng, dst, v[i])
		}
		dst = append(dst, ']')
	case map[string]any:
		dst = append(dst, '{')
		names := slices.Sorted(maps.Keys(v))
		rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		for i, name := range names {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = blank(rng, escape(rng, blank(rng, dst), name))
			dst = write(rng, append(dst, ':'), v[name])
		}
		dst = append(dst, '}')
	case string:
		dst = escape(rng, dst, v)
	case nil:
		dst = append(dst, "null"...)
	default:
		dst = fmt.Append(dst, v)
	}
	return blank(rng, dst)
}

func blank(rng *rand.Rand, dst []byte) []byte {
	return append(dst, "  \n\t\r"[:rng.IntN(3)]...)
}

func escape(rng *rand.Rand, dst []byte, text string) []byte {
	dst = append(dst, '"')
	for _, r := range text {
		switch {
		case r < 0x20 || r == '"' || r == '\\' || rng.IntN(4) == 0:
			form := []string{`\u%04x`, `\u%04X`}[rng.IntN(2)]
			for _, unit := range utf16.Encode([]rune{r}) {
				dst = fmt.Appendf(dst, form, unit)
			}
		case r == '/' && rng.IntN(2) == 0:
			dst = append(dst, `\/`...)
		default:
			dst = append(dst, string(r)...)
		}
	}
	return append(dst, '"')
}

// notation writes a decimal fraction with its point at a random place.
func notation(rng *rand.Rand, v *big.Rat) string {
	places, exact := v.FloatPrec()
	if !exact {
		panic("not a decimal fraction")
	}
	plain := v.FloatString(places + rng.IntN(3))
	if rng.IntN(3) == 0 {
		return plain
	}
	shift := rng.IntN(7) - 3
	power := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(shift, -shift))), nil))
	moved := new(big.Rat)
	if shift < 0 {
		moved.Quo(v, power)
	} else {
		moved.Mul(v, power)
	}
	places, _ = moved.FloatPrec()
	return fmt.Sprintf("%s%c%+d", moved.FloatString(places), "eE"[rng.IntN(2)], -shift)
}

func randomValue(rng *rand.Rand, depth int) any {
	switch rng.IntN(8) {
	case 0:
		return nil
	case 1:
		return rng.IntN(2) == 0
	case 2, 3:
		return randomText(rng)
	case 4:
		v := big.NewRat(rng.Int64()>>rng.IntN(63), 1)
		return v.Quo(v, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(rng.IntN(30))), nil)))
	case 5:
		list := []any{}
		for range rng.IntN(depth * 2) {
			list = append(list, randomValue(rng, max(depth-1, 1)))
		}
		return list
	}
	object := map[string]any{}
	for range rng.IntN(depth * 2) {
		object[randomText(rng)] = randomValue(rng, max(depth-1, 1))
	}
	return object
}

func randomText(rng *rand.Rand) string {
	letters := []rune("abcAB01/\"\\\n\x00\x7fé\u2028😀#,:{}[] ")
	text := make([]rune, rng.IntN(12))
	for i := range text {
		text[i] = letters[rng.IntN(len(letters))]
	}
	return string(text)
}

// change returns the value with one place changed.
func change(rng *rand.Rand, v any) any {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return !v
	case string:
		return v + string(rune('a'+rng.IntN(26)))
	case *big.Rat:
		return new(big.Rat).Add(v, big.NewRat(1, 1_000_000))
	case []any:
		if len(v) == 0 {
			return []any{nil}
		}
		c, i := slices.Clone(v), rng.IntN(len(v))
		c[i] = change(rng, c[i])
		return c
	case map[string]any:
		c := maps.Clone(v)
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if rng.IntN(2) == 0 {
				c[name] = change(rng, v[name])
				return c
			}
		}
		c["one more, of a name that no other has"] = nil
		return c
	}
	panic("no such value")
}
