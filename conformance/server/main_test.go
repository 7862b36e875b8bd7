package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/mcp"
)

// start runs the program on a free port and returns its URL. It is stopped, and must end well, when the test ends.
func start(t *testing.T) string {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	read, write := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, "127.0.0.1:0", write)
		write.Close()
	}()
	lines := bufio.NewScanner(read)
	if !lines.Scan() {
		stop()
		t.Fatal("nothing was printed:", <-ended)
	}
	first := lines.Text()
	logged := make(chan struct{})
	go func() { // ends when run does, awaited below
		defer close(logged)
		for lines.Scan() {
			t.Log(lines.Text())
		}
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error("run:", err)
		}
		<-logged
	})
	url, ok := strings.CutPrefix(first, "listening on ")
	if !ok {
		t.Fatalf("the first line is %q", first)
	}
	return url
}

func post(t *testing.T, url, body string, headers map[string]string) (*http.Response, map[string]json.RawMessage) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for name, value := range headers {
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	var answer map[string]json.RawMessage
	if err := json.Unmarshal(raw, &answer); err != nil {
		t.Fatalf("%s: the answer %q is no JSON object", res.Status, raw)
	}
	return res, answer
}

// TestBothEras asks the same address once in each era, and stops the program while a legacy session is open.
func TestBothEras(t *testing.T) {
	url := start(t)
	res, answer := post(t, url, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"`+mcp.LatestLegacy+
		`","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`, nil)
	if res.StatusCode != http.StatusOK || res.Header.Get("Mcp-Session-Id") == "" || answer["result"] == nil {
		t.Errorf("initialize: %s, session %q, %s", res.Status, res.Header.Get("Mcp-Session-Id"), answer)
	}
	res, answer = post(t, url, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"test_simple_text","_meta":{"`+
		mcp.MetaProtocolVersion+`":"`+mcp.LatestModern+`","`+mcp.MetaClientCapabilities+`":{}}}}`,
		map[string]string{"MCP-Protocol-Version": mcp.LatestModern, "Mcp-Method": "tools/call", "Mcp-Name": "test_simple_text"})
	if res.StatusCode != http.StatusOK || !strings.Contains(string(answer["result"]), `"resultType":"complete"`) {
		t.Errorf("tools/call: %s, %s", res.Status, answer)
	}
}

func TestAddressInUse(t *testing.T) {
	url := start(t)
	addr := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/mcp")
	if err := run(t.Context(), addr, io.Discard); err == nil || !strings.Contains(err.Error(), addr) {
		t.Errorf("a second server on %s: %v", addr, err)
	}
}
