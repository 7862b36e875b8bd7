package jsonrpc_test

import (
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/jsonrpc"
)

// Positions in the table of the tests.
const (
	liftName = iota
	liftArguments
	liftMeta
)

const (
	metaClaim = iota
	metaInfo
)

var lift = jsonrpc.NewLift([]string{"name", "arguments", "_meta"}, []string{"claim", "info"})

func decode(t testing.TB, frame string) *jsonrpc.Message {
	t.Helper()
	m, err := jsonrpc.Decode([]byte(frame), lift)
	if err != nil {
		t.Fatalf("decode %s: %v", frame, err)
	}
	return m
}

func request(params string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"x","params":` + params + `}`
}

func TestLift(t *testing.T) {
	const none = "(none)"
	cases := []struct{ name, params, member, claim, meta string }{
		{"all", `{"name":"a","_meta":{"claim":"b","x":1}}`, `"a"`, `"b"`, `{"claim":"b","x":1}`},
		{"escaped names", `{"n\u0061me":"a","\u005fmeta":{"c\u006caim":"b"}}`, `"a"`, `"b"`, `{"c\u006caim":"b"}`},
		{"white space", "{ \"name\" :\n[ 1 ] , \"_meta\" : {\t\"claim\" : { } } }", `[ 1 ]`, `{ }`, "{\t\"claim\" : { } }"},
		{"null", `{"name":null,"_meta":null}`, `null`, none, none},
		{"other cases", `{"Name":1,"_META":{"claim":1}}`, none, none, none},
		{"names deeper down", `{"arguments":{"name":1,"_meta":{"claim":1}}}`, none, none, none},
		{"empty", `{}`, none, none, none},
		{"meta an array", `{"_meta":[{"claim":1}]}`, none, none, none},
		{"names in the other place", `{"claim":1,"_meta":{"name":1}}`, none, none, `{"name":1}`},
	}
	or := func(raw []byte, ok bool) string {
		if !ok {
			return none
		}
		return string(raw)
	}
	for _, c := range cases {
		for what, frame := range map[string]string{
			"params": request(c.params), "result": `{"result":` + c.params + `,"jsonrpc":"2.0","id":1}`,
		} {
			t.Run(c.name+" in "+what, func(t *testing.T) {
				m := decode(t, frame)
				member, claim, meta := or(m.Lifted(liftName)), or(m.LiftedMeta(metaClaim)), or(m.Meta())
				if member != c.member || claim != c.claim || meta != c.meta {
					t.Errorf("got %s, %s, %s; want %s, %s, %s", member, claim, meta, c.member, c.claim, c.meta)
				}
			})
		}
	}
}

func TestNothingIsLiftedWithoutTable(t *testing.T) {
	m, err := jsonrpc.Decode([]byte(request(`{"name":"a","_meta":{}}`)), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := m.Lifted(liftName); ok {
		t.Error("a member was lifted")
	}
}

func TestNewLiftBounds(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a table of 21 names was taken")
		}
	}()
	jsonrpc.NewLift(strings.Split(strings.Repeat("x", 21), ""), nil)
}

func TestLean(t *testing.T) {
	name, meta := []int{liftName}, []int{metaClaim, metaInfo}
	cases := []struct {
		name, in   string
		body, meta []int
		want       string
	}{
		{"nothing to cut", `{ "a" : 1 }`, name, meta, `{ "a" : 1 }`},
		{"first", `{"name":1, "a":2}`, name, nil, `{ "a":2}`},
		{"middle", `{"a":2, "name":1 , "b":3}`, name, nil, `{"a":2,  "b":3}`},
		{"last", `{"a":2 , "name":1 }`, name, nil, `{"a":2  }`},
		{"only", `{ "name" : 1 }`, name, nil, `{ }`},
		{"two at the end", `{"a":2,"name":1,"arguments":{"x":[]}}`, []int{liftName, liftArguments}, nil, `{"a":2}`},
		{"order of positions does not matter", `{"name":1,"b":0,"arguments":{}}`, []int{liftArguments, liftName}, nil, `{"b":0}`},
		{"some of _meta", `{"_meta":{"claim":1,"x":2,"info":3},"a":4}`, nil, meta, `{"_meta":{"x":2},"a":4}`},
		{"all of _meta", `{"_meta":{"claim":1,"info":3},"a":4}`, nil, meta, `{"a":4}`},
		{"all of _meta, at the end", `{"a":4,"_meta":{"claim":1}}`, nil, meta, `{"a":4}`},
		{"nothing but _meta", `{"_meta":{"claim":1}}`, nil, meta, `{}`},
		{"an empty _meta stays", `{"_meta":{}}`, nil, meta, `{"_meta":{}}`},
		{"a _meta of another kind stays", `{"_meta":7}`, nil, meta, `{"_meta":7}`},
		{"body and _meta", `{"name":1,"_meta":{"claim":1,"x":{}},"z":0}`, name, meta, `{"_meta":{"x":{}},"z":0}`},
		{"_meta whole and in part", `{"a":0,"_meta":{"claim":1,"x":2},"z":0}`, []int{liftMeta}, meta, `{"a":0,"z":0}`},
		{"_meta whole, all of it named", `{"a":0,"_meta":{"claim":1}}`, []int{liftMeta}, meta, `{"a":0}`},
		{"escaped names", `{"\u006eame":1,"_m\u0065ta":{"\u0063laim":1,"x":2}}`, name, meta, `{"_m\u0065ta":{"x":2}}`},
		{"commas and braces in strings", `{"a":",}","name":"{,","b":"\",\\"}`, name, nil, `{"a":",}","b":"\",\\"}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := decode(t, request(c.in)).LeanParams(c.body, c.meta); string(got) != c.want {
				t.Errorf("params: got %s, want %s", got, c.want)
			}
			m := decode(t, `{"jsonrpc":"2.0","id":1,"result":`+c.in+`}`)
			if got := m.LeanResult(c.body, c.meta); string(got) != c.want {
				t.Errorf("result: got %s, want %s", got, c.want)
			}
		})
	}
}

func TestLeanOfWhatIsNoObject(t *testing.T) {
	if got := decode(t, `{"jsonrpc":"2.0","id":1,"method":"x"}`).LeanParams([]int{liftName}, nil); got != nil {
		t.Errorf("got %s for no params", got)
	}
	m := decode(t, `{"jsonrpc":"2.0","id":1,"result":[1]}`)
	if got := m.LeanResult([]int{liftName}, []int{metaClaim}); string(got) != "[1]" {
		t.Errorf("got %s for a list", got)
	}
}
