package frontmatter

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/rialto-mcp/rialto/jsonrpc"
)

// flow reads quoted words, and lists and mappings on one line.
type flow struct {
	text string
	at   int
	no   int
	out  []byte
}

func (f *flow) blank() {
	for f.at < len(f.text) && (f.text[f.at] == ' ' || f.text[f.at] == '\t') {
		f.at++
	}
}

// next returns the byte at the place, 0 at the end.
func (f *flow) next() byte {
	if f.at < len(f.text) {
		return f.text[f.at]
	}
	return 0
}

// end refuses what stands behind a value, a comment excepted.
func (f *flow) end() error {
	from := f.at
	f.blank()
	if f.at < len(f.text) && (f.text[f.at] != '#' || f.at == from) {
		return faultf(f.no, "something stands behind the end of the value")
	}
	return nil
}

func (f *flow) value(depth int) error {
	if depth > maxDepth {
		return faultf(f.no, "values nest deeper than %d levels", maxDepth)
	}
	f.blank()
	switch f.next() {
	case 0:
		return f.open()
	case '[':
		return f.list(depth)
	case '{':
		return f.mapping(depth)
	case '"', '\'':
		text, err := f.quoted()
		f.out = jsonrpc.AppendString(f.out, text)
		return err
	}
	words, err := f.words()
	if err != nil {
		return err
	}
	f.out, err = appendPlain(f.out, words, f.no)
	return err
}

func (f *flow) open() error {
	return faultf(f.no, "the value does not end on its line; write it on one line, or as a block")
}

func (f *flow) list(depth int) error {
	f.at++
	f.out = append(f.out, '[')
	for n := 0; ; n++ {
		if f.blank(); f.next() == ']' {
			f.at++
			f.out = append(f.out, ']')
			return nil
		}
		if n > 0 {
			f.out = append(f.out, ',')
		}
		if err := f.value(depth + 1); err != nil {
			return err
		}
		if f.blank(); f.next() == ':' {
			return faultf(f.no, "a mapping inside a list on one line needs braces")
		}
		if err := f.comma(']'); err != nil {
			return err
		}
	}
}

func (f *flow) mapping(depth int) error {
	f.at++
	f.out = append(f.out, '{')
	seen := map[string]bool{}
	for {
		if f.blank(); f.next() == '}' {
			f.at++
			f.out = append(f.out, '}')
			return nil
		}
		key, err := f.key()
		if err != nil {
			return err
		}
		if seen[key] {
			return faultf(f.no, "%.60q stands here a second time", key)
		}
		if len(seen) > 0 {
			f.out = append(f.out, ',')
		}
		seen[key] = true
		f.out = append(jsonrpc.AppendString(f.out, key), ':')
		if f.blank(); f.next() == ',' || f.next() == '}' {
			f.out = append(f.out, "null"...)
		} else if err := f.value(depth + 1); err != nil {
			return err
		}
		if err := f.comma('}'); err != nil {
			return err
		}
	}
}

// key reads a name with its colon.
func (f *flow) key() (key string, err error) {
	quoted := f.next() == '"' || f.next() == '\''
	if quoted {
		key, err = f.quoted()
	} else if key, err = f.words(); err == nil {
		err = checkName(key, f.no)
	}
	if err != nil {
		return "", err
	}
	if f.blank(); f.next() != ':' || !quoted && f.at+1 < len(f.text) && strings.IndexByte(" \t,}", f.text[f.at+1]) < 0 {
		return "", faultf(f.no, "a name in braces needs a colon and a space behind it")
	}
	f.at++
	return key, nil
}

// comma takes the comma between two entries; the closing sign is left where it is.
func (f *flow) comma(closing byte) error {
	switch f.blank(); f.next() {
	case ',':
		f.at++
	case closing:
	case 0:
		return f.open()
	default:
		return faultf(f.no, "a comma or %q is expected behind an entry", closing)
	}
	return nil
}

// words reads plain words up to what ends them inside brackets.
func (f *flow) words() (string, error) {
	from := f.at
	for f.at < len(f.text) {
		c := f.text[f.at]
		last := f.at+1 == len(f.text)
		if strings.IndexByte(",[]{}", c) >= 0 || c == ':' && (last || strings.IndexByte(" \t,[]{}", f.text[f.at+1]) >= 0) {
			break
		}
		if c == '#' && f.at > from && (f.text[f.at-1] == ' ' || f.text[f.at-1] == '\t') {
			return "", f.open()
		}
		f.at++
	}
	words := strings.TrimRight(f.text[from:f.at], " \t")
	if words == "" || strings.IndexByte("|>#", words[0]) >= 0 {
		return "", faultf(f.no, "a value is expected here; put quotes around one that begins with a sign")
	}
	return words, checkStart(words, f.no)
}

// quoted reads words in quotes.
func (f *flow) quoted() (string, error) {
	var text strings.Builder
	mark := f.text[f.at]
	for f.at++; f.at < len(f.text); f.at++ {
		c := f.text[f.at]
		switch {
		case c == mark && mark == '\'' && strings.HasPrefix(f.text[f.at:], "''"):
			f.at++
			text.WriteByte('\'')
		case c == mark:
			f.at++
			return text.String(), nil
		case c == '\\' && mark == '"':
			r, err := f.escape()
			if err != nil {
				return "", err
			}
			text.WriteRune(r)
		default:
			text.WriteByte(c)
		}
	}
	return "", faultf(f.no, "the quotes are not closed on their line; write longer text as a block with | or >")
}

// escapes are the characters behind a backslash that stand for one other.
var escapes = map[byte]rune{
	'0': 0, 'a': 7, 'b': 8, 't': 9, '\t': 9, 'n': 10, 'v': 11, 'f': 12, 'r': 13, 'e': 27, ' ': ' ', '"': '"', '/': '/', '\\': '\\',
	'N': 0x85, '_': 0xA0, 'L': 0x2028, 'P': 0x2029,
}

// digits are the number of hexadecimal digits behind a backslash and a letter.
var digits = map[byte]int{'x': 2, 'u': 4, 'U': 8}

// escape reads what stands behind a backslash, up to its last byte.
func (f *flow) escape() (rune, error) {
	f.at++
	c := f.next()
	if r, ok := escapes[c]; ok && c != 0 {
		return r, nil
	}
	r, ok := f.hex(digits[c])
	if ok && utf16.IsSurrogate(r) && strings.HasPrefix(f.text[f.at+1:], `\u`) {
		f.at += 2
		var low rune
		if low, ok = f.hex(4); ok {
			r = utf16.DecodeRune(r, low)
			ok = r != utf8.RuneError
		}
	}
	if !ok || utf16.IsSurrogate(r) {
		return 0, faultf(f.no, "behind a backslash in double quotes stands nothing that YAML knows")
	}
	return r, nil
}

// hex reads n hexadecimal digits behind the place.
func (f *flow) hex(n int) (rune, bool) {
	if n == 0 || f.at+n >= len(f.text) {
		return 0, false
	}
	v, err := strconv.ParseUint(f.text[f.at+1:f.at+1+n], 16, 32)
	f.at += n
	return rune(v), err == nil && v <= 0x10FFFF
}
