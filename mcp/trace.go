package mcp

import "strings"

// TraceParent is what a traceparent says, in lower case hexadecimal. W3C Trace Context, "traceparent Header".
type TraceParent struct {
	TraceID string // 32 digits
	SpanID  string // 16 digits: the span that the request was made in
	Flags   string // 2 digits
}

// ParseTraceParent reads a traceparent. It answers false for a text of another form; what a later version of the form adds at
// the end is passed over.
func ParseTraceParent(text string) (TraceParent, bool) {
	parts := strings.Split(text, "-")
	if len(parts) < 4 || parts[0] == "ff" || parts[0] == "00" && len(parts) > 4 {
		return TraceParent{}, false
	}
	for i, size := range [...]int{2, 32, 16, 2} {
		if len(parts[i]) != size || strings.Trim(parts[i], "0123456789abcdef") != "" {
			return TraceParent{}, false
		}
	}
	p := TraceParent{TraceID: parts[1], SpanID: parts[2], Flags: parts[3]}
	return p, strings.Trim(p.TraceID, "0") != "" && strings.Trim(p.SpanID, "0") != ""
}
