package era_test

import (
	"testing"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

func TestWireError(t *testing.T) {
	missing, visit := mcp.ResourceNotFound("book:0"), mcp.URLElicitationRequired()
	for _, tc := range []struct {
		name string
		err  *mcp.Error
		want map[string]int64
	}{
		{"missing resource", missing, map[string]int64{"2024-10-07": -32002, "2024-11-05": -32002, "2025-11-25": -32002, "2026-07-28": -32602}},
		{"page to visit", visit, map[string]int64{"2025-03-26": -32603, "2025-06-18": -32603, "2025-11-25": -32042, "2026-07-28": -32603}},
		{"relayed -32002", &mcp.Error{Code: -32002, Message: "x", Remote: true}, map[string]int64{"2025-11-25": -32002, "2026-07-28": -32602}},
		{"relayed -32042", &mcp.Error{Code: -32042, Message: "x", Remote: true}, map[string]int64{"2025-11-25": -32042, "2026-07-28": -32603}},
		{"a vendor's", &mcp.Error{Code: 4711, Message: "x"}, map[string]int64{"2025-11-25": 4711, "2026-07-28": 4711}},
		{"relayed -32001", &mcp.Error{Code: -32001, Message: "x"}, map[string]int64{"2025-11-25": -32001, "2026-07-28": -32001}},
		{"invalid params", mcp.InvalidParams("x"), map[string]int64{"2025-11-25": -32602, "2026-07-28": -32602}},
		{"a failure of this side", mcp.Errorf(mcp.CodeRequestTimeout, "x"), map[string]int64{"2025-11-25": -32603, "2026-07-28": -32603}},
	} {
		for revision, want := range tc.want {
			codec, _ := codecs(t, revision)
			if got := codec.WireError(tc.err); got.Code != want || string(got.Data) != string(tc.err.Data) || got.Message != tc.err.Message {
				t.Errorf("%s in %s: %d %s %s", tc.name, revision, got.Code, got.Message, got.Data)
			}
		}
	}
	codec, _ := codecs(t, mcp.Version20260728)
	if got := codec.WireError(&mcp.Error{Code: mcp.CodeInternal}); got.Message != "Internal error" {
		t.Errorf("an empty message becomes %q", got.Message)
	}
	if got := codec.WireError(&mcp.Error{Code: mcp.CodeInvalidParams}); got.Message != "invalid params" {
		t.Errorf("an empty message becomes %q", got.Message)
	}
}

func TestReadError(t *testing.T) {
	for _, tc := range []struct {
		name string
		code int64
		data string
		want mcp.Code
	}{
		{"page to visit", -32042, `{"elicitations":[]}`, mcp.CodeURLElicitationRequired},
		{"-32042 without pages", -32042, ``, -32042},
		{"missing resource of a modern server", -32602, `{"uri":"a"}`, mcp.CodeResourceNotFound},
		{"bad parameter with a uri and more", -32602, `{"uri":"a","path":"/x"}`, mcp.CodeInvalidParams},
		{"bad parameter with a uri of another kind", -32602, `{"uri":1}`, mcp.CodeInvalidParams},
		{"bad parameter", -32602, ``, mcp.CodeInvalidParams},
		{"missing resource of a legacy server", -32002, `{"uri":"a","more":1}`, mcp.CodeResourceNotFound},
		{"bare -32002", -32002, ``, -32002},
		{"unserved version", -32022, `{"supported":[],"requested":"a"}`, mcp.CodeUnsupportedVersion},
		{"missing capability", -32021, `{"requiredCapabilities":{}}`, mcp.CodeMissingCapability},
		{"a vendor's", 7, `[1]`, 7},
		{"a number of ours that no peer may mean", int64(mcp.CodeRequestTimeout), ``, mcp.CodeInternal},
	} {
		for _, revision := range []string{mcp.Version20251125, mcp.Version20260728} {
			_, client := codecs(t, revision)
			m := &jsonrpc.Message{ID: jsonrpc.IntID(1), Error: &jsonrpc.Error{Code: tc.code, Message: "m", Data: raw(tc.data)}}
			o, err := client.DecodeOutcome(call("resources/read", ""), m)
			if err != nil {
				t.Fatal(err)
			}
			if o.Err.Code != tc.want || !o.Err.Remote || string(o.Err.Data) != tc.data || o.Err.Message != "m" {
				t.Errorf("%s in %s: %+v", tc.name, revision, o.Err)
			}
		}
	}
}

// TestRefusalRows holds the row and the code of each refusal a modern codec makes.
func TestRefusalRows(t *testing.T) {
	server, _ := codecs(t, mcp.Version20260728)
	for _, tc := range []struct {
		name  string
		frame string
		h     era.Headers
		row   int
		code  mcp.Code
	}{
		{"method header", modernCall("nothing/here", ""), headers{}, 5, mcp.CodeHeaderMismatch},
		{"method before _meta", `{"jsonrpc":"2.0","id":1,"method":"nothing/here"}`, posted("", "nothing/here", ""), 6, mcp.CodeMethodNotFound},
		{"_meta before name", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}`, posted("", "tools/call", "b"), 7, mcp.CodeInvalidParams},
		{"extension before name", modernCall("tasks/get", `"taskId":"a"`), posted("", "tasks/get", "b"), 7, mcp.CodeMissingCapability},
		{"name", modernCall("tools/call", `"name":"a"`), posted("", "tools/call", "b"), 8, mcp.CodeHeaderMismatch},
	} {
		_, err := server.DecodeCall(decode(t, tc.frame), tc.h)
		refusal, ok := err.(*era.Refusal)
		if !ok || refusal.Row != tc.row || refusal.Err.Code != tc.code {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
	for name, tc := range map[string]struct {
		frame string
		h     headers
	}{
		"no header for a name that is no string": {modernCall("tools/call", `"name":1`), posted("", "tools/call", "")},
		"no header without a name":               {modernCall("tools/call", ""), posted("", "tools/call", "")},
		"encoded name":                           {modernCall("tools/call", `"name":"n\u00e4ive"`), posted("", "tools/call", "=?base64?bsOkaXZl?=")},
		"plain name in base64":                   {modernCall("tools/call", `"name":"a"`), posted("", "tools/call", "=?base64?YQ==?=")},
		"empty name":                             {modernCall("tools/call", `"name":""`), headers{"Mcp-Method": "tools/call", "Mcp-Name": ""}},
		"empty name in base64":                   {modernCall("tools/call", `"name":""`), posted("", "tools/call", "=?base64??=")},
		"blanks around the headers":              {modernCall("tools/call", `"name":"a"`), posted("", " tools/call\t", "\ta ")},
		"vendor":                                 {modernCall("example/echo", `"name":"a"`), posted("", "example/echo", "")},
	} {
		if _, err := server.DecodeCall(decode(t, tc.frame), tc.h); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
