package observe

import (
	"strings"
	"testing"
)

const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

// TestTraced holds which trace contexts go on: valid ones byte for byte, others not at all, and what stands beside them
// stays either way.
func TestTraced(t *testing.T) {
	long := strings.Repeat("x", 9000)
	for _, tc := range []struct{ name, meta, want string }{
		{"none", `{"own":1.0}`, `{"own":1.0}`},
		{"all three", `{"traceparent":"` + parent + `","tracestate":"a=1, b=2","baggage":"k=v;p=1"}`, ""},
		{"escapes stay", `{"traceparent":"\u0030` + parent[1:] + `","x":"\u00e9"}`, ""},
		{"no valid parent takes the state along", `{"traceparent":"00-1","tracestate":"a=1","baggage":"k=v"}`, `{"baggage":"k=v"}`},
		{"a state alone", `{"tracestate":"a=1","x":1}`, `{"x":1}`},
		{"not text", `{"traceparent":7,"tracestate":null,"baggage":{}}`, `{}`},
		{"a state of another form", `{"traceparent":"` + parent + `","tracestate":"a"}`, `{"traceparent":"` + parent + `"}`},
		{"too many states", `{"traceparent":"` + parent + `","tracestate":"` + strings.Repeat("a=1,", 32) + `b=1"}`, `{"traceparent":"` + parent + `"}`},
		{"too long", `{"traceparent":"01` + parent[2:] + `-` + long + `","tracestate":"a=` + long + `","baggage":"k=` + long + `"}`, `{}`},
		{"line breaks", `{"baggage":"k=v\r\nX: y"}`, `{}`},
		{"no object", `"text"`, ""},
	} {
		want := tc.want
		if want == "" {
			want = tc.meta
		}
		got := traced([]byte(`{"name":"x","_meta":` + tc.meta + `,"arguments":{"n":1e0}}`))
		if string(got) != `{"name":"x","_meta":`+want+`,"arguments":{"n":1e0}}` {
			t.Errorf("%s: %s", tc.name, got)
		}
	}
	if got := traced([]byte(`{"name":"x"}`)); string(got) != `{"name":"x"}` {
		t.Error(string(got))
	}
}
