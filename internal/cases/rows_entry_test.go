package cases

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/server"
)

// TestRowsBeforeTheEra holds what is judged of a POST before anybody looks for its era: HTTP method, Host, Origin, the
// user's own check, media types, size, JSON.
func TestRowsBeforeTheEra(t *testing.T) {
	w := library(t, server.Options{HTTP: server.HTTPOptions{
		AllowedOrigins: []string{pageOrigin},
		SecurityValidator: func(r *http.Request) error {
			if r.Header.Get("X-Denied") != "" {
				return errors.New("the header X-Denied is not wanted here")
			}
			return nil
		},
	}})
	list := claims("2026-07-28", "tools/list")
	const all = "POST, GET, DELETE"
	long := strings.Repeat("x", bodyLimit)
	w.answers(t, []refusalRow{
		{"served", list, wanted{status: 200, text: `"tools":[`}},
		{"PUT", list.by("PUT"), wanted{status: 405, allow: all}},
		{"PATCH", list.by("PATCH"), wanted{status: 405, allow: all}},
		{"TRACE", ask{method: "TRACE"}, wanted{status: 405, allow: all}},
		{"a method of nobody", ask{method: "BREW"}, wanted{status: 405, allow: all}},
		{"OPTIONS that is no preflight", ask{method: "OPTIONS"}, wanted{status: 405, allow: all}},
		{"preflight", ask{method: "OPTIONS", head: []string{"Origin: " + pageOrigin, "Access-Control-Request-Method: POST"}}, wanted{status: 204}},
		{"preflight of another page", ask{method: "OPTIONS", head: []string{"Origin: https://evil.example", "Access-Control-Request-Method: POST"}}, wanted{status: 403, text: "AllowedOrigins"}},

		{"another host", list.set("Host: evil.example"), wanted{status: 403, text: "AllowedHosts"}},
		{"a host that only begins like ours", list.set("Host: 127.0.0.1.evil.example"), wanted{status: 403, text: "AllowedHosts"}},
		{"another origin", list.set("Origin: https://evil.example"), wanted{status: 403, text: "AllowedOrigins"}},
		{"origin null", list.set("Origin: null"), wanted{status: 403, text: "AllowedOrigins"}},
		{"an origin that cannot be read", list.set("Origin: ://"), wanted{status: 403, text: "AllowedOrigins"}},
		{"a listed origin", list.set("Origin: " + pageOrigin), wanted{status: 200}},
		{"the user's own check", list.set("X-Denied: 1"), wanted{status: 403, text: "X-Denied"}},

		{"no Content-Type", list.set("Content-Type"), wanted{status: 415, code: -32600}},
		{"text", list.set("Content-Type: text/plain"), wanted{status: 415, code: -32600}},
		{"a type that begins like JSON", list.set("Content-Type: application/json-seq"), wanted{status: 415, code: -32600}},
		{"JSON with parameters", list.set("Content-Type: Application/JSON ; charset=utf-8"), wanted{status: 200}},
		{"two types in two lines", list.set("Content-Type: application/json").also("Content-Type: application/json"), wanted{status: 415, code: -32600}},
		{"two types in one line", list.set("Content-Type: application/json, application/json"), wanted{status: 415, code: -32600}},
		{"gzip", list.set("Content-Encoding: gzip"), wanted{status: 415, code: -32600, text: "Content-Encoding"}},
		{"identity", list.set("Content-Encoding: identity"), wanted{status: 200}},

		{"a type that no answer has", list.set("Accept: image/png"), wanted{status: 406, text: "Accept"}},
		{"both types refused", list.set("Accept: application/json;q=0, text/event-stream;q=0"), wanted{status: 406, text: "Accept"}},
		{"everything but ours", list.set("Accept: */*;q=0"), wanted{status: 406, text: "Accept"}},
		{"no Accept", list.set("Accept"), wanted{status: 200}},
		{"anything", list.set("Accept: */*"), wanted{status: 200}},
		{"JSON alone", list.set("Accept: application/json"), wanted{status: 200}},
		{"any application", list.set("Accept: application/*"), wanted{status: 200}},

		{"a declared size over the limit", posted("", "Content-Length: 10737418240"), wanted{status: 413, code: -32600, text: "MaxBodyBytes"}},
		{"a body over the limit in chunks", posted("2100\r\n"+strings.Repeat("x", 0x2100)+"\r\n0\r\n\r\n", "Content-Length", "Transfer-Encoding: chunked"), wanted{status: 413, code: -32600, text: "MaxBodyBytes"}},
		{"one byte over the limit", posted(`"` + long[1:] + `"`), wanted{status: 413, code: -32600}},
		{"at the limit", posted(`"` + long[2:] + `"`), wanted{status: 400, code: -32600}},

		{"empty", posted(""), wanted{status: 400, code: -32700}},
		{"blanks", posted(" \n\t"), wanted{status: 400, code: -32700}},
		{"no JSON", posted(`{"jsonrpc":"2.0",`), wanted{status: 400, code: -32700}},
		{"two values", posted(unclaimed + unclaimed), wanted{status: 400, code: -32700}},
		{"not UTF-8", posted("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"\xff\"}"), wanted{status: 400, code: -32700}},
		{"half a surrogate", posted(`{"jsonrpc":"2.0","id":7,"method":"\ud800"}`), wanted{status: 400, code: -32700}},
		{"a byte order mark", posted("\xef\xbb\xbf" + unclaimed), wanted{status: 400, code: -32700}},
		{"a name twice", posted(`{"jsonrpc":"2.0","id":7,"method":"tools/list","method":"tools/call"}`), wanted{status: 400, code: -32700, text: "method"}},
		{"a name twice, deep inside", posted(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"arguments":{"a":[{"b":1,"b":2}]}}}`), wanted{status: 400, code: -32700}},
		{"as deep as may be", posted(`{"jsonrpc":"2.0","id":7,"method":"tools/list","params":` + nested(127) + `}`), wanted{status: 400, code: -32600, id: "7"}},
		{"too deep", posted(`{"jsonrpc":"2.0","id":7,"method":"tools/list","params":` + nested(128) + `}`), wanted{status: 400, code: -32700, text: "deep"}},
	})
}

// nested is an object of so many levels.
func nested(levels int) string {
	return strings.Repeat(`{"a":`, levels-1) + "{}" + strings.Repeat("}", levels-1)
}

// also adds a header beside one of the same name.
func (a ask) also(line string) ask {
	a.head = append(append([]string(nil), a.head...), line)
	return a
}

// TestRowsSlowBody holds that a body which does not arrive is given up, in time and with its own status.
func TestRowsSlowBody(t *testing.T) {
	w := library(t, server.Options{HTTP: server.HTTPOptions{BodyTimeout: 50 * time.Millisecond}})
	list := claims("2026-07-28", "tools/list")
	list.head = append(list.head, "Content-Length: 1000")
	wanted{status: 408, code: -32600}.of(t, w.do(t, list))
}

// TestRowsShape holds what is no JSON-RPC, and under which id it is told: that of the body where it is one object whose id
// can be read and which is no answer, and none otherwise.
func TestRowsShape(t *testing.T) {
	w := library(t, server.Options{})
	shape := func(id string) wanted { return wanted{status: 400, code: -32600, id: id} }
	w.answers(t, []refusalRow{
		{"a string", posted(`"hello"`), shape("")},
		{"a number", posted(`7`), shape("")},
		{"null", posted(`null`), shape("")},
		{"no jsonrpc", posted(`{"id":7,"method":"tools/list"}`), shape("7")},
		{"another jsonrpc", posted(`{"jsonrpc":"1.0","id":7,"method":"tools/list"}`), shape("7")},
		{"jsonrpc as a number", posted(`{"jsonrpc":2.0,"id":"a","method":"tools/list"}`), shape(`"a"`)},
		{"no method, no result", posted(`{"jsonrpc":"2.0","id":7}`), shape("7")},
		{"method is no string", posted(`{"jsonrpc":"2.0","id":7,"method":1}`), shape("7")},
		{"method is empty", posted(`{"jsonrpc":"2.0","id":7,"method":""}`), shape("7")},
		{"a broken answer", posted(`{"jsonrpc":"2.0","id":7,"error":{}}`), shape("")},
		{"id null", posted(`{"jsonrpc":"2.0","id":null,"method":"tools/list"}`), shape("")},
		{"id with a fraction", posted(`{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}`), shape("")},
		{"id is an object", posted(`{"jsonrpc":"2.0","id":{},"method":"tools/list"}`), shape("")},
		{"id is a boolean", posted(`{"jsonrpc":"2.0","id":true,"method":"tools/list"}`), shape("")},
		{"params are a string", posted(`{"jsonrpc":"2.0","id":7,"method":"tools/list","params":"a"}`), shape("7")},
		{"params are an array", posted(`{"jsonrpc":"2.0","id":7,"method":"tools/list","params":[]}`), shape("7")},
		{"result and error", posted(`{"jsonrpc":"2.0","id":7,"result":{},"error":{"code":1,"message":"a"}}`), shape("")},
		{"method and result", posted(`{"jsonrpc":"2.0","id":7,"method":"tools/list","result":{}}`), shape("7")},
		{"id 0", claims("2027-01-01", "tools/list").withID(`0`), wanted{status: 400, code: -32022, id: "0", data: unservedData("2027-01-01")}},
		{"id empty", claims("2027-01-01", "tools/list").withID(`""`), wanted{status: 400, code: -32022, id: `""`, data: unservedData("2027-01-01")}},
		{"id beyond 2^53", claims("2027-01-01", "tools/list").withID(`9007199254740993`), wanted{status: 400, code: -32022, id: "9007199254740993", data: unservedData("2027-01-01")}},
	})
}

// withID gives the request another id.
func (a ask) withID(id string) ask {
	a.body = strings.Replace(a.body, `"id":7`, `"id":`+id, 1)
	return a
}
