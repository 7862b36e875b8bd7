package cases

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/server"
)

// Bodies were read into memory before anything was checked.
//
// Seen to fail: with the limit taken out of readFrame the body without end got no answer ("no response: i/o timeout").
func TestC051Bodies(t *testing.T) {
	w := start(t, server.Options{})
	heap := heapAfter(t, func() {
		w.do(t, ask{head: []string{"Content-Length: 10737418240"}, body: "{"}).is(t, 413, -32600, "MaxBodyBytes")
		w.do(t, ask{head: []string{"Content-Length: 10737418240", "Expect: 100-continue"}}).is(t, 413, -32600, "") // not asked to go on
		c := w.dial(t)
		c.write(t, w.text(ask{head: []string{"Transfer-Encoding: chunked", "Content-Length"}}))
		go endless(c.conn) // ends when the server closes the connection
		if got := c.answer(t); got.status != 413 {
			t.Errorf("a body without end: %s", got)
		}
	})
	if heap > 64<<20 {
		t.Errorf("%d MiB were allocated for bodies that are refused", heap>>20)
	}
	call := modern("tools/call", "echo", `"arguments":{"deep":ARGS},`)
	of := func(args string) ask {
		a := call
		a.body = strings.Replace(a.body, "ARGS", args, 1)
		return a
	}
	text := func(size int) string { return `"` + strings.Repeat("x", size-len(of(`""`).body)) + `"` }
	nested := strings.Repeat("[", 100_000)
	for _, c := range []struct {
		name   string
		ask    ask
		status int
		code   int64
		part   string
	}{
		{"10 MiB", of(text(10 << 20)), 200, 0, "hello"},
		{"10 MiB and 1", of(text(10<<20 + 1)), 413, -32600, "10485760"},
		{"deep in the arguments", of(nested + strings.Repeat("]", 100_000)), 400, -32700, "deep"},
		{"deep and never closed", ask{body: nested}, 400, -32700, "deep"},
		{"deep in the parameters", ask{body: `{"jsonrpc":"2.0","id":1,"method":"initialize","params":` + strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_001)}, 400, -32700, "deep"},
		{"compressed", ask{head: []string{"Content-Encoding: gzip"}, body: bomb(t)}, 415, -32600, "Content-Encoding"},
		{"compressed by a name unheard of", ask{head: []string{"Content-Encoding: br, gzip"}, body: "x"}, 415, -32600, "Content-Encoding"},
		{"no coding", modern("tools/call", "echo", "", "Content-Encoding: identity"), 200, 0, "hello"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.do(t, c.ask).is(t, c.status, c.code, c.part)
		})
	}
	t.Run("many keys", func(t *testing.T) {
		var b strings.Builder
		for key := range 250_000 { // comparing each with each would take far longer than do waits
			fmt.Fprintf(&b, `,"%x":1`, key)
		}
		w.do(t, of("{"+b.String()[1:]+"}")).is(t, 200, 0, "hello")
	})
}

// A body that comes a byte at a time held its request for ever, and so did one that was refused unread.
func TestC051SlowBodies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := startInBubble(t, server.Options{HTTP: server.HTTPOptions{BodyTimeout: 100 * time.Millisecond}})
		for what, head := range map[string][]string{
			"taken":        {"Content-Length: 1000"},
			"refused":      {"Content-Length: 1000", "Accept: image/png"},
			"another type": {"Content-Length: 1000", "Content-Type: text/plain"},
		} {
			c := w.dial(t)
			c.write(t, w.text(ask{head: head, body: "{"}))
			over := make(chan struct{})
			go func() { // ends when the server closes the connection
				defer close(over)
				for {
					if _, err := io.WriteString(c.conn, " "); err != nil {
						return
					}
					time.Sleep(10 * time.Millisecond)
				}
			}()
			resp := c.head(t)
			if want := map[string]int{"taken": 408, "refused": 406, "another type": 415}[what]; resp.StatusCode != want {
				t.Errorf("%s: %d", what, resp.StatusCode)
			}
			began := time.Now()
			eventually(t, "the server lets the connection go", func() bool { return w.sockets.Load() == 0 })
			if took := time.Since(began); took > time.Second {
				t.Errorf("%s: the connection was held for %s more", what, took)
			}
			<-over
		}
	})
}

// Each limit can be set.
func TestC051LimitsCanBeSet(t *testing.T) {
	w := start(t, server.Options{HTTP: server.HTTPOptions{MaxBodyBytes: 1000}})
	small := modern("tools/call", "echo", "")
	w.do(t, small).is(t, 200, 0, "hello")
	small.body += strings.Repeat(" ", 1001-len(small.body))
	w.do(t, small).is(t, 413, -32600, "1000 bytes")
}

// endless sends chunks until it cannot.
func endless(conn net.Conn) {
	chunk := fmt.Sprintf("%x\r\n%s\r\n", 64<<10, strings.Repeat(" ", 64<<10))
	for {
		if _, err := io.WriteString(conn, chunk); err != nil {
			return
		}
	}
}

// bomb is a small body that would be a large one.
func bomb(t testing.TB) string {
	t.Helper()
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	if _, err := zip.Write(bytes.Repeat([]byte(" "), 32<<20)); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// heapAfter tells how many bytes were allocated meanwhile, the test's own included.
func heapAfter(t testing.TB, do func()) uint64 {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
