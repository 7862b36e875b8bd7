package interop

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
)

// TestGatewayHandling puts servers of the official TypeScript SDK behind the gateway, one of each era and a program, that get one
// call at a time, are asked every second whether they are well, and whose calls are written down: they answer what they are asked,
// take the trace context along, and every call has its line.
func TestGatewayHandling(t *testing.T) {
	t.Parallel() // it waits for seconds
	bin, folder := buildGateway(t), t.TempDir()
	audit := filepath.Join(folder, "audit.jsonl")
	own := map[string]any{
		"maxInFlight": 1, "queue": map[string]any{"max": 50}, "health": map[string]any{"every": "1s", "timeout": driveLimit.String(), "failures": 1},
	}
	file := saveSettings(t, map[string]any{
		"audit": map[string]any{"file": audit}, "prefix": "always", "servers": map[string]any{"child": own, "web": own, "memo": own},
	}, map[string]any{
		"child": commandEntry(Everything(t)), "web": map[string]any{"url": StartEverything(t)}, "memo": map[string]any{"url": StartMemo(t)},
	})
	url, told := startGateway(t, bin, file, 3)
	if strings.Contains(told, "failed") {
		t.Fatalf("not all servers are ready:\n%s", told)
	}
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	meta, err := mcp.NewMeta(mcp.MetaTraceParent, "00-"+trace+"-00f067aa0ba902b7-01")
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	var calls sync.WaitGroup
	for _, mode := range []client.Mode{client.Legacy, client.Modern} {
		c := dialed(t, Target{URL: url}, client.Options{Mode: mode})
		for i := range 5 {
			for _, server := range []string{"child", "web"} {
				calls.Go(func() {
					word := fmt.Sprintf("%s %d", server, i)
					out, err := c.CallTool(t.Context(), server+"__echo", map[string]any{"message": word}, client.CallOptions{Meta: meta})
					if err != nil || !strings.Contains(out.Text(), word) {
						t.Errorf("%s: %+v, %v", server, out, err)
					}
				})
			}
		}
	}
	calls.Wait()
	for healthy := 0; time.Since(begun) < 4*time.Second || healthy == 0; time.Sleep(100 * time.Millisecond) { // three times each is asked
		res, err := http.Get(strings.TrimSuffix(url, "/mcp") + "/healthz")
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		if closed := res.Body.Close(); err != nil || closed != nil {
			t.Fatal(err, closed)
		}
		if strings.Count(string(body), `"ready"`) != 3 {
			t.Fatalf("somebody is not well: %s", body)
		}
		healthy++
	}
	data, err := os.ReadFile(audit)
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for line := range strings.Lines(string(data)) {
		var l struct{ Outcome, Server, Name, Trace string }
		if err := json.Unmarshal([]byte(line), &l); err != nil || l.Outcome != "ok" || l.Name != "echo" || l.Trace != trace || l.Server == "" {
			t.Errorf("%s: %v", line, err)
		}
		lines++
	}
	if lines != 20 {
		t.Errorf("%d lines, want 20", lines)
	}
}
