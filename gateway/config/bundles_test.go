package config

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestWrongBundles(t *testing.T) {
	for _, tc := range []struct{ section, want string }{
		{`"bundles":[]`, "f:1:23: gateway.bundles: this must be an object, not a list"},
		{`"bundles":{"a b":{"servers":["alpha"]}}`, `f:1:30: gateway.bundles."a b": the name of a bundle stands in its address; write 1 to 64 letters, digits, '_' and '-'`},
		{`"bundles":{"dev":{}}`, `f:1:30: gateway.bundles.dev: the bundle shows nothing; name servers, or patterns of tools, prompts or resources`},
		{`"bundles":{"dev":[]}`, `f:1:30: gateway.bundles.dev: this must be an object, not a list`},
		{`"bundles":{"dev":{"servers":["alpa"]}}`, `f:1:42: gateway.bundles.dev.servers[0]: there is no server of this name in the file; did you mean alpha?`},
		{`"bundles":{"dev":{"tools":[""]}}`, `f:1:40: gateway.bundles.dev.tools[0]: a pattern is a name of 1 to 1024 characters in which * stands for any run of them, such as delete_*`},
		{`"bundles":{"dev":{"tools":["x"],"prefix":"some"}}`, `f:1:54: gateway.bundles.dev.prefix: the mode "some" is not known; write collision, always or never`},
		{`"bundles":{"dev":{"tools":["x"],"rename":{"alpha/x":"y z"}}}`, `f:1:65: gateway.bundles.dev.rename."alpha/x": the new name may have letters, digits, '_', '-' and '.' only`},
		{`"bundles":{"dev":{"tools":["x"],"root":true}}`, `f:1:52: gateway.bundles.dev.root: this key is not known; known are title, instructions, servers, tools, prompts, resources, prefix, rename`},
		{`"serveAll":false`, `f:1:24: gateway.serveAll: there are no bundles, so that nothing would be served; add bundles, or leave this out`},
	} {
		c, err := read(`{"gateway":{` + tc.section + `},"mcpServers":{"alpha":{"command":"x"}}}`)
		if c != nil || err == nil || err.Error() != tc.want {
			t.Errorf("%s: got %v and\n%v\nwant\n%s", tc.section, c, err, tc.want)
		}
	}
	var many strings.Builder
	for i := range mostBundles {
		fmt.Fprintf(&many, `n%d":{"tools":["x"]},"`, i)
	}
	if _, err := read(`{"gateway":{"bundles":{"` + many.String() + `z":{"tools":["x"]}}},"mcpServers":{}}`); err == nil || !strings.Contains(err.Error(), "more than 100 bundles") {
		t.Errorf("too many: %v", err)
	}
}

// TestNormalBundles holds what the normal form says of bundles: an empty list is not the same as none.
func TestNormalBundles(t *testing.T) {
	const said = `{"dev":{"title":"T","instructions":"I","servers":["alpha"],"tools":[],"prompts":["p*"],"resources":["memo:*"],"prefix":"always","rename":{"alpha/x":"y"}},"ops":{"tools":["x"]}}`
	c, err := read(`{"gateway":{"serveAll":false,"bundles":` + said + `},"mcpServers":{"alpha":{"command":"x"}}}`)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := json.Marshal(c.normalBundles()); err != nil || string(got) != said || c.ServeAll {
		t.Errorf("got %s, %v", got, err)
	}
}
