package schema

import (
	"bytes"
	"math/bits"
	"unicode/utf8"
)

// scanner reads strict JSON without copying. Its methods leave i behind what they read.
type scanner struct {
	b        []byte
	i        int
	exponent bool // some number had one
}

func (s *scanner) space() {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ' ', '\t', '\n', '\r':
			s.i++
		default:
			return
		}
	}
}

func (s *scanner) eat(c byte) bool {
	if s.i < len(s.b) && s.b[s.i] == c {
		s.i++
		return true
	}
	return false
}

func (s *scanner) literal(first bool, one, other string) bool {
	if !first {
		one = other
	}
	if !bytes.HasPrefix(s.b[s.i:], []byte(one)) {
		return false
	}
	s.i += len(one)
	return true
}

// text is a string between its quotes. extra counts the bytes that escapes take beyond the character they stand for.
type text struct {
	start, end int
	extra      int
	ascii      bool
}

// str reads a string. Escaped surrogates are refused: whether a pair is sound is the library's to say.
func (s *scanner) str() (text, bool) {
	if !s.eat('"') {
		return text{}, false
	}
	t := text{start: s.i, ascii: true}
	for s.i < len(s.b) {
		switch c := s.b[s.i]; {
		case c == '"':
			t.end = s.i
			s.i++
			return t, t.ascii || utf8.Valid(s.b[t.start:t.end])
		case c == '\\':
			n := s.escape()
			if n == 0 {
				return text{}, false
			}
			s.i += n
			t.extra += n - 1
		case c < 0x20:
			return text{}, false
		default:
			if c >= utf8.RuneSelf {
				t.ascii = false
			}
			s.i++
		}
	}
	return text{}, false
}

// escape answers the length of the escape at i, 0 for one that is wrong or a surrogate.
func (s *scanner) escape() int {
	rest := s.b[s.i+1:]
	if len(rest) == 0 {
		return 0
	}
	switch rest[0] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(rest) < 5 || rest[1]|0x20 == 'd' && rest[2] > '7' {
			return 0
		}
		for _, c := range rest[1:5] {
			if !('0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f') {
				return 0
			}
		}
		return 6
	}
	return 0
}

// decimal is digits times ten to the power of minus scale. Both are exact.
type decimal struct {
	digits int64
	scale  int
}

// maxDigits keeps a mantissa within int64.
const maxDigits = 18

// number reads a number. It is exact when it has at most 18 digits and no exponent; ok is false for bad syntax.
func (s *scanner) number() (d decimal, exact, ok bool) {
	negative := s.eat('-')
	start := s.i
	whole := s.digits(&d)
	if whole == 0 || whole > 1 && s.b[start] == '0' {
		return d, false, false
	}
	fraction := 0
	if s.eat('.') {
		if fraction = s.digits(&d); fraction == 0 {
			return d, false, false
		}
	}
	d.scale = fraction
	if negative {
		d.digits = -d.digits
	}
	exact = whole+fraction <= maxDigits
	if s.i < len(s.b) && s.b[s.i]|0x20 == 'e' {
		s.i++
		if !s.eat('+') {
			s.eat('-')
		}
		s.exponent = true
		return d, false, s.digits(&d) > 0
	}
	return d, exact, true
}

func (s *scanner) digits(d *decimal) int {
	start := s.i
	for s.i < len(s.b) && '0' <= s.b[s.i] && s.b[s.i] <= '9' {
		d.digits = d.digits*10 + int64(s.b[s.i]-'0') // wraps beyond 18 digits, where nobody looks at it
		s.i++
	}
	return s.i - start
}

func (d decimal) isInteger() bool {
	unit := pow10(d.scale)
	return d.digits%int64(unit) == 0
}

// pow10 is defined up to 18.
func pow10(n int) uint64 {
	p := uint64(1)
	for range n {
		p *= 10
	}
	return p
}

// compare is exact; ok is false when a common scale does not fit 64 bits.
func compare(a, b decimal) (c int, ok bool) {
	if a.scale > b.scale {
		if b, ok = b.rescale(a.scale); !ok {
			return 0, false
		}
	} else if a, ok = a.rescale(b.scale); !ok {
		return 0, false
	}
	switch {
	case a.digits < b.digits:
		return -1, true
	case a.digits > b.digits:
		return 1, true
	}
	return 0, true
}

func (d decimal) rescale(scale int) (decimal, bool) {
	magnitude := uint64(max(d.digits, -d.digits))
	high, low := bits.Mul64(magnitude, pow10(scale-d.scale))
	if high != 0 || low > 1<<63-1 {
		return d, false
	}
	if d.digits < 0 {
		return decimal{digits: -int64(low), scale: scale}, true
	}
	return decimal{digits: int64(low), scale: scale}, true
}
