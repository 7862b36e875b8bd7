package jsonrpc_test

import (
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/jsonrpc"
)

func TestAnswerID(t *testing.T) {
	long := `{"content":[{"text":"` + strings.Repeat("x", 300) + `","id":9,"method":"m"}]}`
	trap := `{"content":[{"text":"` + strings.Repeat("x", 300) + `,\"id\":9}"}]}`
	cases := []struct{ name, frame, want string }{
		{"id first", `{"jsonrpc":"2.0","id":5,"result":` + long + `}`, "5"},
		{"a name", `{"id":"a\u0062","error":{"code":1,"message":"` + long + `"}}`, `"a\u0062"`},
		{"id last", `{"result":` + long + `,"jsonrpc":"2.0","id":-5}`, "-5"},
		{"id near the end", `{"result":` + long + ` , "id" : "a" , "jsonrpc":"2.0"} `, `"a"`},
		{"id last but escaped", `{"result":` + long + `,"id":"a\u0062"}`, ""},
		{"id in a string", `{"result":` + trap, ""},
		{"id in the result of a whole message", `{"result":{"x":"` + strings.Repeat("x", 300) + `","id":7}}`, ""},
		{"a request", `{"jsonrpc":"2.0","id":5,"method":"m","params":` + long + `}`, ""},
		{"a request backwards", `{"params":` + long + `,"method":"m","id":5}`, ""},
		{"an array", `[{"jsonrpc":"2.0","id":5,"result":` + long + `}]`, ""},
		{"a long id", `{"id":"` + strings.Repeat("x", 300) + `","result":{}}`, ""},
		{"null", `{"id":null,"error":` + long + `}`, ""},
		{"no JSON", strings.Repeat("x", 300), ""},
		{"nothing", "", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			const most = 256
			start, end := c.frame[:min(most, len(c.frame))], c.frame[max(0, len(c.frame)-most):]
			id, ok := jsonrpc.AnswerID([]byte(start), []byte(end))
			if string(id.Raw()) != c.want || ok != (c.want != "") {
				t.Errorf("got %s, %v; want %q", id.Raw(), ok, c.want)
			}
		})
	}
}

// FuzzAnswerID cuts messages anywhere: what is found is the id of the message.
func FuzzAnswerID(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":5,"result":{"a":[1,{"id":7}]}}`), 30, 20)
	f.Add([]byte(`{"result":{"text":",\"id\":9}"},"jsonrpc":"2.0","id":"x"}`), 12, 40)
	f.Add([]byte(`{"id":5,"method":"m"}`), 8, 9)
	f.Fuzz(func(t *testing.T, frame []byte, head, tail int) {
		m, err := jsonrpc.Decode(frame, nil)
		if err != nil || head < 0 || tail < 0 {
			return
		}
		id, ok := jsonrpc.AnswerID(frame[:min(head, len(frame))], frame[max(0, len(frame)-tail):])
		if ok && (id != m.ID || m.Method != "") {
			t.Errorf("%s, cut to %d and %d: got %s", frame, head, tail, id.Raw())
		}
	})
}
