package frontmatter

import (
	"regexp"
	"strings"

	"github.com/rialto-mcp/rialto/jsonrpc"
)

// cutKey takes a name and its colon off a line. It answers false when the line does not begin with a name.
func cutKey(l line) (key, rest string, ok bool, err error) {
	text := l.text
	if text == "" {
		return "", "", false, nil
	}
	if text[0] == '"' || text[0] == '\'' {
		f := flow{text: text, no: l.no}
		if key, err := f.quoted(); err == nil && colonAt(text, f.at) {
			return key, strings.TrimLeft(text[f.at+1:], " \t"), true, nil
		}
		return "", "", false, nil // a value: its fault is told where it is read
	}
	if text == "?" || strings.HasPrefix(text, "? ") || strings.HasPrefix(text, "?\t") {
		return "", "", false, faultf(l.no, "names that begin with a question mark are not read")
	}
	if strings.IndexByte("[]{}&*!|>%@`#,", text[0]) >= 0 || isItem(text) {
		return "", "", false, nil
	}
	for i := range len(text) {
		switch {
		case text[i] == '#' && i > 0 && (text[i-1] == ' ' || text[i-1] == '\t'):
			return "", "", false, nil
		case colonAt(text, i):
			key = strings.TrimRight(text[:i], " \t")
			if err := checkName(key, l.no); err != nil {
				return "", "", false, err
			}
			return key, strings.TrimLeft(text[i+1:], " \t"), true, nil
		}
	}
	return "", "", false, nil
}

// colonAt tells whether a colon that ends a name stands at a place.
func colonAt(text string, i int) bool {
	return i < len(text) && text[i] == ':' && (i+1 == len(text) || text[i+1] == ' ' || text[i+1] == '\t')
}

// checkName refuses names that are no words: JSON has no others.
func checkName(key string, no int) error {
	if plain, err := appendPlain(nil, key, no); key == "" || err != nil || plain[0] != '"' {
		return faultf(no, "the name %.60q would be no text; put quotes around it", key)
	}
	return nil
}

// cutComment takes a comment off the end of plain words, and tells whether there was one.
func cutComment(text string) (words string, commented bool) {
	for i := 1; i < len(text); i++ {
		if text[i] == '#' && (text[i-1] == ' ' || text[i-1] == '\t') {
			return strings.TrimRight(text[:i], " \t"), true
		}
	}
	return strings.TrimRight(text, " \t"), false
}

// checkStart refuses what cannot begin plain words.
func checkStart(text string, no int) error {
	switch {
	case strings.IndexByte("&*!", text[0]) >= 0:
		return faultf(no, "anchors, aliases and tags are not read; put quotes around the value")
	case strings.IndexByte("%@`,]}", text[0]) >= 0:
		return faultf(no, "a value cannot begin with %q; put quotes around it", text[0])
	case strings.IndexByte("-?:", text[0]) >= 0 && (len(text) == 1 || text[1] == ' ' || text[1] == '\t'):
		return faultf(no, "a list or mapping inside a value must begin on a line of its own")
	}
	return nil
}

// checkPlain refuses plain words that hold a name.
func checkPlain(text string, no int) error {
	for i := range len(text) {
		if colonAt(text, i) {
			return faultf(no, "a value with a colon and a space in it needs quotes around it")
		}
	}
	return nil
}

var (
	null     = regexp.MustCompile(`^(?:~|null|Null|NULL|)$`)
	truth    = regexp.MustCompile(`^(?:true|True|TRUE)$`)
	untruth  = regexp.MustCompile(`^(?:false|False|FALSE)$`)
	decimal  = regexp.MustCompile(`^([-+]?)(\d*)(?:(\.)(\d*))?([eE][-+]?\d+)?$`)
	otherNum = regexp.MustCompile(`^(?:0o[0-7]+|0x[0-9a-fA-F]+|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$`)
)

// appendPlain appends plain words with the type that YAML's core schema gives them. Decimal numbers keep their digits.
func appendPlain(dst []byte, text string, no int) ([]byte, error) {
	switch {
	case null.MatchString(text):
		return append(dst, "null"...), nil
	case truth.MatchString(text):
		return append(dst, "true"...), nil
	case untruth.MatchString(text):
		return append(dst, "false"...), nil
	case otherNum.MatchString(text):
		return dst, faultf(no, "%.20q is a number that JSON cannot say; put quotes around it", text)
	}
	m := decimal.FindStringSubmatch(text)
	if m == nil || m[2] == "" && m[4] == "" {
		return jsonrpc.AppendString(dst, text), nil
	}
	if m[1] == "-" {
		dst = append(dst, '-')
	}
	whole := strings.TrimLeft(m[2], "0")
	if whole == "" {
		whole = "0"
	}
	dst = append(dst, whole...)
	if m[4] != "" {
		dst = append(append(dst, '.'), m[4]...)
	}
	return append(dst, m[5]...), nil
}
