package manager

import "bytes"

var byteOrderMark = []byte("\xef\xbb\xbf")

// standardize turns JSON with comments and trailing commas into plain JSON of the same length: what JSON does not
// know becomes spaces, line breaks stay, so that an offset means the same place before and after.
//
// It answers the offset of a block comment that is never closed, and -1 when there is none. Other mistakes are left
// for the JSON reader.
func standardize(src []byte) (out []byte, unclosed int) {
	out = bytes.Clone(src)
	if bytes.HasPrefix(out, byteOrderMark) {
		blank(out[:len(byteOrderMark)])
	}
	before := byte(0) // the last byte that is neither space nor comment
	comma := -1       // a comma with nothing but space and comments behind it so far
	for i := 0; i < len(out); {
		switch c := out[i]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			i++
			continue
		case c == '/' && i+1 < len(out) && (out[i+1] == '/' || out[i+1] == '*'):
			end := commentEnd(out, i)
			if end < 0 {
				return out, i
			}
			blank(out[i:end])
			i = end
			continue
		case c == '"':
			i, comma, before = stringEnd(out, i), -1, c
			continue
		case c == ',':
			comma = -1
			if endsValue(before) { // "[,]" stays a mistake
				comma = i
			}
		case c == '}' || c == ']':
			if comma >= 0 {
				out[comma] = ' '
			}
			comma = -1
		default:
			comma = -1
		}
		before = out[i]
		i++
	}
	return out, -1
}

func endsValue(c byte) bool {
	return c != 0 && c != '{' && c != '[' && c != ',' && c != ':'
}

// commentEnd gives the offset behind the comment that begins at i, or -1 when it does not end. A line ends at any of the
// line breaks that editors know, a lone carriage return among them.
func commentEnd(b []byte, i int) int {
	if b[i+1] == '/' {
		if n := bytes.IndexAny(b[i:], "\r\n"); n >= 0 {
			return i + n
		}
		return len(b)
	}
	n := bytes.Index(b[i+2:], []byte("*/"))
	if n < 0 {
		return -1
	}
	return i + 2 + n + 2
}

// stringEnd gives the offset behind the string that begins at i.
func stringEnd(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

func blank(b []byte) {
	for i, c := range b {
		if c != '\n' && c != '\r' {
			b[i] = ' '
		}
	}
}
