package config

import (
	"bytes"
	"strings"
	"testing"
)

// TestStateKeys reads keys by variables: the same text makes the same key, none of it is kept as it stands, and what is too short
// is told with its place.
func TestStateKeys(t *testing.T) {
	lookup := func(name string) (string, bool) { return strings.Repeat("k", 32), name == "KEY" }
	file := `{"gateway": {"stateKeys": ["${KEY}", "` + strings.Repeat("k", 32) + `", "` + strings.Repeat("o", 40) + `"]}, "mcpServers": {}}`
	c, err := Read(strings.NewReader(file), "f", Options{Lookup: lookup})
	if err != nil {
		t.Fatal(err)
	}
	if keys := c.StateKeys.All(); len(keys) != 3 || len(keys[0]) != 32 || !bytes.Equal(keys[0], keys[1]) || bytes.Equal(keys[0], keys[2]) {
		t.Errorf("got %x", keys)
	}
	normal, err := c.Marshal()
	if err != nil || bytes.Contains(normal, []byte("kkk")) || !bytes.Contains(normal, []byte(`"${KEY}"`)) {
		t.Errorf("the normal form: %v\n%s", err, normal)
	}
	for section, want := range map[string]string{
		`{"stateKeys":"x"}`:   "f:1:25: gateway.stateKeys: this must be a list, not text in quotes",
		`{"stateKeys":["x"]}`: "f:1:26: gateway.stateKeys[0]: a key needs at least 32 characters that nobody can guess; openssl rand -hex 32 prints some",
		`{"stateKeys":[` + strings.TrimSuffix(strings.Repeat(`"x",`, 17), ",") + `]}`: "f:1:25: gateway.stateKeys: there are more than 16 keys; an old one is of no use once what it sealed has expired",
	} {
		if _, err := read(`{"gateway":` + section + `,"mcpServers":{}}`); err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", section, err, want)
		}
	}
}
