package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestErrorIs(t *testing.T) {
	timeout := Errorf(CodeRequestTimeout, "no answer after %s: %w", "60s", context.DeadlineExceeded)
	both := Errorf(CodeInternal, "%w and %w", io.EOF, io.ErrClosedPipe)
	for _, c := range []struct {
		name   string
		err    error
		target error
		want   bool
	}{
		{"code", timeout, CodeRequestTimeout, true},
		{"other code", timeout, CodeConnectionClosed, false},
		{"cause", timeout, context.DeadlineExceeded, true},
		{"both causes", both, io.ErrClosedPipe, true},
		{"wrapped", fmt.Errorf("call: %w", timeout), CodeRequestTimeout, true},
		{"error with the code", timeout, &Error{Code: CodeRequestTimeout}, true},
		{"plain code", fmt.Errorf("dial: %w", CodeNotConnected), CodeNotConnected, true},
		{"wire code of the peer", &Error{Code: -32601, Remote: true}, CodeMethodNotFound, true},
		{"local code made up by the peer", &Error{Code: CodeNotConnected, Remote: true}, CodeNotConnected, false},
		{"other kind of target", timeout, io.EOF, false},
		{"because", MethodNotFound("a").Because(io.EOF), io.EOF, true},
	} {
		if got := errors.Is(c.err, c.target); got != c.want {
			t.Errorf("%s: errors.Is is %v", c.name, got)
		}
	}
}

func TestCodes(t *testing.T) {
	seen := map[string]Code{}
	for code, name := range codeNames {
		if other, taken := seen[name]; taken {
			t.Errorf("%d and %d share the name %q", code, other, name)
		}
		seen[name] = code
		if wire := int64(code) == int64(int32(code)); wire == code.IsSymbolic() {
			t.Errorf("%s: symbolic is %v", name, code.IsSymbolic())
		}
		if !code.IsSymbolic() && code <= -32000 && code >= -32019 {
			t.Errorf("%s lies in the range that is not ours: %d", name, int64(code))
		}
	}
	if CodeResourceNotFound.IsLocal() || CodeURLElicitationRequired.IsLocal() || !CodeNotConnected.IsLocal() || !CodeOverloaded.IsLocal() {
		t.Error("local codes")
	}
	if got := Code(-31999).String(); got != "error -31999" {
		t.Errorf("vendor code reads %q", got)
	}
	for _, c := range []struct {
		err  error
		want Code
	}{{io.EOF, CodeInternal}, {fmt.Errorf("x: %w", InvalidParams("y")), CodeInvalidParams}, {CodeNotConnected, CodeNotConnected}, {Errorf(7, "vendor"), 7}} {
		if got := CodeOf(c.err); got != c.want {
			t.Errorf("code of %v is %v, want %v", c.err, got, c.want)
		}
	}
}

func TestErrorText(t *testing.T) {
	for want, err := range map[string]*Error{
		"invalid params: no city":        InvalidParams("no city"),
		"peer: error 7: boom":            {Code: 7, Message: "boom", Remote: true},
		"peer: Method not found":         {Code: CodeMethodNotFound, Message: "Method not found", Remote: true},
		"internal error":                 {Code: CodeInternal},
		"resource not found: book:0":     ResourceNotFound("book:0"),
		"not connected: call Dial first": Errorf(CodeNotConnected, "call Dial first").Because(io.EOF),
	} {
		if err.Error() != want {
			t.Errorf("got %q, want %q", err.Error(), want)
		}
	}
}

func TestErrorDataRoundTrip(t *testing.T) {
	if s, r, ok := UnsupportedVersion([]string{"a", "b"}, "c").VersionsData(); !ok || len(s) != 2 || r != "c" {
		t.Errorf("versions: %v %q %v", s, r, ok)
	}
	if string(UnsupportedVersion(nil, "c").Data) != `{"supported":[],"requested":"c"}` {
		t.Error("nil versions are not []")
	}
	caps := ClientCapabilities{Sampling: &SamplingCapability{}, Extensions: map[string]json.RawMessage{"a.b/c": json.RawMessage(`{}`)}}
	missing := MissingCapability(caps)
	if string(missing.Data) != `{"requiredCapabilities":{"sampling":{},"extensions":{"a.b/c":{}}}}` {
		t.Errorf("data %s", missing.Data)
	}
	if got, ok := missing.MissingCapabilityData(); !ok || got.Sampling == nil || !got.HasExtension("a.b/c") {
		t.Errorf("capabilities: %+v %v", got, ok)
	}
	if uri, ok := ResourceNotFound("u:1").ResourceData(); !ok || uri != "u:1" {
		t.Errorf("uri %q %v", uri, ok)
	}
	pages := URLElicitationRequired(ElicitURLParams{URL: "https://a", ElicitationID: "e"})
	if got, ok := pages.URLElicitationData(); !ok || got[0].ElicitationID != "e" || got[0].Mode != ElicitModeURL {
		t.Errorf("pages %+v %v", got, ok)
	}
}

// Data of a peer that has another shape is left to the caller.
func TestErrorDataOfOtherShape(t *testing.T) {
	for _, data := range []string{``, `null`, `5`, `[]`, `{}`, `{"supported":"a","requested":"b"}`, `{"supported":["a"]}`, `{"supported":["a"],"requested":1}`,
		`{"requiredCapabilities":1}`, `{"requiredCapabilities":null}`, `{"uri":1}`, `{"elicitations":{}}`, `{"elicitations":null}`, `{`} {
		e := &Error{Data: json.RawMessage(data), Remote: true}
		_, _, versions := e.VersionsData()
		_, missing := e.MissingCapabilityData()
		_, resource := e.ResourceData()
		_, pages := e.URLElicitationData()
		if versions || missing || resource || pages || e.HasOnlyURI() {
			t.Errorf("data %s was read: %v %v %v %v", data, versions, missing, resource, pages)
		}
	}
	for data, only := range map[string]bool{`{"uri":"u"}`: true, `{"uri":"u","reason":"r"}`: false, `{"reason":"r","uri":"u"}`: false, `{"uri":1}`: false} {
		if got := (&Error{Data: json.RawMessage(data)}).HasOnlyURI(); got != only {
			t.Errorf("%s: %v", data, got)
		}
	}
}

// A peer may send a message of any length; the text of the error stays readable, and Message is whole.
func TestErrorTextIsBounded(t *testing.T) {
	long := strings.Repeat("é", 1<<20)
	for _, e := range []*Error{{Code: -32000, Message: long, Remote: true}, {Code: CodeInvalidResult, Message: long}} {
		if text := e.Error(); len(text) > 10_100 || !utf8.ValidString(text) || !strings.HasSuffix(text, " bytes)") || len(e.Message) != len(long) {
			t.Errorf("%d bytes, ending in %q", len(text), text[len(text)-20:])
		}
	}
}
