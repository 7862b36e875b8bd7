package era_test

import (
	"slices"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
)

func TestMembers(t *testing.T) {
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
		for m := range era.Members([]byte(tc.obj)) {
			got = append(got, string(m.Name)+" "+string(m.Value))
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: got %q", tc.obj, got)
		}
	}
	var elements []string
	for e := range era.Elements([]byte(" [ 1 , [2,3],{\"a\":[]}\n,\"x,y\" ] ")) {
		elements = append(elements, string(e))
	}
	if !slices.Equal(elements, []string{"1", "[2,3]", `{"a":[]}`, `"x,y"`}) {
		t.Errorf("elements %q", elements)
	}
	for range era.Elements([]byte(`[]`)) {
		t.Error("an empty array has an element")
	}
	if v, ok := era.Find([]byte(`{"\u0061":1,"b":2}`), "a"); !ok || string(v) != "1" {
		t.Errorf("found %s", v)
	}
}

// FuzzMembers holds the scanner against the library's, on what is valid; on the rest it may not crash.
func FuzzMembers(f *testing.F) {
	for _, seed := range []string{`{"a":1,"b":[1,"]"],"c":{"d":null}}`, `{"a":"\\\"","b":true}`, `{"a`, `[`, `{"a":1}x`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, obj []byte) {
		type pair struct{ name, value string }
		var got, want []pair
		for m := range era.Members(obj) {
			name, _ := jsonrpc.Text(m.Name)
			got = append(got, pair{name, string(m.Value)})
		}
		for range era.Elements(obj) {
			continue
		}
		if !jsontext.Value(obj).IsValid() {
			return
		}
		for name, value := range jsonrpc.Members(obj) {
			want = append(want, pair{name, string(value)})
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", obj, got, want)
		}
	})
}
