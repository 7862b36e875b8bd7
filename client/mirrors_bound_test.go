package client

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// marked is a page of one tool that takes about kib of memory.
func marked(name string, kib int) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"tools":[{"name":%q,"inputSchema":{"properties":{%q:{"type":"string","x-mcp-header":"A"}}}}]}`,
		name, strings.Repeat("n", kib<<10)))
}

// What is kept is bounded; what may be old makes room first, but is used as long as there is room.
func TestMirrorsBound(t *testing.T) {
	m := &mirrors{}
	const kib, most = 500, 8 // mostDeclared holds eight of these
	for i := range most {
		if !m.take(marked(fmt.Sprint("old", i), kib)) {
			t.Fatalf("tool %d found no room", i)
		}
	}
	if m.take(marked("more", kib)) || m.of("more") != nil {
		t.Error("there was room beyond the bound")
	}
	m.stale()
	if m.of("old0") == nil {
		t.Error("what may be old is not used")
	}
	m.take(marked("old1", kib)) // listed anew, and so not old any more
	if !m.take(marked("new", kib)) || m.of("new") == nil {
		t.Error("what may be old does not make room")
	}
	if m.of("old1") == nil || m.of("old0") != nil {
		t.Error("the wrong ones have made room")
	}
	for name := range m.tools {
		m.take(json.RawMessage(fmt.Sprintf(`{"tools":[{"name":%q,"inputSchema":{}}]}`, name)))
	}
	if len(m.tools) != 0 || m.bytes != 0 {
		t.Errorf("%d tools and %d bytes are left of tools that declare nothing any more", len(m.tools), m.bytes)
	}
}

// FuzzMirrors holds that whatever a server declares, each header of a call is one that HTTP can carry.
func FuzzMirrors(f *testing.F) {
	f.Add([]byte(marked("t", 0)), []byte(`{"name":"t","arguments":{"":"x\r\ny"}}`))
	f.Add([]byte(`{"tools":[{"name":"t","inputSchema":{"properties":{"n":{"type":"integer","x-mcp-header":"N"}}}},1,null]}`), []byte(`{"name":"t","arguments":{"n":1e1}}`))
	f.Add([]byte(`{"tools":{"name":"t"}}`), []byte(`{"arguments":[1]}`))
	f.Fuzz(func(t *testing.T, page, params []byte) {
		if !json.Valid(page) || !json.Valid(params) {
			return
		}
		m := &mirrors{}
		m.take(page)
		headers, err := headersOf(m.of("t"), params)
		if err != nil {
			return
		}
		for _, h := range headers {
			if strings.ContainsFunc(h[0]+h[1], func(r rune) bool { return r < ' ' || r > '~' }) || strings.Trim(h[1], " ") != h[1] {
				t.Errorf("%q cannot be carried", h)
			}
		}
	})
}
