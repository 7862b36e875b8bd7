package observe

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/rialto-mcp/rialto/jsonrpc"
)

// Detail says how much of arguments or results the audit log holds.
type Detail string

// The details.
const (
	NoDetail Detail = "none"
	Digest   Detail = "digest" // SHA-256 of the JSON, without white space and with the keys sorted
	Full     Detail = "full"   // the JSON, with what looks like a secret hidden; a digest where it is longer than 64 KiB
)

// some tells whether there is anything to be noted, so that megabytes are not gone through for nothing.
func (d Detail) some() bool { return d == Digest || d == Full }

// longestValue bounds arguments and results in a line.
const longestValue = 64 << 10

// of gives a value in the detail wanted.
func (d Detail) of(raw json.RawMessage) (value json.RawMessage, digest string) {
	switch {
	case len(raw) == 0:
		return nil, ""
	case d == Full && len(raw) <= longestValue:
		return redacted(raw), ""
	case d == Full, d == Digest:
		sum := sha256.Sum256(sorted(nil, raw))
		return nil, hex.EncodeToString(sum[:])
	}
	return nil, ""
}

// sorted appends a value without white space and with the members of objects sorted, so that two ways to write the same
// arguments have the same digest. Numbers stay as they were written.
func sorted(dst []byte, raw json.RawMessage) []byte {
	switch {
	case jsonrpc.IsObject(raw):
		members := maps.Collect(jsonrpc.Members(raw))
		dst = append(dst, '{')
		for i, name := range slices.Sorted(maps.Keys(members)) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(jsonrpc.AppendString(dst, name), ':')
			dst = sorted(dst, members[name])
		}
		return append(dst, '}')
	case jsonrpc.IsArray(raw):
		dst = append(dst, '[')
		comma := false
		for e := range jsonrpc.Elements(raw) {
			if comma {
				dst = append(dst, ',')
			}
			comma = true
			dst = sorted(dst, e)
		}
		return append(dst, ']')
	}
	if text, ok := jsonrpc.Text(raw); ok {
		return jsonrpc.AppendString(dst, text)
	}
	return append(dst, raw...)
}

// What hides a value: the name of its member, or a form that only credentials have.
var (
	secretName = regexp.MustCompile(`(?i)(passw|passphrase|passcode|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|authorization|cookie|credential|^auth$|^pin$|^otp$)`)
	secretText = regexp.MustCompile(`(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*|` +
		`\b(sk|pk|rk)[-_][A-Za-z0-9_-]{16,}|\b(ghp|gho|ghu|ghs|ghr|glpat|xox[abprs])[-_][A-Za-z0-9_-]{10,}|\bAKIA[0-9A-Z]{16}\b|` +
		`-----BEGIN [A-Z ]*PRIVATE KEY-----`)
)

var hidden = json.RawMessage(`"***"`)

// redacted hides what looks like a secret, and leaves all other tokens as they are. White space between tokens goes.
func redacted(raw json.RawMessage) json.RawMessage { return appendRedacted(nil, raw) }

func appendRedacted(dst []byte, raw json.RawMessage) []byte {
	switch {
	case jsonrpc.IsObject(raw):
		dst = append(dst, '{')
		comma := false
		for name, value := range jsonrpc.Members(raw) {
			if comma {
				dst = append(dst, ',')
			}
			comma = true
			dst = append(jsonrpc.AppendString(dst, name), ':')
			if secretName.MatchString(name) && string(value) != "null" {
				dst = append(dst, hidden...)
				continue
			}
			dst = appendRedacted(dst, value)
		}
		return append(dst, '}')
	case jsonrpc.IsArray(raw):
		dst = append(dst, '[')
		comma := false
		for e := range jsonrpc.Elements(raw) {
			if comma {
				dst = append(dst, ',')
			}
			comma = true
			dst = appendRedacted(dst, e)
		}
		return append(dst, ']')
	}
	if text, ok := jsonrpc.Text(raw); ok && secretText.MatchString(text) {
		if strings.Contains(text, "PRIVATE KEY") {
			return append(dst, hidden...)
		}
		return jsonrpc.AppendString(dst, secretText.ReplaceAllString(text, "***"))
	}
	return append(dst, raw...)
}
