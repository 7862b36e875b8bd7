package streamhttp

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/jsonrpc"
)

// FuzzPost: whatever is posted, the answer is one of the protocol's and no session stays behind unseen.
func FuzzPost(f *testing.F) {
	list, _ := modern("tools/list", "", "")
	for _, body := range []string{list, initialize, legacyList, "[" + legacyList + "]", "[]", "{", `{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","method":"notifications/initialized"}`} {
		f.Add(body, "2026-07-28", "tools/list", "application/json, text/event-stream")
		f.Add(body, "", "", "*/*")
	}
	f.Fuzz(func(t *testing.T, body, version, method, accept string) {
		w := newHandler(t, Options{Sessionless: true})
		defer w.handler.Close()
		r := httptest.NewRequest("POST", "/", strings.NewReader(body))
		for name, value := range map[string]string{"Content-Type": typeJSON, "Mcp-Protocol-Version": version, "Mcp-Method": method, "Accept": accept} {
			r.Header[name] = []string{value}
		}
		if strings.Contains(body, "subscriptions") { // stays open by design
			return
		}
		out := httptest.NewRecorder()
		w.handler.ServeHTTP(out, r)
		switch out.Code {
		case http.StatusOK, http.StatusAccepted, http.StatusBadRequest, http.StatusNotFound, http.StatusNotAcceptable:
		default:
			t.Fatalf("status %d", out.Code)
		}
		answer := out.Body.Bytes()
		if out.Header().Get("Content-Type") != typeJSON || jsonrpc.IsBatch(answer) {
			return
		}
		if !json.Valid(answer) || strings.Contains(string(answer), "\n") {
			t.Fatalf("status %d with %q", out.Code, answer)
		}
	})
}

// FuzzAccepted: what is named without q is taken, whatever stands beside it.
func FuzzAccepted(f *testing.F) {
	f.Add("image/png;q=0.5, */*;q=0")
	f.Add(",;q=,=;")
	f.Fuzz(func(t *testing.T, more string) {
		if got := accepted([]string{more, typeJSON, typeEvents}); got != either {
			t.Errorf("%q: %d", more, got)
		}
	})
}
