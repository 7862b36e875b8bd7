package jsonrpc_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/jsonrpc"
)

func TestDecodeRefuses(t *testing.T) {
	const parse, invalid = jsonrpc.CodeParse, jsonrpc.CodeInvalidRequest
	nest := func(open string, n int) string { return strings.Repeat(open, n) }
	cases := []struct {
		name, frame string
		code        int64
		id          string // "" for none
		offset      int64
		text        string // part of it
	}{
		{"nothing", ``, parse, "", -1, "ends too early"},
		{"white space", " \t\r\n", parse, "", -1, "ends too early"},
		{"no JSON", `hello`, parse, "", 0, "not valid JSON"},
		{"cut off", `{"jsonrpc":"2.0","id":1,"method":"x"`, parse, "", 36, "ends too early"},
		{"garbage behind", `{"jsonrpc":"2.0","id":1,"method":"x"}]`, parse, "", 37, "not valid JSON"},
		{"zero byte behind", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\"}\x00", parse, "", 37, "not valid JSON"},
		{"second value", `{"jsonrpc":"2.0","id":1,"method":"x"} {}`, parse, "", 39, "more than one"},
		{"comma behind the last member", `{"jsonrpc":"2.0","id":1,"method":"x",}`, parse, "", 36, "not valid JSON"},
		{"comment", `{"jsonrpc":"2.0",/**/"id":1,"method":"x"}`, parse, "", 17, "not valid JSON"},
		{"leading zero", `{"jsonrpc":"2.0","id":01,"method":"x"}`, parse, "", 23, "not valid JSON"},
		{"byte order mark", "\uFEFF{}", parse, "", 0, "not valid JSON"},

		{"invalid UTF-8 in a value", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\xff\"}", parse, "", 35, "UTF-8"},
		{"invalid UTF-8 in a name", "{\"\xc3\":1,\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\"}", parse, "", 2, "UTF-8"},
		{"lone surrogate", `{"jsonrpc":"2.0","id":1,"method":"\ud800"}`, parse, "", 34, "surrogate"},

		{"duplicate at the top", `{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}`, parse, "", 37, "stands twice"},
		{"duplicate by escape", `{"jsonrpc":"2.0","id":1,"method":"a","\u006dethod":"b"}`, parse, "", 37, "stands twice"},
		{"duplicate in params", `{"jsonrpc":"2.0","id":1,"method":"a","params":{"k":1,"k":2}}`, parse, "", 53, "stands twice"},
		{"duplicate in _meta", `{"jsonrpc":"2.0","id":1,"method":"a","params":{"_meta":{"k":1,"k":2}}}`, parse, "", 62, "stands twice"},
		{"duplicate in arguments", `{"jsonrpc":"2.0","id":1,"method":"a","params":{"arguments":{"k":1,"k":2}}}`, parse, "", 66, "stands twice"},
		{"duplicate in an array", `{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":[{"k":1,"k":2}]}}`, parse, "", 59, "stands twice"},
		{"duplicate in an unknown member", `{"jsonrpc":"2.0","id":1,"method":"a","x":{"k":1,"k":2}}`, parse, "", 48, "stands twice"},
		{"duplicate in an error", `{"jsonrpc":"2.0","id":1,"error":{"code":1,"code":2,"message":""}}`, parse, "", 42, "stands twice"},

		{"too deep", `{"x":` + nest("[", 128) + nest("]", 128) + `}`, parse, "", 132, "deeper than 128"},
		{"far too deep", nest("[", 100000), parse, "", 128, "deeper than 128"},
		{"too deep behind a string", `{"s":"]]]\"]]","x":` + nest("[", 128), parse, "", 146, "deeper than 128"},

		{"string", `"x"`, invalid, "", -1, "a message is a JSON object"},
		{"null", `null`, invalid, "", -1, "a message is a JSON object"},
		{"array", `[{"jsonrpc":"2.0","id":1,"method":"x"}]`, invalid, "", -1, "a message is a JSON object"},
		{"array with garbage behind", `[1] x`, parse, "", 4, "not valid JSON"},

		{"no version", `{"id":1,"method":"x"}`, invalid, "1", -1, `"2.0"`},
		{"version 1.0", `{"jsonrpc":"1.0","id":"a","method":"x"}`, invalid, `"a"`, 11, `"2.0"`},
		{"version as a number", `{"jsonrpc":2.0,"id":1,"method":"x"}`, invalid, "1", 11, `"2.0"`},
		{"empty object", `{}`, invalid, "", -1, `"2.0"`},
		{"nothing but an id", `{"jsonrpc":"2.0","id":7}`, invalid, "7", -1, `has a "method"`},
		{"another case", `{"jsonrpc":"2.0","id":7,"Method":"x"}`, invalid, "7", -1, `has a "method"`},
		{"long s in the name", `{"jsonrpc":"2.0","id":7,"methodſ":"x"}`, invalid, "7", -1, `has a "method"`},
		{"zero byte in the name", `{"jsonrpc":"2.0","id":7,"method\u0000":"x"}`, invalid, "7", -1, `has a "method"`},

		{"id null", `{"jsonrpc":"2.0","id":null,"method":"x"}`, invalid, "", 22, `"id" must be`},
		{"id 1.0", `{"jsonrpc":"2.0","id":1.0,"method":"x"}`, invalid, "", 22, `"id" must be`},
		{"id 1.5", `{"jsonrpc":"2.0","id":1.5,"method":"x"}`, invalid, "", 22, `"id" must be`},
		{"id 1e0", `{"jsonrpc":"2.0","id":1e0,"method":"x"}`, invalid, "", 22, `"id" must be`},
		{"id 1E2", `{"jsonrpc":"2.0","id":1E2,"method":"x"}`, invalid, "", 22, `"id" must be`},
		{"id true", `{"jsonrpc":"2.0","id":true,"method":"x"}`, invalid, "", 22, `"id" must be`},
		{"id an object", `{"jsonrpc":"2.0","id":{},"method":"x"}`, invalid, "", 22, `"id" must be`},

		{"method a number", `{"jsonrpc":"2.0","id":1,"method":7}`, invalid, "1", 33, `"method" must be`},
		{"method empty", `{"jsonrpc":"2.0","id":1,"method":""}`, invalid, "1", 33, `"method" must be`},
		{"method null", `{"jsonrpc":"2.0","method":null}`, invalid, "", 26, `"method" must be`},
		{"params an array", `{"jsonrpc":"2.0","id":1,"method":"x","params":[]}`, invalid, "1", 46, `"params" must be`},
		{"params a string", `{"jsonrpc":"2.0","id":1,"method":"x","params":"y"}`, invalid, "1", 46, `"params" must be`},
		{"request and result", `{"jsonrpc":"2.0","id":1,"method":"x","result":{}}`, invalid, "1", 33, "not both"},
		{"request and error", `{"jsonrpc":"2.0","id":1,"method":"x","error":{}}`, invalid, "1", 33, "not both"},

		{"result and error", `{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}`, invalid, "", 33, "not both"},
		{"result without id", `{"jsonrpc":"2.0","result":{}}`, invalid, "", -1, "needs the"},
		{"result for null", `{"jsonrpc":"2.0","id":null,"result":{}}`, invalid, "", 22, "needs the"},
		{"result for 1.0", `{"jsonrpc":"2.0","id":1.0,"result":{}}`, invalid, "", 22, "needs the"},
		{"result with params", `{"jsonrpc":"2.0","id":1,"result":{},"params":{}}`, invalid, "", 45, "no \"params\""},
		{"result of another version", `{"jsonrpc":"1.0","id":1,"result":{}}`, invalid, "", 11, `"2.0"`},
		{"error a string", `{"jsonrpc":"2.0","id":1,"error":"x"}`, invalid, "", 32, "must be an object"},
		{"error without code", `{"jsonrpc":"2.0","id":1,"error":{"message":"x"}}`, invalid, "", 32, "integer"},
		{"error with a text as code", `{"jsonrpc":"2.0","id":1,"error":{"code":"1","message":"x"}}`, invalid, "", 32, "integer"},
		{"error with a fraction as code", `{"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":"x"}}`, invalid, "", 32, "integer"},
		{"error with a number as message", `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":2}}`, invalid, "", 32, "string"},
		{"error for 1.0", `{"jsonrpc":"2.0","id":1.0,"error":{"code":1,"message":""}}`, invalid, "", 22, `"id" must be`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m, err := jsonrpc.Decode([]byte(c.frame), lift)
			var bad *jsonrpc.FrameError
			if !errors.As(err, &bad) {
				t.Fatalf("got %v, %v; want a FrameError", m, err)
			}
			id := string(bad.ID.Raw())
			if bad.Code != c.code || id != c.id || bad.Offset != c.offset || !strings.Contains(bad.Text, c.text) {
				t.Errorf("got  %d id %q at %d: %s\nwant %d id %q at %d: ...%s...", bad.Code, id, bad.Offset, bad.Text, c.code, c.id, c.offset, c.text)
			}
		})
	}
}

func TestDecodeKinds(t *testing.T) {
	cases := []struct {
		name, frame string
		kind        jsonrpc.Kind
		id, method  string
		params      string
		result      string
		extra       string
	}{
		{"request", `{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":1}}`, jsonrpc.KindRequest, "1", "x", `{"a":1}`, "", ""},
		{"request without params", `{"jsonrpc":"2.0","id":1,"method":"x"}`, jsonrpc.KindRequest, "1", "x", "", "", ""},
		{"params null", `{"jsonrpc":"2.0","id":1,"method":"x","params":null}`, jsonrpc.KindRequest, "1", "x", "", "", ""},
		{"id 0", `{"jsonrpc":"2.0","id":0,"method":"x"}`, jsonrpc.KindRequest, "0", "x", "", "", ""},
		{"id -0", `{"jsonrpc":"2.0","id":-0,"method":"x"}`, jsonrpc.KindRequest, "-0", "x", "", "", ""},
		{"id negative", `{"jsonrpc":"2.0","id":-12,"method":"x"}`, jsonrpc.KindRequest, "-12", "x", "", "", ""},
		{"id empty", `{"jsonrpc":"2.0","id":"","method":"x"}`, jsonrpc.KindRequest, `""`, "x", "", "", ""},
		{"id beyond 2^53", `{"jsonrpc":"2.0","id":9007199254740993,"method":"x"}`, jsonrpc.KindRequest, "9007199254740993", "x", "", "", ""},
		{"id beyond 2^64", `{"jsonrpc":"2.0","id":123456789012345678901234567890,"method":"x"}`, jsonrpc.KindRequest, "123456789012345678901234567890", "x", "", "", ""},
		{"id with escapes", `{"jsonrpc":"2.0","id":"\u0061\/","method":"x"}`, jsonrpc.KindRequest, `"\u0061\/"`, "x", "", "", ""},
		{"id text null", `{"jsonrpc":"2.0","id":"null","method":"x"}`, jsonrpc.KindRequest, `"null"`, "x", "", "", ""},
		{"notification", `{"jsonrpc":"2.0","method":"x"}`, jsonrpc.KindNotification, "", "x", "", "", ""},
		{"method with escapes", `{"jsonrpc":"2.0","method":"a\/\u0062"}`, jsonrpc.KindNotification, "", "a/b", "", "", ""},
		{"name with escapes", `{"\u006asonrpc":"2.0","met\u0068od":"x"}`, jsonrpc.KindNotification, "", "x", "", "", ""},
		{"result", `{"jsonrpc":"2.0","id":"a","result":{"b":2}}`, jsonrpc.KindResult, `"a"`, "", "", `{"b":2}`, ""},
		{"result null", `{"jsonrpc":"2.0","id":1,"result":null}`, jsonrpc.KindResult, "1", "", "", "null", ""},
		{"result a number", `{"jsonrpc":"2.0","id":1,"result":1E400}`, jsonrpc.KindResult, "1", "", "", "1E400", ""},
		{"white space", " { \"jsonrpc\" :\t\"2.0\" ,\r\n\"id\" : 1 , \"method\" : \"x\" , \"params\" : { } } \n", jsonrpc.KindRequest, "1", "x", "{ }", "", ""},
		{"order", `{"params":{},"method":"x","id":1,"jsonrpc":"2.0"}`, jsonrpc.KindRequest, "1", "x", "{}", "", ""},
		{"unknown members", `{"a" : 1,"jsonrpc":"2.0","method":"x","b":[ 2 ]}`, jsonrpc.KindNotification, "", "x", "", "", `"a" : 1,"b":[ 2 ]`},
		{"another case is unknown", `{"jsonrpc":"2.0","id":1,"method":"a","Method":"b","Params":{}}`, jsonrpc.KindRequest, "1", "a", "", "", `"Method":"b","Params":{}`},
		{"long s", `{"jsonrpc":"2.0","id":1,"method":"a","paramſ":{}}`, jsonrpc.KindRequest, "1", "a", "", "", `"paramſ":{}`},
		{"Kelvin sign", request("{\"K\":1,\"\u212a\":2}"), jsonrpc.KindRequest, "1", "x", "{\"K\":1,\"\u212a\":2}", "", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m, err := jsonrpc.Decode([]byte(c.frame), lift)
			if err != nil {
				t.Fatal(err)
			}
			got := []string{string(m.ID.Raw()), m.Method, string(m.Params), string(m.Result), string(m.Extra)}
			want := []string{c.id, c.method, c.params, c.result, c.extra}
			for i := range want {
				if got[i] != want[i] {
					t.Errorf("got %q, want %q", got, want)
					break
				}
			}
			if m.Kind() != c.kind {
				t.Errorf("got a %s, want a %s", m.Kind(), c.kind)
			}
			if string(m.Frame()) != c.frame {
				t.Errorf("the frame is %q", m.Frame())
			}
		})
	}
}

func TestDecodeError(t *testing.T) {
	cases := []struct {
		name, frame string
		id          string
		want        jsonrpc.Error
	}{
		{"plain", `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no \u00e9"}}`, "1", jsonrpc.Error{Code: -32601, Message: "no é"}},
		{"without id", `{"jsonrpc":"2.0","error":{"code":-32700,"message":"m"}}`, "", jsonrpc.Error{Code: -32700, Message: "m"}},
		{"id null", `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}`, "", jsonrpc.Error{Code: 1, Message: "m"}},
		{"without message", `{"jsonrpc":"2.0","id":1,"error":{"code":1}}`, "1", jsonrpc.Error{Code: 1}},
		{"data as it came", `{"jsonrpc":"2.0","id":1,"error":{"data":{ "n" : 1.0 },"code":1,"message":"m","more":1}}`, "1", jsonrpc.Error{Code: 1, Message: "m", Data: []byte(`{ "n" : 1.0 }`)}},
		{"data null", `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m","data":null}}`, "1", jsonrpc.Error{Code: 1, Message: "m", Data: []byte(`null`)}},
		{"code of another case", `{"jsonrpc":"2.0","id":1,"error":{"code":1,"Code":2,"message":"m","Message":"n"}}`, "1", jsonrpc.Error{Code: 1, Message: "m"}},
		{"with params", `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"},"params":{"name":"x","_meta":{"claim":1}}}`, "1", jsonrpc.Error{Code: 1, Message: "m"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m, err := jsonrpc.Decode([]byte(c.frame), lift)
			if err != nil {
				t.Fatal(err)
			}
			if m.Kind() != jsonrpc.KindError || string(m.ID.Raw()) != c.id {
				t.Errorf("got a %s with id %s", m.Kind(), m.ID)
			}
			if m.Error.Code != c.want.Code || m.Error.Message != c.want.Message || string(m.Error.Data) != string(c.want.Data) {
				t.Errorf("got %+v, want %+v", m.Error, c.want)
			}
			if _, ok := m.Lifted(liftName); ok {
				t.Error("something was lifted out of an error")
			}
			if _, ok := m.Meta(); ok {
				t.Error("an error has no _meta of params")
			}
		})
	}
}

func TestDecodeDepth(t *testing.T) {
	brackets := strings.Repeat("[{", 500)
	frames := map[string]string{
		"128 levels":                  `{"jsonrpc":"2.0","method":"x","params":{"a":` + strings.Repeat("[", 126) + strings.Repeat("]", 126) + `}}`,
		"many values side by side":    `{"jsonrpc":"2.0","method":"x","params":{"a":[` + strings.Repeat("[],", 500) + `{}]}}`,
		"brackets in a string":        `{"jsonrpc":"2.0","method":"x","params":{"a":"` + brackets + `"}}`,
		"brackets and escaped quotes": `{"jsonrpc":"2.0","method":"x","params":{"a":"\\\"` + brackets + `\\"}}`,
		"brackets in a name":          `{"jsonrpc":"2.0","method":"x","params":{"` + brackets + `":1}}`,
	}
	for name, frame := range frames {
		t.Run(name, func(t *testing.T) {
			if _, err := jsonrpc.Decode([]byte(frame), lift); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestFrameErrorText(t *testing.T) {
	_, err := jsonrpc.Decode([]byte(`{"a":1,"a":2}`), nil)
	if got, want := err.Error(), `the member "a" stands twice in one object (at byte 7)`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	_, err = jsonrpc.Decode([]byte(`[]`), nil)
	if got, want := err.Error(), "a message is a JSON object"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
