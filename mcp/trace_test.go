package mcp_test

import (
	"testing"

	"github.com/rialto-mcp/rialto/mcp"
)

func TestParseTraceParent(t *testing.T) {
	const trace, span = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	for text, want := range map[string]bool{
		"00-" + trace + "-" + span + "-01":                  true,
		"cc-" + trace + "-" + span + "-00-what-comes-later": true,
		"":                                      false,
		"00-" + trace + "-" + span:              false,
		"00-" + trace + "-" + span + "-01-more": false,
		"ff-" + trace + "-" + span + "-01":      false,
		"00-4BF92F3577B34DA6A3CE929D0E0E4736-" + span + "-01":     false,
		"00-00000000000000000000000000000000-" + span + "-01":     false,
		"00-" + trace + "-0000000000000000-01":                    false,
		"00-" + trace + "-" + span + "-1":                         false,
		"00-" + trace + "-" + span + "-01\n":                      false,
		"00-4bf92f3577b34da6a3ce929d0e0e473x-" + span + "-01":     false,
		"00-4bf92f3577b34da6a3ce929d0e0e4736a-0f067aa0ba902b7-01": false,
	} {
		p, ok := mcp.ParseTraceParent(text)
		if ok != want {
			t.Errorf("%q: %v", text, ok)
		}
		if ok && (p.TraceID != trace || p.SpanID != span) {
			t.Errorf("%q: read as %+v", text, p)
		}
	}
}
