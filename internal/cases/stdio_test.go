package cases

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
)

// TestC080LongLines: elsewhere a line of more than 64 KiB ended the connection, since the reader of lines had that limit.
// Here lines of any length up to the server's own limit pass in both directions, and one beyond it is refused alone.
//
// Seen to fail with 64 KiB as the limit of every line: the answer to 65 KiB was a refusal.
func TestC080LongLines(t *testing.T) {
	for _, bare := range []bool{false, true} {
		c := spawn(t, "wide")
		if bare {
			c.greet(t, "2025-11-25")
		}
		for i, size := range []int{63 << 10, 65 << 10, 5 << 20} {
			id := fmt.Sprint(i)
			text := strings.Repeat("x", size-4) + "\\né"
			c.send(t, callLine(id, "echo", `{"text":"`+text+`"}`, bare))
			line := c.next(t)
			if idOf(line) != id || len(line) < size || !strings.Contains(line, `"text":"xxx`) {
				t.Fatalf("%d bytes: an answer of %d bytes, %.200s", size, len(line), line)
			}
			c.silent(t)
		}
	}
	t.Run("over the limit", func(t *testing.T) {
		c := spawn(t, "small")
		began := time.Now()
		for _, size := range []int{frameLimit, 8 * frameLimit} { // beside them their frame makes them longer than may be
			c.send(t, callLine("1", "echo", `{"text":"`+strings.Repeat("x", size)+`"}`, false))
			wanted{code: -32600, text: fmt.Sprint(frameLimit)}.in(t, c.next(t))
			c.send(t, callLine("2", "echo", `{"text":"after it"}`, false))
			if line := c.next(t); idOf(line) != "2" || !strings.Contains(line, "after it") {
				t.Errorf("the line behind it: %s", line)
			}
		}
		if took := time.Since(began); took > patience/2 {
			t.Errorf("refusing took %s", took)
		}
	})
}

// TestC080LongLinesToClients is the same the other way: a client of ours takes long answers of a process.
func TestC080LongLinesToClients(t *testing.T) {
	for _, mode := range []client.Options{{Mode: client.Modern, CallTimeout: patience}, {Mode: client.Legacy, CallTimeout: patience}} {
		c, err := client.DialStdio(t.Context(), childCommand(t, "wide"), mode)
		if err != nil {
			t.Fatal(err)
		}
		for _, size := range []int{63 << 10, 65 << 10, 5 << 20} {
			out, err := c.CallTool(t.Context(), "large", map[string]any{"bytes": size})
			if err != nil {
				t.Fatalf("%d bytes: %v", size, err)
			}
			if text, ok := out.Content[0].(*mcp.TextContent); !ok || len(text.Text) != size {
				t.Errorf("%d bytes: another answer", size)
			}
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// childCommand starts the test binary as a server.
func childCommand(t *testing.T, role string) client.Command {
	t.Helper()
	return client.Command{Path: os.Args[0], Env: append(os.Environ(), childVar+"="+role), MaxFrameBytes: 80 << 20}
}

// TestC082WritesDoNotBlockReads: elsewhere one side that wrote much while the other did not read stopped both. Here the
// server goes on reading while its client takes nothing: a cancellation behind answers that fill the pipe arrives.
//
// Seen to fail when every request ran on the goroutine that reads and no other took over the reading: the cancellation was
// never seen.
func TestC082WritesDoNotBlockReads(t *testing.T) {
	c := spawnDeaf(t, "library")
	c.send(t, callLine(`"waits"`, "wait", "{}", false))
	c.hears(t, "waiting", 1)
	const calls, size = 10, 1 << 20
	for i := range calls {
		c.send(t, callLine(fmt.Sprint(i), "large", fmt.Sprintf(`{"bytes":%d}`, size), false))
	}
	c.send(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"waits"}}`)
	c.hears(t, "ended", 1)
	c.listen()
	seen := map[string]bool{}
	for range calls {
		line := c.next(t)
		if len(line) < size {
			t.Errorf("an answer of %d bytes: %.100s", len(line), line)
		}
		seen[idOf(line)] = true
	}
	if len(seen) != calls || seen[`"waits"`] {
		t.Errorf("answered: %v", seen)
	}
	c.silent(t)
}

// TestC082SlowInput: a client that writes its requests byte by byte is answered all the same, and other requests are not
// looked for in halves of lines.
func TestC082SlowInput(t *testing.T) {
	c := spawn(t, "library")
	line := callLine("1", "echo", `{"text":"é\n"}`, false) + "\n" + callLine("2", "echo", `{"text":"b"}`, false) + "\n"
	for i := range len(line) {
		if _, err := c.in.Write([]byte{line[i]}); err != nil {
			t.Fatal(err)
		}
	}
	if first, second := c.next(t), c.next(t); !strings.Contains(first+second, `"text":"é\n"`) || !strings.Contains(first+second, `"text":"b"`) {
		t.Errorf("got %s and %s", first, second)
	}
}

// TestC040ServerEndsWithItsInput is the server's half: elsewhere the server lived on when only its wrapper was killed. Here
// the end of the input alone ends it, with calls that wait for ever and with a handshake half done.
func TestC040ServerEndsWithItsInput(t *testing.T) {
	for name, lines := range map[string][]string{
		"nothing said":            nil,
		"half a handshake":        {initialize("2025-11-25").body},
		"half a line":             {},
		"a listen, of the modern": {modernAsk("subscriptions/listen", "", `"notifications":{"toolsListChanged":true},`).body},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := spawn(t, "library")
			for _, line := range lines {
				c.send(t, line)
				c.next(t)
			}
			if name == "half a line" {
				if _, err := io.WriteString(c.in, `{"jsonrpc":`); err != nil {
					t.Fatal(err)
				}
			}
			if err := c.in.Close(); err != nil {
				t.Fatal(err)
			}
			c.leaves(t, patience)
		})
	}
	t.Run("a call that does not end", func(t *testing.T) {
		t.Parallel()
		c := spawn(t, "library")
		c.send(t, callLine("1", "wait", "{}", false))
		c.hears(t, "waiting", 1)
		if err := c.in.Close(); err != nil {
			t.Fatal(err)
		}
		c.leaves(t, patience)
		c.hears(t, "ended", 1) // what it has said may be read after its end
	})
}

// TestC003ProbesOfAServer is the server's half: whatever a client begins with, it can go on in the era it likes in the same
// process, which has not been spoilt by the probe.
func TestC003ProbesOfAServer(t *testing.T) {
	discover := claims("2026-07-28", "server/discover").body
	for name, probe := range map[string]string{
		"modern":                     discover,
		"of a version of tomorrow":   strings.ReplaceAll(discover, "2026-07-28", "2027-01-01"),
		"of a method of tomorrow":    claims("2026-07-28", "server/tomorrow").body,
		"without its capabilities":   ask{body: discover}.withMeta(version, "", "").body,
		"without anything":           `{"jsonrpc":"2.0","id":7,"method":"server/discover"}`,
		"that is broken":             `{"jsonrpc":"2.0","id":7,`,
		"that is a ping":             `{"jsonrpc":"2.0","id":7,"method":"ping"}`,
		"that is a bare request too": unclaimed,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := spawn(t, "library")
			c.send(t, probe)
			c.next(t)
			c.greet(t, "2025-11-25")
			c.send(t, unclaimed)
			if line := c.next(t); !strings.Contains(line, `"tools":[`) || strings.Contains(line, "resultType") {
				t.Errorf("legacy after the probe: %s", line)
			}
			c.send(t, claims("2026-07-28", "tools/list").body)
			if line := c.next(t); !strings.Contains(line, `"resultType":"complete"`) {
				t.Errorf("modern after the handshake: %s", line)
			}
		})
	}
}

// TestC004ModernServersShowThemselves is the server's half: what a client may conclude from a refusal that the server is
// modern has the code and the data that say so, on a pipe too.
func TestC004ModernServersShowThemselves(t *testing.T) {
	c := spawn(t, "modern")
	c.send(t, claims("2026-07-28", "server/discover").body)
	line := c.next(t)
	var m struct {
		Result struct{ SupportedVersions []string }
	}
	if err := json.Unmarshal([]byte(line), &m); err != nil || len(m.Result.SupportedVersions) != 1 || m.Result.SupportedVersions[0] != "2026-07-28" {
		t.Errorf("discover: %s", line)
	}
	c.send(t, claims("2027-01-01", "server/discover").body)
	wanted{code: -32022, id: "7", data: unservedData("2027-01-01")}.in(t, c.next(t))
	c.send(t, ask{body: initialize("2025-11-25").body}.withSeven().body)
	wanted{code: -32022, id: "7", data: unservedData("2025-11-25"), text: "2026-07-28"}.in(t, c.next(t))
}

// TestC041NoProcessOutlivesItsClient is the server's half: forty servers whose clients drop them in the middle of an
// answer are gone by themselves.
func TestC041NoProcessOutlivesItsClient(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	const rounds, together = 2, 20
	for range rounds {
		var all []*child
		for range together {
			c := spawnDeaf(t, "library")
			c.send(t, callLine("1", "large", `{"bytes":1000000}`, false))
			all = append(all, c)
		}
		for _, c := range all {
			c.in.Close()
			c.out.Close()
		}
		for _, c := range all {
			c.leaves(t, patience)
		}
	}
}
