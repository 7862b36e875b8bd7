package jsonrpc_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/rialto-mcp/rialto/jsonrpc"
)

func TestWithout(t *testing.T) {
	cases := []struct {
		in    string
		names []string
		want  string
	}{
		{`{"a":1,"b":2,"c":3}`, []string{"b"}, `{"a":1,"c":3}`},
		{`{"a":1,"b":2,"c":3}`, []string{"a", "c"}, `{"b":2}`},
		{`{"a":1,"b":2,"c":3}`, []string{"b", "c"}, `{"a":1}`},
		{`{"a":1,"b":2,"c":3}`, []string{"c", "b", "a"}, `{}`},
		{"{ \"a\" : 1 ,\n \"b\" : 2\t}", []string{"b"}, "{ \"a\" : 1 \t}"},
		{"{ \"a\" : 1 ,\n \"b\" : 2\t}", []string{"a", "b"}, "{\t}"},
		{`{"\u0061":1,"b":",}"}`, []string{"a"}, `{"b":",}"}`},
		{`{"x":{"a":1},"y":[{"a":2}]}`, []string{"a"}, `{"x":{"a":1},"y":[{"a":2}]}`},
		{`{ }`, []string{"a"}, `{ }`},
		{`{"a":1}`, nil, `{"a":1}`},
	}
	for _, c := range cases {
		if got := jsonrpc.Without([]byte(c.in), c.names...); string(got) != c.want {
			t.Errorf("%s without %q: got %s, want %s", c.in, c.names, got, c.want)
		}
	}
}

func TestWith(t *testing.T) {
	cases := []struct{ in, name, value, want string }{
		{`{"a":1,"b":2}`, "a", `[3]`, `{"a":[3],"b":2}`},
		{`{"a" : 1 }`, "a", `3`, `{"a" : 3 }`},
		{`{"\u0061":1}`, "a", `3`, `{"\u0061":3}`},
		{`{"a":1 }`, "b", `2`, `{"a":1,"b":2}`},
		{` { } `, "b", `2`, ` {"b":2}`},
		{``, "b", `2`, `{"b":2}`},
		{`{"x":{"a":1}}`, "a", `2`, `{"x":{"a":1},"a":2}`},
		{`{}`, `q"`, `null`, `{"q\"":null}`},
	}
	for _, c := range cases {
		var obj []byte
		if c.in != "" {
			obj = []byte(c.in)
		}
		if got := jsonrpc.With([]byte("> "), obj, c.name, []byte(c.value)); string(got) != "> "+c.want {
			t.Errorf("%s with %s: got %s, want > %s", c.in, c.name, got, c.want)
		}
		if string(obj) != c.in {
			t.Errorf("%s was changed to %s", c.in, obj)
		}
	}
}

func TestAddMembers(t *testing.T) {
	cases := []struct{ in, pairs, want string }{
		{`{"a":1}`, `"b":2,"c":3`, `{"a":1,"b":2,"c":3}`},
		{"{\n\"a\":1\n}\n", `"b":2`, "{\n\"a\":1,\"b\":2}"},
		{`{}`, `"b":2`, `{"b":2}`},
		{" {\t} ", `"b":2`, ` {"b":2}`},
		{`{"a":1} `, ``, `{"a":1} `},
	}
	for _, c := range cases {
		if got := jsonrpc.AddMembers(nil, []byte(c.in), []byte(c.pairs)); string(got) != c.want {
			t.Errorf("%s and %s: got %s, want %s", c.in, c.pairs, got, c.want)
		}
	}
	if got := jsonrpc.AddMembers(nil, nil, nil); string(got) != `{}` {
		t.Errorf("nothing and nothing: got %s", got)
	}
}

func TestMembers(t *testing.T) {
	cases := map[string][]string{
		`{"a":1,"\u0062" : [2] , "":{"a":3}}`: {"a=1", "b=[2]", `={"a":3}`},
		`{}`:                                  nil,
		`[1]`:                                 nil,
		`"a"`:                                 nil,
		``:                                    nil,
		`{"a":1,"b"`:                          {"a=1"},        // no valid object: what stands before the fault
		`{"a":1,"a":2}`:                       {"a=1", "a=2"}, // which Decode lets nobody send
	}
	for in, want := range cases {
		var got []string
		for name, raw := range jsonrpc.Members([]byte(in)) {
			got = append(got, name+"="+string(raw))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", in, got, want)
		}
	}
}

func TestMembersMayBeLeftAndNested(t *testing.T) {
	var got []string
	for name := range jsonrpc.Members([]byte(`{"a":1,"b":2,"c":3}`)) {
		for inner := range jsonrpc.Members([]byte(`{"x":1,"y":2}`)) {
			got = append(got, name+inner)
			break
		}
		if name == "b" {
			break
		}
	}
	if want := []string{"ax", "bx"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestMember(t *testing.T) {
	obj := []byte(`{"x":{"a":1},"a":2,"\u0062":3,"a":4}`)
	for name, want := range map[string]string{"a": "2", "b": "3", "c": "", "A": ""} {
		raw, ok := jsonrpc.Member(obj, name)
		if string(raw) != want || ok != (want != "") {
			t.Errorf("%s: got %s, %v", name, raw, ok)
		}
	}
}

func TestText(t *testing.T) {
	cases := []struct {
		raw, want string
		ok        bool
	}{
		{`"abc"`, "abc", true}, {`""`, "", true}, {`"\u00e9\n\""`, "é\n\"", true}, {`"\ud83d\ude00"`, "😀", true},
		{`1`, "", false}, {`null`, "", false}, {``, "", false}, {`"`, "", false}, {`{"a":"b"}`, "", false},
	}
	for _, c := range cases {
		if got, ok := jsonrpc.Text([]byte(c.raw)); ok != c.ok || got != c.want {
			t.Errorf("%s: got %q, %v", c.raw, got, ok)
		}
	}
}

func ExampleWith() {
	params := []byte(`{"name":"echo","arguments":{"n":9007199254740993}}`)
	fmt.Println(string(jsonrpc.With(nil, params, "name", []byte(`"files_echo"`))))
	// Output: {"name":"files_echo","arguments":{"n":9007199254740993}}
}

func ExampleMembers() {
	for name, raw := range jsonrpc.Members([]byte(`{"city":"Oslo","days":[1,2]}`)) {
		fmt.Println(name, string(raw))
	}
	// Output:
	// city "Oslo"
	// days [1,2]
}
