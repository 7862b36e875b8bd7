package mcp

import (
	stdjson "encoding/json"
	"reflect"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rialto-mcp/rialto/jsonrpc"
)

// roundTrip decodes bytes of a peer and holds the promises of the package: both JSON packages understand the same, and
// what was decoded can be encoded and then comes back the same.
func roundTrip[T any](t *testing.T, in []byte) {
	var std, v2 T
	errStd, errV2 := stdjson.Unmarshal(in, &std), json.Unmarshal(in, &v2)
	if errStd == nil && errV2 != nil {
		t.Fatalf("encoding/json accepts %q, json v2 does not: %v", in, errV2)
	}
	if errV2 != nil {
		return
	}
	if errStd != nil {
		t.Fatalf("json v2 accepts %q, encoding/json does not: %v", in, errStd)
	}
	out, err := any(v2).(appender).AppendJSON(nil)
	if err != nil {
		t.Fatalf("decoded from %q but cannot be encoded: %v", in, err)
	}
	if !jsontext.Value(out).IsValid() {
		t.Fatalf("invalid JSON %q from %q", out, in)
	}
	var again T
	if err := json.Unmarshal(out, &again); err != nil {
		t.Fatalf("%q from %q is not read again: %v", out, in, err)
	}
	second, err := any(again).(appender).AppendJSON(nil)
	if err != nil || string(second) != string(out) {
		t.Fatalf("%q became %q (%v)", out, second, err)
	}
}

func FuzzCallToolResult(f *testing.F) { fuzz[CallToolResult](f) }

func FuzzTool(f *testing.F) { fuzz[Tool](f) }

func FuzzListToolsResult(f *testing.F) { fuzz[ListToolsResult](f) }

func fuzz[T any](f *testing.F) {
	for _, s := range samples {
		if _, same := s.target().(*T); same {
			f.Add([]byte(s.wire))
		}
	}
	f.Add([]byte(`{"content":[null,{"type":"image","data":"!"},{"type":"resource","resource":{"uri":"u","blob":5}},[]],"structuredContent":1e400}`))
	f.Add([]byte(`{"tools":[null,{"name":"a","inputSchema":false,"annotations":{"readOnlyHint":null}}],"nextCursor":null}`))
	f.Fuzz(func(t *testing.T, in []byte) { roundTrip[T](t, in) })
}

// FuzzMeta edits an arbitrary _meta: the other members keep their bytes.
func FuzzMeta(f *testing.F) {
	f.Add([]byte(`{"a":1,"b":"\u0061"}`), "a")
	f.Add([]byte(`{"a":1,`), "b")
	f.Fuzz(func(t *testing.T, in []byte, key string) {
		if !jsontext.Value(in).IsValid() || !jsontext.Value(jsonrpc.AppendString(nil, key)).IsValid() {
			return
		}
		m := Meta(in)
		set := m.Set(key, stdjson.RawMessage(`7`))
		clean := string(Meta(`{}`).Set(key, stdjson.RawMessage(`7`)))
		if !jsontext.Value(set).IsValid() {
			t.Fatalf("%q with %q became %q", in, key, set)
		}
		name := firstName(clean)
		if got, ok := set.Get(name); !ok || string(got) != "7" {
			t.Fatalf("%q in %q reads %q", key, set, got)
		}
		if _, ok := set.Without(name).Get(name); ok {
			t.Fatalf("%q is still in %q", key, set.Without(name))
		}
		if before, after := members(m, name), members(set, name); !reflect.DeepEqual(before, after) {
			t.Fatalf("other members changed: %q, %q", before, after)
		}
	})
}

func firstName(object string) string {
	for name := range jsonrpc.Members([]byte(object)) {
		return name
	}
	return ""
}

func members(m Meta, except string) (out []string) {
	if !isWholeObject(m) {
		return nil
	}
	for name, value := range jsonrpc.Members(m) {
		if name != except {
			out = append(out, name+"="+string(value))
		}
	}
	return out
}
