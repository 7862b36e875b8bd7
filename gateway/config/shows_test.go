package config

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestWrongShows(t *testing.T) {
	for _, tc := range []struct{ section, want string }{
		{`{"tools":[]}`, "f:1:41: gateway.servers.alpha.tools: this must be an object, not a list"},
		{`{"tools":{"alow":[]}}`, "f:1:49: gateway.servers.alpha.tools.alow: this key is not known; did you mean allow?"},
		{`{"tools":{"allow":[]}}`, `f:1:50: gateway.servers.alpha.tools.allow: the list is empty; leave the key out, or write "*" for everything`},
		{`{"prompts":{"deny":[""]}}`, "f:1:52: gateway.servers.alpha.prompts.deny[0]: a pattern is a name of 1 to 1024 characters in which * stands for any run of them, such as delete_*"},
		{`{"resources":{"deny":"x"}}`, "f:1:53: gateway.servers.alpha.resources.deny: this must be a list, not text in quotes"},
	} {
		c, err := read(`{"gateway":{"servers":{"alpha":` + tc.section + `}},"mcpServers":{"alpha":{"command":"x"}}}`)
		if c != nil || err == nil || err.Error() != tc.want {
			t.Errorf("%s: got %v and\n%v\nwant\n%s", tc.section, c, err, tc.want)
		}
	}
}

// TestNormalShows holds what the normal form says of single servers.
func TestNormalShows(t *testing.T) {
	const said = `{"tools":{"allow":["read_*","list"],"deny":["*private*"]},"prompts":{"deny":["*"]},"resources":{"allow":["file:///srv/*"]}}`
	if got := normalOf(t, said); got != said {
		t.Errorf("got %s", got)
	}
	if got := normalOf(t, `{"tools":{}}`); got != "" {
		t.Errorf("of nothing: %s", got)
	}
}

// normalOf is the normal form of what is said of a server; it reads as the same once more.
func normalOf(t *testing.T, said string) string {
	t.Helper()
	c, err := read(`{"gateway":{"servers":{"alpha":` + said + `}},"mcpServers":{"alpha":{"command":"x"}}}`)
	if err != nil {
		t.Fatal(err)
	}
	text, err := c.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	var normal struct {
		Gateway struct {
			Servers map[string]json.RawMessage `json:"servers"`
		} `json:"gateway"`
	}
	if err := json.Unmarshal(text, &normal); err != nil {
		t.Fatal(err)
	}
	own := normal.Gateway.Servers["alpha"]
	if own == nil {
		return ""
	}
	var out bytes.Buffer
	if err := json.Compact(&out, own); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
