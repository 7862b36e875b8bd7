package streamhttp

import (
	"encoding/json"
	"strings"
	"testing"
)

const older = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`

func TestBatch(t *testing.T) {
	w := newWorld(t, Options{MaxBatch: 4})
	session := [2]string{"Mcp-Session-Id", w.ask(t, "POST", older).header.Get("Mcp-Session-Id")}
	notice := `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	response := `{"jsonrpc":"2.0","id":99,"result":{}}`
	call := func(tool, id string) string { return strings.Replace(legacyCall(tool), `"id":3`, `"id":`+id, 1) }
	cases := []struct {
		name, body, accept string
		status, answers    int
		media              string
	}{
		{"two calls", "[" + call("echo", "1") + "," + call("echo", `"1"`) + "]", "*/*", 200, 2, typeJSON},
		{"one call", "[" + call("echo", "1") + "]", "*/*", 200, 1, typeJSON},
		{"call and notice", "[" + notice + "," + call("echo", "1") + "," + response + "]", "*/*", 200, 1, typeJSON},
		{"unknown method", "[" + strings.Replace(legacyList, "tools/list", "nope", 1) + "]", "*/*", 200, 1, typeJSON},
		{"only notices", "[" + notice + "," + response + "]", "*/*", 202, 0, ""},
		{"as events", "[" + call("echo", "1") + "]", typeEvents, 200, 1, typeEvents},
		{"too many", "[" + strings.Repeat(notice+",", 4) + notice + "]", "*/*", 400, 0, typeJSON},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			a := w.ask(t, "POST", c.body, session, [2]string{"Accept", c.accept})
			if a.status != c.status || a.header.Get("Content-Type") != c.media {
				t.Errorf("got %d %q %s", a.status, a.header, a.body)
			}
			var answers []json.RawMessage
			text := a.body
			if c.media == typeEvents {
				text = readEvents(strings.NewReader(text)).next()
			}
			if err := json.Unmarshal([]byte(text), &answers); len(answers) != c.answers || c.answers > 0 && err != nil {
				t.Errorf("got %s, %v", a.body, err)
			}
		})
	}
	if a := w.ask(t, "POST", "["+call("echo", "1")+"]"); a.status != 400 || a.code() != -32600 {
		t.Errorf("without session: %d %s", a.status, a.body)
	}
}

// TestBatchWithQuestion: what precedes the answers makes a stream, which ends with the array.
func TestBatchWithQuestion(t *testing.T) {
	w := newWorld(t, Options{})
	session := [2]string{"Mcp-Session-Id", w.ask(t, "POST", older).header.Get("Mcp-Session-Id")}
	resp := w.start(t.Context(), t, "POST", "["+legacyCall("ask")+","+legacyList+"]", session)
	defer resp.Body.Close()
	stream := readEvents(resp.Body)
	var question struct{ ID json.RawMessage }
	if err := json.Unmarshal([]byte(stream.next()), &question); err != nil {
		t.Fatal(err)
	}
	w.ask(t, "POST", `{"jsonrpc":"2.0","id":`+string(question.ID)+`,"result":{}}`, session)
	if got := stream.next(); !strings.HasPrefix(got, "[") || !strings.Contains(got, "asked: true") || !strings.Contains(got, `"tools"`) {
		t.Errorf("got %s", got)
	}
}

// TestCancelledBatch: an array none of whose requests is answered ends without content.
func TestCancelledBatch(t *testing.T) {
	w := newWorld(t, Options{})
	session := [2]string{"Mcp-Session-Id", w.ask(t, "POST", older).header.Get("Mcp-Session-Id")}
	done := make(chan *answer)
	go func() { done <- w.ask(t, "POST", "["+legacyCall("wait")+"]", session) }()
	<-w.desk.waiting
	w.ask(t, "POST", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`, session)
	if a := <-done; a.status != 202 || a.body != "" {
		t.Errorf("got %d %s", a.status, a.body)
	}
}

func TestSessionlessBatch(t *testing.T) {
	w := newWorld(t, Options{Sessionless: true})
	if a := w.ask(t, "POST", "["+legacyList+"]"); a.status != 200 || !strings.HasPrefix(a.body, "[") {
		t.Errorf("got %d %s", a.status, a.body)
	}
}
