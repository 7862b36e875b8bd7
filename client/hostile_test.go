package client_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

const fine = `{"jsonrpc":"2.0","id":{id},"result":{"content":[{"type":"text","text":"fine"}]}}`

// What a server on a pipe may write in place of one plain answer. A call whose answer cannot be read fails at once; whatever
// else comes is reported and harms no call.
func TestOddAnswersOnAPipe(t *testing.T) {
	for _, tc := range []struct {
		name   string
		frames []string
		fails  string // in the error of the call, "" for none
		code   mcp.Code
		told   string // in what is reported, "" for nothing
	}{
		{"plain", []string{fine}, "", 0, ""},
		{"broken", []string{`{"jsonrpc":"2.0","id":{id},"result":{"content":[}}`}, "the answer is no JSON-RPC message", mcp.CodeInvalidResult, "no message"},
		{"broken, the id last", []string{`{"jsonrpc":"2.0","result":{"content":[}},"id":{id}}`}, "the answer is no JSON-RPC message", mcp.CodeInvalidResult, "no message"},
		{"result and error", []string{strings.Replace(fine, `"result"`, `"error":{"code":1,"message":"x"},"result"`, 1)}, "a result or an error, not both", mcp.CodeInvalidResult, "not both"},
		{"no version", []string{strings.Replace(fine, `"jsonrpc":"2.0",`, "", 1)}, `"jsonrpc" must be "2.0"`, mcp.CodeInvalidResult, "must be"},
		{"no object", []string{`{"jsonrpc":"2.0","id":{id},"result":7}`}, "", mcp.CodeInvalidResult, ""},
		{"twice", []string{fine, fine, fine}, "", 0, "no call waits for"},
		{"for a request that was never sent", []string{`{"jsonrpc":"2.0","id":4711,"result":{}}`, `{"jsonrpc":"2.0","id":"x","error":{"code":1,"message":"x"}}`, fine}, "", 0, "id 4711"},
		{"the id as text", []string{strings.Replace(fine, `{id}`, `"{id}"`, 1), fine}, "", 0, "no call waits for"},
		{"an error about nothing", []string{`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}}`, fine}, "", 0, "without naming a request: what?"},
		{"noise", []string{"hello", "[]", "7", `{"jsonrpc":"2.0"}`, fine}, "", 0, "no message"},
		{"progress of a call that has ended", []string{fine, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":{id},"progress":1}}`}, "", 0, "unknown token"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			eras(t, script{"tools/call": says(tc.frames...)}, func(t *testing.T, era string, conn transport.Conn, p *peer) {
				var told []string
				c := connect(t, conn, client.Options{OnError: func(err error) { told = append(told, err.Error()) }})
				began := time.Now()
				_, err := c.CallTool(t.Context(), "x", nil)
				synctest.Wait()
				if took := time.Since(began); took > 0 {
					t.Errorf("it took %s", took)
				}
				failed := tc.fails != "" || tc.code != 0
				if failed != (err != nil) || err != nil && (!strings.Contains(err.Error(), tc.fails) || mcp.CodeOf(err) != tc.code) {
					t.Errorf("got %v, want %q", err, tc.fails)
				}
				if all := strings.Join(told, "\n"); !strings.Contains(all, tc.told) || (tc.told == "") != (all == "") {
					t.Errorf("reported %q, want %q", all, tc.told)
				}
			})
		})
	}
}
