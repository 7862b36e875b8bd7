package config

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestWrongShows(t *testing.T) {
	for _, tc := range []struct{ section, want string }{
		{`{"tools":[]}`, "f:1:41: gateway.servers.alpha.tools: this must be an object, not a list"},
		{`{"tools":{"alow":[]}}`, "f:1:49: gateway.servers.alpha.tools.alow: this key is not known; did you mean allow?"},
		{`{"tools":{"allow":[]}}`, `f:1:50: gateway.servers.alpha.tools.allow: the list is empty; leave the key out, or write "*" for everything`},
		{`{"prompts":{"deny":[""]}}`, "f:1:52: gateway.servers.alpha.prompts.deny[0]: a pattern is a name of 1 to 1024 characters in which * stands for any run of them, such as delete_*"},
		{`{"tools":{"rename":{"a":"b c"}}}`, `f:1:56: gateway.servers.alpha.tools.rename.a: the new name may have letters, digits, '_', '-' and '.' only`},
		{`{"tools":{"rename":{"a":"c","b":"c"}}}`, `f:1:64: gateway.servers.alpha.tools.rename.b: "a" is to have the same name; choose another`},
		{`{"prompts":{"rename":{"a":""}}}`, `f:1:58: gateway.servers.alpha.prompts.rename.a: the new name must have 1 to 256 characters`},
		{`{"tools":{"edit":{"a":{"titel":"x"}}}}`, `f:1:63: gateway.servers.alpha.tools.edit.a.titel: this key is not known; did you mean title?`},
		{`{"tools":{"edit":{"a":{"title":""}}}}`, `f:1:63: gateway.servers.alpha.tools.edit.a.title: the text must have 1 to 16384 bytes; to keep what the server says leave the key out`},
		{`{"prompts":{"edit":{"a":{"arguments":{}}}}}`, `f:1:69: gateway.servers.alpha.prompts.edit.a.arguments: this key is not known; known are title, description`},
		{`{"tools":{"edit":{"a":{"arguments":{"x":{"value":1,"drop":true}}}}}}`, `f:1:72: gateway.servers.alpha.tools.edit.a.arguments.x: value and drop exclude each other: one is always sent, the other never`},
		{`{"tools":{"edit":{"a":{"arguments":{"x":{"value":1,"rename":"y"}}}}}}`, `f:1:72: gateway.servers.alpha.tools.edit.a.arguments.x: an argument with a value is hidden, so that the other keys mean nothing; keep value alone`},
		{`{"tools":{"edit":{"a":{"arguments":{"x":{"value":{"k":["${NONE}"]}}}}}}}`, `f:1:87: gateway.servers.alpha.tools.edit.a.arguments.x.value.k[0]: the variable NONE is not set; set it, or write ${NONE:-default}`},
		{`{"onDown":"gone"}`, `f:1:42: gateway.servers.alpha.onDown: "gone" is not known; write keep, hide or fail`},
		{`{"resources":{"deny":"x"}}`, "f:1:53: gateway.servers.alpha.resources.deny: this must be a list, not text in quotes"},
	} {
		c, err := readWith(map[string]string{}, `{"gateway":{"servers":{"alpha":`+tc.section+`}},"mcpServers":{"alpha":{"command":"x"}}}`)
		if c != nil || err == nil || err.Error() != tc.want {
			t.Errorf("%s: got %v and\n%v\nwant\n%s", tc.section, c, err, tc.want)
		}
	}
}

func readWith(env map[string]string, text string) (*Config, error) {
	return Read(strings.NewReader(text), "f", Options{Lookup: func(name string) (string, bool) { value, ok := env[name]; return value, ok }})
}

// TestFixedValues holds that variables in the fixed value of an argument are put in, wherever they stand in it, that all that has
// come of one counts as secret, and that the normal form shows no text of it.
func TestFixedValues(t *testing.T) {
	c, err := readWith(map[string]string{"KEY": "hush\"1"}, `{"gateway":{"servers":{"alpha":{"tools":{"edit":{"t":{"arguments":{
		"a":{"value":{"key":["${KEY}",1.0,"plain",{"n":null}]}},"b":{"value":7},"c":{"default":"d"}}}}}}}},"mcpServers":{"alpha":{"command":"x"}}}`)
	if err != nil {
		t.Fatal(err)
	}
	args := c.PerServer["alpha"].Shows.Tools.Edit["t"].Arguments
	if got := string(args["a"].Value); got != `{"key":["hush\"1",1.0,"plain",{"n":null}]}` || !slices.Equal(args["a"].Secret, []string{"hush\"1"}) {
		t.Errorf("the value is %s, secret is %q", got, args["a"].Secret)
	}
	if text, err := c.Marshal(); err != nil || strings.Contains(string(text), "hush") || strings.Contains(string(text), "plain") {
		t.Errorf("the normal form is %s, %v", text, err)
	}
}

// TestNormalShows holds what the normal form says of single servers.
func TestNormalShows(t *testing.T) {
	const said = `{"tools":{"allow":["read_*","list"],"deny":["*private*"]},"prompts":{"deny":["*"]},"resources":{"allow":["file:///srv/*"]},"onDown":"hide"}`
	if got := normalOf(t, said); got != said {
		t.Errorf("got %s", got)
	}
	const edits = `{"tools":{"rename":{"a":"b"},"edit":{"a":{"title":"T","description":"D","arguments":{"n":{"value":7},"t":{"value":"***"},"u":{"default":1.0},"x":{"drop":true},"y":{"rename":"z","description":"d"}}},"b":{}}},"prompts":{"rename":{"p":"q"},"edit":{"p":{"title":"T"}}}}`
	if got := normalOf(t, strings.Replace(edits, "***", "text", 1)); got != edits {
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
