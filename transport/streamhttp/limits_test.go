package streamhttp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/rialto-mcp/rialto/transport/internal/webtest"
)

// TestBodyLimits sends bodies that are too large or too slow, on raw connections: net/http's client would hide half of it.
func TestBodyLimits(t *testing.T) {
	w, impatient := newWorld(t, Options{}), newWorld(t, Options{BodyTimeout: 100 * time.Millisecond})
	head := func(more string) string {
		return "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" + more + "\r\n\r\n"
	}
	chunk := fmt.Sprintf("%x\r\n%s\r\n", 1<<20, strings.Repeat(" ", 1<<20))
	cases := []struct {
		name, bytes string
		status      int
	}{
		{"declared too large", head("Content-Length: 10737418240"), 413},
		{"chunked without end", head("Transfer-Encoding: chunked") + strings.Repeat(chunk, 11), 413},
		{"one byte too many", head(fmt.Sprint("Content-Length: ", 10<<20+1)) + "x", 413},
		{"deep", head("Content-Length: 100000") + strings.Repeat("[", 100_000), 400},
		{"gzip", head("Content-Encoding: gzip\r\nContent-Length: 3") + "abc", 415},
		{"never comes", head("Content-Length: 5") + "{", 408},
		{"chunked, never ends", head("Transfer-Encoding: chunked") + "1\r\n{\r\n", 408},
		{"broken chunk", head("Transfer-Encoding: chunked") + "zz\r\n", 400},
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			server := w
			if c.status == 408 {
				server = impatient
			}
			if resp := webtest.Ask(t, server.addr, c.bytes); resp.StatusCode != c.status {
				t.Errorf("got %d, want %d", resp.StatusCode, c.status)
			}
		})
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 16<<20 {
		t.Errorf("%d bytes more are in use", grown)
	}
	if w.handler.Sessions() != 0 {
		t.Error("a session was made")
	}
}

// TestRefusedBodies: a request that is refused unread is answered, and its connection ends, though its body never comes.
func TestRefusedBodies(t *testing.T) {
	w := newWorld(t, Options{BodyTimeout: 50 * time.Millisecond})
	const json, host = "Content-Type: application/json\r\n", "Host: 127.0.0.1\r\n"
	for name, c := range map[string]struct {
		head   string
		status int
	}{
		"media type":    {"POST /mcp HTTP/1.1\r\n" + host + "Content-Type: text/plain\r\n", 415},
		"accept":        {"POST /mcp HTTP/1.1\r\n" + host + json + "Accept: image/png\r\n", 406},
		"host":          {"POST /mcp HTTP/1.1\r\nHost: evil.example\r\n" + json, 403},
		"method":        {"PUT /mcp HTTP/1.1\r\n" + host, 405},
		"no session":    {"GET /mcp HTTP/1.1\r\n" + host, 400},
		"delete":        {"DELETE /mcp HTTP/1.1\r\n" + host, 400},
		"late, however": {"POST /mcp HTTP/1.1\r\n" + host + json, 408},
	} {
		t.Run(name, func(t *testing.T) {
			resp := webtest.Ask(t, w.addr, c.head+"Content-Length: 5000\r\n\r\nx")
			if resp.StatusCode != c.status {
				t.Errorf("got %d, want %d", resp.StatusCode, c.status)
			}
			if _, err := io.Copy(io.Discard, resp.Body); err != nil {
				t.Errorf("the answer: %v", err)
			}
			if !resp.Close {
				t.Error("the connection is said to go on")
			}
		})
	}
}

// TestBodyTimeoutIsOver: the time for the body does not bound the call.
func TestBodyTimeoutIsOver(t *testing.T) {
	w := newWorld(t, Options{BodyTimeout: 20 * time.Millisecond})
	ctx, cancel := context.WithCancel(t.Context())
	body, headers := modern("tools/call", "wait", "")
	go func() {
		<-w.desk.waiting
		select {
		case <-w.desk.ended:
			t.Error("the call was cut off")
		case <-time.After(100 * time.Millisecond):
		}
		cancel()
	}()
	req, err := http.NewRequestWithContext(ctx, "POST", w.url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	setHeaders(req, headers)
	if resp, err := http.DefaultClient.Do(req); err == nil {
		resp.Body.Close()
		t.Error("there was an answer")
	}
}

func TestReadFrame(t *testing.T) {
	long := bytes.Repeat([]byte("0123456789"), 30_000)
	for _, size := range []int{0, 1, 4095, 4096, 4097, step, step + 1, len(long)} {
		for _, declared := range []int64{-1, int64(size)} {
			for name, src := range map[string]io.Reader{
				"whole": bytes.NewReader(long[:size]), "halves": iotest.HalfReader(bytes.NewReader(long[:size])),
				"with error": iotest.DataErrReader(bytes.NewReader(long[:size])),
			} {
				frame, err := readFrame(src, declared, int64(len(long)))
				if err != nil || !bytes.Equal(frame, long[:size]) {
					t.Errorf("%d of %d, %s: got %d, %v", size, declared, name, len(frame), err)
				}
			}
		}
	}
	if _, err := readFrame(bytes.NewReader(long[:11]), -1, 10); !errors.Is(err, errTooLarge) {
		t.Errorf("over the limit: %v", err)
	}
	if frame, err := readFrame(bytes.NewReader(long), -1, -1); err != nil || len(frame) != len(long) {
		t.Errorf("without limit: %d, %v", len(frame), err)
	}
	if _, err := readFrame(bytes.NewReader(long[:5]), 10, 100); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("too short: %v", err)
	}
	frame, err := readFrame(bytes.NewReader(long[:100]), 1<<40, -1)
	if !errors.Is(err, io.ErrUnexpectedEOF) || cap(frame) > step {
		t.Errorf("a claim of a terabyte: %d, %v", cap(frame), err)
	}
}
