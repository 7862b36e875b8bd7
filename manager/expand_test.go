package manager

import (
	"strings"
	"testing"
)

func TestExpand(t *testing.T) {
	env := map[string]string{"A": "1", "EMPTY": "", "REF": "${A}", "B_2": "two"}
	for _, tc := range []struct{ in, want string }{
		{"", ""}, {"plain $A {A} $", "plain $A {A} $"},
		{"${A}", "1"}, {"x${A}y${B_2}z", "x1ytwoz"}, {"${env:A}", "1"},
		{"${NONE:-d}", "d"}, {"${NONE:-}", ""}, {"${A:-d}", "1"}, {"${EMPTY:-d}", "d"}, {"${EMPTY}", ""},
		{"${env:NONE:-http://x}", "http://x"}, {"${NONE:-a:-b}", "a:-b"},
		{"${REF}", "${A}"},
		{"$${A} ${A}", "${A} 1"}, {"$$${A}", "$${A}"},
		{"open ${A", "open ${A"},
	} {
		x := &expander{opts: ReadOptions{Lookup: lookupIn(env)}, left: maxExpandedAll}
		got, fault := x.expand(tc.in)
		if got != tc.want || fault != "" {
			t.Errorf("%s: got %q, %q; want %q", tc.in, got, fault, tc.want)
		}
	}
}

func TestExpandFaults(t *testing.T) {
	const unknown = "this ${...} is none of ${VAR}, ${VAR:-default}, ${env:VAR}; for the characters themselves write $${"
	for _, tc := range []struct{ in, want string }{
		{"${NONE}", "the variable NONE is not set; set it, or write ${NONE:-default}"},
		{"${env:NONE}", "the variable NONE is not set; set it, or write ${NONE:-default}"},
		{"${}", unknown}, {"${1A}", unknown}, {"${A?secret}", unknown}, {"${command:secret}", unknown}, {"${" + strings.Repeat("N", 200) + "}", unknown},
		{"${input:in put}", "the input ... has no value, since nobody is asked for inputs here; write ${env:VAR} instead"},
	} {
		x := &expander{opts: ReadOptions{Lookup: lookupIn(nil)}, left: maxExpandedAll}
		if got, fault := x.expand(tc.in); fault != tc.want || got != "" {
			t.Errorf("%s: got %q, %q; want %q", tc.in, got, fault, tc.want)
		}
	}
}

func TestExpansionIsBounded(t *testing.T) {
	env := map[string]string{"BIG": strings.Repeat("x", 100<<10)}
	_, err := readEntry(t, `{"command":"${BIG}${BIG}"}`, ReadOptions{Lookup: lookupIn(env)})
	if err == nil || !strings.Contains(err.Error(), "longer than 131072 bytes") {
		t.Errorf("one text: %v", err)
	}
	args := strings.Repeat(`"${BIG}",`, 100)
	_, err = readEntry(t, `{"command":"x","args":[`+args+`]}`, ReadOptions{Lookup: lookupIn(env)})
	if err == nil || !strings.Contains(err.Error(), "the texts of this file are longer than") || len(err.Error()) > 10_000 {
		t.Errorf("all texts: %v", err)
	}
}

// Every field that may hold variables does, and the others do not.
func TestWhatIsExpanded(t *testing.T) {
	opts := ReadOptions{Lookup: lookupIn(map[string]string{"V": "v", "URL": "http://h/sse"})}
	s, err := readEntry(t, `{"command":"${V}","args":["${V}"],"env":{"${V}":"${V}"},"envFile":"${V}","cwd":"${V}","description":"${V}","disabledTools":["${V}"]}`, opts)
	if err != nil {
		t.Fatal(err)
	}
	if s.Command+s.Args[0]+s.EnvFile+s.Dir+s.Env["${V}"] != "vvvvv" || s.Description+s.DisabledTools[0] != "${V}${V}" || !strings.Contains(string(s.Raw), `"command":"${V}"`) {
		t.Errorf("got %q %q %v %q %q %q %q", s.Command, s.Args, s.Env, s.EnvFile, s.Dir, s.Description, s.DisabledTools)
	}
	s, err = readEntry(t, `{"url":"${URL}","headers":{"A":"Bearer ${V}"}}`, opts)
	if err != nil || s.URL != "http://h/sse" || s.Transport != SSE || s.Headers["A"] != "Bearer v" {
		t.Errorf("got %q %q %v, %v", s.URL, s.Transport, s.Headers, err)
	}
	s, err = readEntry(t, `{"url":"${NONE}","headers":{"A":"${NONE}"},"disabled":true}`, opts)
	if err != nil || !s.Disabled || s.URL != "${NONE}" {
		t.Errorf("disabled: %q, %v", s.URL, err)
	}
	s, err = readEntry(t, `{"url":"${NONE}"}`, ReadOptions{})
	if err != nil || s.URL != "${NONE}" {
		t.Errorf("without a lookup: %q, %v", s.URL, err)
	}
}
