package config

import (
	"regexp"
	"strings"

	"github.com/rialto-mcp/rialto/manager"
)

const mask = "***"

var (
	loneReference = regexp.MustCompile(`^\$\{(env:|input:)?[A-Za-z0-9_.-]+\}$`)
	loneSecret    = regexp.MustCompile(`^\$\{[a-z][a-z0-9-]*:[^\s${}"'` + "`" + `-][^${}[:cntrl:]]*\}$`)
	beforeDefault = regexp.MustCompile(`\$\{[^${}]*?:-`)
	secretFlag    = regexp.MustCompile(`(?i)^-.*(key|token|secret|passw|auth|cred|header|cookie)|^-H$`)
	variableName  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	longWord      = regexp.MustCompile(`^[A-Za-z0-9_+=-]{20,}$`)
	digit         = regexp.MustCompile(`[0-9]`)
)

// maskDefaults hides the defaults of variables, those of variables in a default with it.
func maskDefaults(text string) string {
	var b strings.Builder
	for {
		at := beforeDefault.FindStringIndex(text)
		if at == nil {
			return b.String() + text
		}
		end, open := at[1], 1
		for ; end < len(text) && open > 0; end++ {
			switch {
			case text[end] == '}':
				open--
			case text[end] == '{' && text[end-1] == '$':
				open++
			}
		}
		b.WriteString(text[:at[1]] + mask)
		if open == 0 {
			b.WriteString("}")
		}
		text = text[end:]
	}
}

// maskValue hides a text unless it only names a variable, or what a store holds.
func maskValue(text string) string {
	if text == "" || loneReference.MatchString(text) || loneSecret.MatchString(text) && !strings.Contains(text, ":-") {
		return text
	}
	return mask
}

func maskAll(v *manager.Value) map[string]string {
	out := map[string]string{}
	for _, child := range v.Children() {
		out[child.Name()] = maskValue(child.Text())
	}
	return out
}

// maskArgs hides what follows a flag that sounds secret, the values of NAME=value, and words that look like keys.
func maskArgs(v *manager.Value) []string {
	var out []string
	secret := false
	for _, child := range v.Children() {
		arg := child.Text()
		switch name, value, assigned := strings.Cut(arg, "="); {
		case secret:
			arg = maskValue(arg)
		case assigned && (variableName.MatchString(name) || secretFlag.MatchString(name)):
			arg = name + "=" + maskValue(value)
		case strings.Contains(arg, "://"):
			arg = maskURL(arg)
		case looksLikeKey(arg):
			arg = mask
		default:
			arg = maskDefaults(arg)
		}
		secret = !secret && secretFlag.MatchString(child.Text()) && !strings.Contains(child.Text(), "=")
		out = append(out, arg)
	}
	return out
}

func looksLikeKey(word string) bool {
	return longWord.MatchString(word) && digit.MatchString(word)
}

// maskURL works on the text, since an address with variables in it cannot always be parsed.
func maskURL(address string) string {
	address, _, _ = strings.Cut(maskDefaults(address), "#")
	address, query, hasQuery := strings.Cut(address, "?")
	scheme, rest, found := strings.Cut(address, "://")
	if !found {
		scheme, rest = "", address
	} else {
		scheme += "://"
	}
	segments := strings.Split(rest, "/")
	if at := strings.LastIndexByte(segments[0], '@'); at >= 0 {
		segments[0] = mask + segments[0][at:]
	}
	for i := 1; i < len(segments); i++ {
		if looksLikeKey(segments[i]) {
			segments[i] = mask
		}
	}
	address = scheme + strings.Join(segments, "/")
	if !hasQuery {
		return address
	}
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		name, value, assigned := strings.Cut(pair, "=")
		if assigned {
			pairs[i] = name + "=" + maskValue(value)
		} else {
			pairs[i] = maskValue(pair)
		}
	}
	return address + "?" + strings.Join(pairs, "&")
}
