package jsonrpc_test

import (
	"fmt"
	"testing"

	"github.com/rialto-mcp/rialto/jsonrpc"
)

func TestAppend(t *testing.T) {
	cases := []struct {
		name string
		in   jsonrpc.Message
		want string
	}{
		{"request", jsonrpc.Message{ID: jsonrpc.IntID(1), Method: "a/b", Params: []byte(`{"x":1}`)}, `{"jsonrpc":"2.0","id":1,"method":"a/b","params":{"x":1}}`},
		{"request without params", jsonrpc.Message{ID: jsonrpc.StringID(""), Method: "a"}, `{"jsonrpc":"2.0","id":"","method":"a"}`},
		{"request with empty params", jsonrpc.Message{ID: jsonrpc.IntID(0), Method: "a", Params: []byte{}}, `{"jsonrpc":"2.0","id":0,"method":"a"}`},
		{"notification", jsonrpc.Message{Method: "é\n", Params: []byte("{\n\"a\": [\r\n1]}")}, `{"jsonrpc":"2.0","method":"é\n","params":{"a": [1]}}`},
		{"result", jsonrpc.Message{ID: jsonrpc.StringID(`a"`), Result: []byte(`null`)}, `{"jsonrpc":"2.0","id":"a\"","result":null}`},
		{"error", jsonrpc.Message{ID: jsonrpc.IntID(-3), Error: &jsonrpc.Error{Code: -32603, Message: "<no>", Data: []byte("[\n]")}}, `{"jsonrpc":"2.0","id":-3,"error":{"code":-32603,"message":"<no>","data":[]}}`},
		{"error without id", jsonrpc.Message{Error: &jsonrpc.Error{Code: -32700}}, `{"jsonrpc":"2.0","error":{"code":-32700,"message":""}}`},
		{"unknown members", jsonrpc.Message{Method: "a", Extra: []byte("\"x\":\n1,\"y\":2")}, `{"jsonrpc":"2.0","method":"a","x":1,"y":2}`},
		{"unknown members of a result", jsonrpc.Message{ID: jsonrpc.IntID(1), Result: []byte(`{}`), Extra: []byte(`"x":1`)}, `{"jsonrpc":"2.0","id":1,"result":{},"x":1}`},
		{"unknown members of an error", jsonrpc.Message{Error: &jsonrpc.Error{Code: 1}, Extra: []byte(`"x":1`)}, `{"jsonrpc":"2.0","error":{"code":1,"message":""},"x":1}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := c.in.Append([]byte("> "))
			if string(got) != "> "+c.want {
				t.Fatalf("got %s, want > %s", got, c.want)
			}
			back, err := jsonrpc.Decode(got[2:], nil)
			if err != nil || back.Kind() != c.in.Kind() {
				t.Errorf("reads back as %v, %v", back, err)
			}
		})
	}
}

func TestAppendString(t *testing.T) {
	cases := map[string]string{
		"":                 `""`,
		"plain <&>":        `"plain <&>"`,
		"\x00\x1f\t\b\f":   `"\u0000\u001f\t\b\f"`,
		`"\/`:              `"\"\\/"`,
		"\x7f é 😀 \u2028":  "\"\x7f é 😀 \u2028\"",
		"bad \xff\xfe end": "\"bad \uFFFD\uFFFD end\"",
		"\xed\xa0\x80":     "\"\uFFFD\uFFFD\uFFFD\"", // a surrogate written as UTF-8
	}
	for in, want := range cases {
		if got := jsonrpc.AppendString([]byte("> "), in); string(got) != "> "+want {
			t.Errorf("%q: got %s, want > %s", in, got, want)
		}
	}
}

func TestAppendRaw(t *testing.T) {
	cases := map[string]string{
		`{"a": 1}`:                  `{"a": 1}`,
		"{\r\n  \"a\":\n 1\r}\n":    `{  "a": 1}`,
		"\n\n[1,\n2]\n":             `[1,2]`,
		"{\"a\":\"x\\ny\\r\",\n\t}": "{\"a\":\"x\\ny\\r\",\t}",
		"":                          ``,
	}
	for in, want := range cases {
		if got := jsonrpc.AppendRaw([]byte("> "), []byte(in)); string(got) != "> "+want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func ExampleDecode() {
	table := jsonrpc.NewLift([]string{"name"}, nil)
	m, err := jsonrpc.Decode([]byte(`{"jsonrpc":"2.0","id":"7","method":"tools/call","params":{"name":"echo"}}`), table)
	if err != nil {
		fmt.Println(err)
		return
	}
	name, _ := m.Lifted(0)
	fmt.Println(m.Kind(), m.ID, m.Method, string(name))

	_, err = jsonrpc.Decode([]byte(`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`), table)
	fmt.Println(err)
	// Output:
	// request "7" tools/call "echo"
	// "id" must be a string or an integer (at byte 22)
}

func ExampleMessage_Append() {
	answer := jsonrpc.Message{ID: jsonrpc.IntID(7), Result: []byte(`{"content":[]}`)}
	fmt.Println(string(answer.Append(nil)))
	// Output: {"jsonrpc":"2.0","id":7,"result":{"content":[]}}
}
