package mcp

import (
	"encoding/json"
	"testing"
)

func TestMetaEdits(t *testing.T) {
	const wire = `{ "z" : 1.0 , "a/b":{"c":"\u0061"},"progressToken":"\u0061" }`
	m := Meta(wire)
	for _, c := range []struct{ name, got, want string }{
		{"replace keeps the place", string(m.Set("a/b", json.RawMessage(`2`))), `{ "z" : 1.0 , "a/b":2,"progressToken":"\u0061" }`},
		{"add at the end", string(m.Set("n", json.RawMessage(`null`))), `{ "z" : 1.0 , "a/b":{"c":"\u0061"},"progressToken":"\u0061","n":null}`},
		{"without", string(m.Without("z")), `{  "a/b":{"c":"\u0061"},"progressToken":"\u0061" }`},
		{"without what is absent", string(m.Without("q")), wire},
		{"without the last", string(Meta(`{"a":1}`).Without("a")), ``},
		{"escaped key", string(Meta(`{"\u0061":1,"b":2}`).Set("a", json.RawMessage(`3`))), `{"\u0061":3,"b":2}`},
		{"set on nothing", string(Meta(nil).Set("a", json.RawMessage(`1`))), `{"a":1}`},
		{"set on an empty object", string(Meta(` {} `).Set("a", json.RawMessage(`1`))), ` {"a":1}`},
		{"set on no object", string(Meta(`[1]`).Set("a", json.RawMessage(`1`))), `{"a":1}`},
		{"set on broken JSON", string(Meta(`{"b":1,"a":2,`).Set("a", json.RawMessage(`3`))), `{"a":3}`},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, c.got, c.want)
		}
	}
	if string(m) != wire {
		t.Errorf("the original changed: %s", m)
	}
	if got := m.ProgressToken(); got.Raw() != `"\u0061"` || got.String() != "a" {
		t.Errorf("progress token %q", got.Raw())
	}
}

func TestMetaReads(t *testing.T) {
	m := Meta(`{"s":"x","n":1,"o":{"name":"n","version":"1"},"nil":null,"io.modelcontextprotocol/subscriptionId":7,"progressToken":1.5}`)
	if s, ok := m.Text("s"); !ok || s != "x" {
		t.Errorf("s: %q %v", s, ok)
	}
	for _, key := range []string{"n", "nil", "absent"} {
		if s, ok := m.Text(key); ok {
			t.Errorf("%s reads as the string %q", key, s)
		}
	}
	var info Implementation
	if ok, err := m.Decode("o", &info); !ok || err != nil || info.Name != "n" {
		t.Errorf("o: %+v %v %v", info, ok, err)
	}
	if ok, err := m.Decode("n", &info); !ok || err == nil {
		t.Errorf("a number decoded into an Implementation: %v %v", ok, err)
	}
	if ok, err := m.Decode("absent", &info); ok || err != nil {
		t.Errorf("absent: %v %v", ok, err)
	}
	if m.SubscriptionID() != IntToken(7) || !m.ProgressToken().IsZero() {
		t.Errorf("tokens: %q %q", m.SubscriptionID().Raw(), m.ProgressToken().Raw())
	}
	if raw, ok := Meta(`{"a":1,"b"`).Get("b"); ok {
		t.Errorf("broken JSON has a member %s", raw)
	}
	if _, err := NewMeta("f", func() {}); err == nil {
		t.Error("a function became JSON")
	}
}

func TestMetaKeys(t *testing.T) {
	for key, fine := range map[string]bool{
		"progressToken": true, "a": true, "a.b-c_d9": true, "com.example/x": true, "a-b.c9/x": true, "com.example/": true, MetaRelatedTask: true,
		"": false, "-a": false, "a-": false, "a b": false, "/a": false, "9a/x": false, "a-/x": false, "a..b/x": false, "a/b/c": false, "é": false, "com.example/é": false,
	} {
		if err := CheckMetaKey(key); (err == nil) != fine {
			t.Errorf("key %q: %v", key, err)
		}
	}
	for key, reserved := range map[string]bool{
		MetaClientInfo: true, "dev.mcp/x": true, "io.modelcontextprotocol.api/x": true, "com.example.mcp/x": false, "mcp.dev/x": false, "mcp/x": false, "progressToken": false,
	} {
		if IsReservedMetaKey(key) != reserved {
			t.Errorf("key %q: reserved is %v", key, !reserved)
		}
	}
}

func TestTokens(t *testing.T) {
	for raw, fine := range map[string]bool{
		`0`: true, `-1`: true, `""`: true, `"a"`: true, `9007199254740993`: true, `"\ud83d\ude00"`: true,
		`1.0`: false, `1e2`: false, `01`: false, `-`: false, `true`: false, `{}`: false, `"a`: false, `"a" `: false, ``: false, "\"\xff\"": false,
	} {
		token, err := ParseToken([]byte(raw))
		if (err == nil) != fine {
			t.Errorf("%s: %v", raw, err)
		}
		if fine && token.Raw() != raw {
			t.Errorf("%q became %q", raw, token.Raw())
		}
	}
	if StringToken("1") == IntToken(1) {
		t.Error("the string 1 equals the number 1")
	}
	if StringToken("a\"b").String() != "a\"b" || IntToken(-3).String() != "-3" {
		t.Error("text of a token")
	}
}
