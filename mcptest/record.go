package mcptest

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rialto-mcp/rialto/transport"
)

// Transcript is what went over a connection: one line a frame, "C> " before those of the client and "S> " before those
// of the server, in the order in which the recorded end saw them. It is safe for concurrent use.
type Transcript struct {
	mu    sync.Mutex
	lines []string
}

func (t *Transcript) add(from string, frame []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, from+"> "+string(frame))
}

// String returns the lines, each with a line end.
func (t *Transcript) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out strings.Builder
	for _, line := range t.lines {
		out.WriteString(line + "\n")
	}
	return out.String()
}

// Golden compares the transcript with a file: a line of prose that begins with "# ", then the frames. With update it
// writes the file instead; a person then reads the difference.
func (t *Transcript) Golden(tb testing.TB, file, prose string, update bool) {
	tb.Helper()
	got := []byte("# " + prose + "\n" + t.String())
	if update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o644); err != nil {
			tb.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		tb.Errorf("the transcript differs from %s\ngot:\n%s\nwant:\n%s", file, got, want)
	}
}

// recorded is a Conn that keeps what passes.
type recorded struct {
	transport.Conn
	script *Transcript
}

// Record wraps the client's end of a connection. What it writes is the client's, what it reads the server's.
func Record(conn transport.Conn) (transport.Conn, *Transcript) {
	script := &Transcript{}
	return &recorded{conn, script}, script
}

func (r *recorded) Read(ctx context.Context) ([]byte, error) {
	frame, err := r.Conn.Read(ctx)
	if err == nil {
		r.script.add("S", frame)
	}
	return frame, err
}

func (r *recorded) Write(ctx context.Context, frame []byte) error {
	r.script.add("C", frame)
	return r.Conn.Write(ctx, frame)
}
