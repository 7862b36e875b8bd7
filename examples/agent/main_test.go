package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestAgent runs the loop offline: two calls at once, of which one fails, and an answer. Streamed, it prints the same.
func TestAgent(t *testing.T) {
	for _, tc := range []struct{ question, want string }{
		{"How is it in Bergen and in Lisbon?", `weather_now_07bafeeb({"city":"Bergen"}): Bergen: rain, 9 degrees
weather_now_07bafeeb({"city":"Lisbon"}): Lisbon: sun, 24 degrees
Here is what I found: Bergen: rain, 9 degrees; Lisbon: sun, 24 degrees
`},
		{"And in Atlantis?", `weather_now_07bafeeb({"city":"Atlantis"}): there is no station in "Atlantis"
Here is what I found: Error: there is no station in "Atlantis"
`},
		{"Who are you?", "I only know the weather.\n"},
	} {
		for _, stream := range []bool{false, true} {
			var out bytes.Buffer
			if err := run(t.Context(), agent{model: "built-in", stream: stream, out: &out}, "", tc.question); err != nil {
				t.Fatal(err)
			}
			if out.String() != tc.want {
				t.Errorf("%s\ngot  %s\nwant %s", tc.question, out.String(), tc.want)
			}
		}
	}
	if err := run(t.Context(), agent{out: &bytes.Buffer{}}, "", ""); err == nil || !strings.Contains(err.Error(), "Give a question") {
		t.Errorf("no question: %v", err)
	}
}
