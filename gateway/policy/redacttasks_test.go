package policy

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/mcp"
)

// TestMaskedTasks holds which texts of the state of a task are masked, and what goes on of a state that is refused.
func TestMaskedTasks(t *testing.T) {
	for _, tc := range []struct{ name, in, masked, refused string }{
		{"words", `{"taskId":"SECRET","statusMessage":"SECRET","status":"working","createdAt":"SECRET" ,"ttlMs":null,"pollIntervalMs":5.0}`,
			`{"taskId":"SECRET","statusMessage":"[redacted own]","status":"working","createdAt":"SECRET" ,"ttlMs":null,"pollIntervalMs":5.0}`,
			`{"taskId":"SECRET","status":"working","createdAt":"SECRET" ,"ttlMs":null,"pollIntervalMs":5.0}`},
		{"what a server adds", `{"taskId":"a","detail":"SECRET","progress":{"x":"SECRET","status":"SECRET"},"n":1}`,
			`{"taskId":"a","detail":"[redacted own]","progress":{"x":"[redacted own]","status":"[redacted own]"},"n":1}`, `{"taskId":"a"}`},
		{"what is of another type", `{"taskId":"a","status":{"x":"SECRET"},"ttlMs":"SECRET","inputRequests":["SECRET"]}`,
			`{"taskId":"a","status":{"x":"[redacted own]"},"ttlMs":"[redacted own]","inputRequests":["[redacted own]"]}`, `{"taskId":"a"}`},
		{"metadata", `{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"SECRET"},"example.com/x":{"status":"SECRET"}}}`,
			`{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"SECRET"},"example.com/x":{"status":"[redacted own]"}}}`, `{}`},
		{"what others look at", `{"result":{"x":"SECRET"},"error":{"code":-7,"message":"SECRET","data":"SECRET"},"inputRequests":{"q":{"note":"SECRET"}},"x":"SECRET"}`,
			`{"result":{"x":"SECRET"},"error":{"code":-7,"message":"SECRET","data":"SECRET"},"inputRequests":{"q":{"note":"SECRET"}},"x":"[redacted own]"}`,
			`{"result":{"x":"SECRET"},"error":{"code":-7,"message":"SECRET","data":"SECRET"},"inputRequests":{"q":{"note":"SECRET"}}}`},
		{"an error with more", `{"status":"failed","error":{"code":7,"message":"x","note":"SECRET"}}`, `{"status":"failed","error":{"code":7,"message":"x","note":"[redacted own]"}}`, `{"status":"failed"}`},
		{"an error that demands pages", fmt.Sprintf(`{"error":{"code":%d,"message":"SECRET","data":{"x":"SECRET"}}}`, mcp.CodeURLElicitationRequired),
			fmt.Sprintf(`{"error":{"code":%d,"message":"[redacted own]","data":{"x":"[redacted own]"}}}`, mcp.CodeURLElicitationRequired), `{}`},
		{"an error whose code is none", `{"error":{"code":1.5,"message":"SECRET"}}`, `{"error":{"code":1.5,"message":"[redacted own]"}}`, `{}`},
		{"an error that is none", `{"status":"failed","error":"SECRET"}`, `{"status":"failed","error":"[redacted own]"}`, `{"status":"failed"}`},
	} {
		for _, do := range []RedactDo{Mask, Withhold} {
			m, _ := inMidst(t, Redaction{Name: "own", Pattern: "SECRET", Do: do})
			got, err := m.result(mcp.MethodGetTask, &upstream.Answer{Result: json.RawMessage(tc.in)})
			if want := map[RedactDo]string{Mask: tc.masked, Withhold: tc.refused}[do]; err != nil || string(got.Result) != want {
				t.Errorf("%s with %s: %v\n got %s\nwant %s", tc.name, do, err, got.Result, want)
			}
		}
	}
}
