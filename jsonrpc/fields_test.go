package jsonrpc_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rialto-mcp/rialto/jsonrpc"
)

func TestFields(t *testing.T) {
	for _, tc := range []struct {
		obj  string
		want []string
	}{
		{`{}`, nil},
		{` { } `, nil},
		{`{"a":1}`, []string{`"a" 1`}},
		{"\t{ \"a\" : [1,{\"b\":\"]}\"}] ,\n\"\\u0062\":\"\\\"\" , \"\":-1.5e3}", []string{`"a" [1,{"b":"]}"}]`, `"\u0062" "\""`, `"" -1.5e3`}},
		{`[1]`, nil},
		{`"{"`, nil},
		{``, nil},
		{`{"a":1,"b"`, []string{`"a" 1`}},
		{`{"a":}`, nil},
		{`{a:1}`, nil},
	} {
		var got []string
		for m := range jsonrpc.Fields([]byte(tc.obj)) {
			got = append(got, string(m.Name)+" "+string(m.Value))
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: got %q", tc.obj, got)
		}
	}
	var elements []string
	for e := range jsonrpc.Elements([]byte(" [ 1 , [2,3],{\"a\":[]}\n,\"x,y\" ] ")) {
		elements = append(elements, string(e))
	}
	if !slices.Equal(elements, []string{"1", "[2,3]", `{"a":[]}`, `"x,y"`}) {
		t.Errorf("elements %q", elements)
	}
	for range jsonrpc.Elements([]byte(`[]`)) {
		t.Error("an empty array has an element")
	}
	if v, ok := jsonrpc.Member([]byte(`{"\u0061":1,"b":2}`), "a"); !ok || string(v) != "1" {
		t.Errorf("found %s", v)
	}
}

// FuzzFields holds the walk against the library's decoder, on what is valid; on the rest no walk and no edit may crash.
func FuzzFields(f *testing.F) {
	for _, seed := range []string{`{"a":1,"b":[1,"]"],"c":{"d":null}}`, `{"a":"\\\"","b":true}`, `{"a`, `[`, `{"a":1}x`, `{"a":1`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, obj []byte) {
		var got []string
		for m := range jsonrpc.Fields(obj) {
			got = append(got, string(m.Name)+string(m.Value))
			jsonrpc.Member(obj, string(m.Name))
		}
		for range jsonrpc.Elements(obj) {
			continue
		}
		jsonrpc.Without(obj, "a", "b")
		if jsonrpc.IsObject(obj) {
			jsonrpc.With(nil, obj, "a", []byte("1"))
		}
		if !jsontext.Value(obj).IsValid() {
			return
		}
		if want := byDecoder(t, obj); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", obj, got, want)
		}
	})
}

// byDecoder reads the members of a valid object with the decoder of the library; nothing for another value.
func byDecoder(t *testing.T, obj []byte) (all []string) {
	dec := jsontext.NewDecoder(bytes.NewReader(obj))
	if dec.PeekKind() != '{' {
		return nil
	}
	next := func() string {
		raw, err := dec.ReadValue()
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	if _, err := dec.ReadToken(); err != nil {
		t.Fatal(err)
	}
	for dec.PeekKind() != '}' {
		name := next()
		all = append(all, name+next())
	}
	return all
}
