package schema

import (
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// base64Pattern is what an inferred schema demands of a []byte. It is matched by hand: a regular expression over
// megabytes of base64 would take seconds.
const base64Pattern = `^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$`

type matcher interface {
	String() string
	MatchString(string) bool
	Match([]byte) bool
}

type base64Matcher struct{}

func (base64Matcher) String() string            { return base64Pattern }
func (base64Matcher) MatchString(s string) bool { return base64Matcher{}.Match([]byte(s)) }

func (base64Matcher) Match(b []byte) bool {
	if len(b)%4 != 0 {
		return false
	}
	for range 2 {
		if len(b) > 0 && b[len(b)-1] == '=' {
			b = b[:len(b)-1]
		}
	}
	for _, c := range b {
		if !isBase64(c) {
			return false
		}
	}
	return true
}

func isBase64(c byte) bool {
	return 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '+' || c == '/'
}

func compileMatcher(pattern string) (matcher, error) {
	if pattern == base64Pattern {
		return base64Matcher{}, nil
	}
	re, err := regexp.Compile(ecmaToRE2(pattern))
	if err != nil {
		return nil, fmt.Errorf("the pattern is not one RE2 can run: %w", err)
	}
	return re, nil
}

// compileRegexp is the library's door to the same matchers as the plan's.
func compileRegexp(pattern string) (jsonschema.Regexp, error) {
	return compileMatcher(pattern)
}

// dropForeignPatterns takes patterns out of a subschema that RE2 cannot run, and what would be wrong without them: members
// that such a pattern names are no additional ones.
func dropForeignPatterns(object map[string]any) {
	foreign := func(pattern string) bool {
		_, err := compileMatcher(pattern)
		return err != nil
	}
	if pattern, ok := object["pattern"].(string); ok && foreign(pattern) {
		delete(object, "pattern")
	}
	named, _ := object["patternProperties"].(map[string]any)
	for pattern := range named {
		if foreign(pattern) {
			delete(named, pattern)
			delete(object, "additionalProperties")
			delete(object, "unevaluatedProperties")
		}
	}
}

var unicodeEscape = regexp.MustCompile(`\\(\\|u([0-9A-Fa-f]{4}))`)

// ecmaToRE2 rewrites \uXXXX, which JSON Schema's dialect of expressions has and RE2 spells \x{XXXX}.
func ecmaToRE2(pattern string) string {
	if !strings.Contains(pattern, `\u`) {
		return pattern
	}
	return unicodeEscape.ReplaceAllStringFunc(pattern, func(found string) string {
		if found == `\\` {
			return found
		}
		return `\x{` + found[2:] + `}`
	})
}

var errDateTime = errors.New("not an RFC 3339 date and time")

// checkDateTime asserts format date-time, with exactly the grammar parseDateTime reads.
func checkDateTime(v any) error {
	text, ok := v.(string)
	if !ok {
		return nil
	}
	_, err := parseDateTime(text)
	return err
}

// parseDateTime reads an RFC 3339 date and time. Beyond what package time reads it takes lower-case t and z, and a
// leap second, which becomes the first second of the next minute.
func parseDateTime(text string) (time.Time, error) {
	const seconds = len("2006-01-02T15:04:05")
	if len(text) <= seconds || strings.ContainsRune(text, ',') {
		return time.Time{}, errDateTime
	}
	text = strings.ToUpper(text)
	leap := text[seconds-3:seconds] == ":60"
	if leap {
		text = text[:seconds-2] + "59" + text[seconds:]
	}
	var t time.Time
	if err := t.UnmarshalText([]byte(text)); err != nil {
		return time.Time{}, errDateTime
	}
	if !leap {
		return t, nil
	}
	if utc := t.UTC(); utc.Hour() != 23 || utc.Minute() != 59 {
		return time.Time{}, errDateTime
	}
	t = t.Add(time.Second)
	if y := t.Year(); y > 9999 {
		return time.Time{}, errDateTime
	}
	return t, nil
}

// excerpt shortens text to about max bytes, never inside a character.
func excerpt(text string, max int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= max {
		return text
	}
	cut := max
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "..."
}

// base64Len answers the length of n bytes in padded base64.
func base64Len(n int) int { return base64.StdEncoding.EncodedLen(n) }
