package mcp

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestDropBroken(t *testing.T) {
	for _, c := range []struct {
		name, in, want string
		reasons        []string
	}{
		{"one of three", `{"nextCursor":"c","tools":[{"name":"a"},{"name":"b","annotations":"x"}, {"name":"c","n":1.0}],"z":1}`,
			`{"nextCursor":"c","tools":[{"name":"a"},{"name":"c","n":1.0}],"z":1}`, []string{`tools[1] "b"`}},
		{"all", `{"tools":[5,{"name":6}]}`, `{"tools":[]}`, []string{`tools[0] ""`, `tools[1] ""`}},
		{"none", `{"tools":[ {"name":"a"} , null ]}`, `{"tools":[ {"name":"a"} , null ]}`, nil},
		{"no list", `{"tools":{}}`, `{"tools":{}}`, nil},
		{"no member", `{}`, `{}`, nil},
		{"no object", `[]`, `[]`, nil},
	} {
		kept, broken := DropBroken[Tool](json.RawMessage(c.in), "tools")
		if string(kept) != c.want || len(broken) != len(c.reasons) {
			t.Errorf("%s: kept %s, broken %v", c.name, kept, broken)
			continue
		}
		for i, reason := range c.reasons {
			if !strings.Contains(broken[i].Error(), reason) {
				t.Errorf("%s: %v, want it to say %s", c.name, broken[i], reason)
			}
		}
	}
}
