package client_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
	"github.com/rialto-mcp/rialto/transport/stdio"
)

// lines is a connection over the standard streams that reads on the goroutine that asks, so that they can be closed.
type lines struct{ *bufio.Scanner }

func (l lines) Read(context.Context) ([]byte, error) {
	if !l.Scan() {
		return nil, io.EOF
	}
	return bytes.Clone(l.Bytes()), nil
}

func (lines) Write(_ context.Context, frame []byte) error {
	_, err := fmt.Println(string(frame))
	return err
}

func (lines) Close() error { return nil }

// fading answers a call, closes some of its standard streams, and may exit a moment later.
func fading(exits bool, closes ...*os.File) func() {
	return func() {
		noteStart()
		playOn(lines{bufio.NewScanner(os.Stdin)}, with(modern(nil), script{"tools/call": func(p *peer, m *jsonrpc.Message) {
			if slices.Contains(closes, os.Stdin) {
				os.Stdin.Close() // first, or the next call might be written before
			}
			result(`{"content":[]}`)(p, m)
			if slices.Contains(closes, os.Stdout) {
				os.Stdout.Close()
			}
			if !exits {
				time.Sleep(time.Hour)
			}
			time.Sleep(100 * time.Millisecond) // the moment in which the next call comes
			fmt.Fprintln(os.Stderr, "licence expired")
			os.Exit(7)
		}}))
	}
}

// What a call is told that comes while a process is going, or has stopped to talk or to listen.
func TestCallToAChildThatGoes(t *testing.T) {
	noLeak(t)
	for _, tc := range []struct{ name, child, want string }{
		{"it has closed its output and exits a moment later", "fades", `exited with code 7; the last it wrote to stderr: licence expired`},
		{"it has closed its input and exits a moment later", "deafens", `exited with code 7; the last it wrote to stderr: licence expired`},
		{"it has closed both and exits a moment later", "leaves", `exited with code 7; the last it wrote to stderr: licence expired`},
		{"it has closed its output and lives on", "mute", "closed its standard output, and still runs"},
		{"it has closed its input and lives on", "deaf", "no longer reads its input"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			cmd, _ := command(t, tc.child)
			cmd.CloseWait, cmd.TermWait = 100*time.Millisecond, 100*time.Millisecond
			c, err := client.DialStdio(t.Context(), cmd, client.Options{Restart: never})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if _, err := c.CallTool(t.Context(), "x", nil); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				began := time.Now()
				_, err = c.CallTool(t.Context(), "x", nil)
				var exit *stdio.ExitError
				if err == nil || !strings.Contains(err.Error(), tc.want) || errors.As(err, &exit) != strings.Contains(tc.want, "exited") {
					t.Errorf("got %v", err)
				}
				if !errors.Is(err, mcp.CodeConnectionClosed) || time.Since(began) > 10*time.Second {
					t.Errorf("after %s: %v", time.Since(began), err)
				}
			}
		})
	}
}

// With a policy of restarts such a call reaches the successor.
func TestCallToAChildThatGoesAndComesBack(t *testing.T) {
	noLeak(t)
	cmd, starts := command(t, "fades")
	told := make(chan string, 10)
	c, err := client.DialStdio(t.Context(), cmd, client.Options{Restart: quick, OnError: func(err error) { told <- err.Error() }})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for starts() < 2 {
		_, err := c.CallTool(t.Context(), "x", nil)
		var exit *stdio.ExitError
		if err != nil && !errors.As(err, &exit) { // it was sent before the end could be seen
			t.Fatal(err)
		}
	}
	want := `server new: the connection was lost and is opened again: server process "` + cmd.Path + `" exited with code 7; the last it wrote to stderr: licence expired`
	if got := <-told; got != want {
		t.Errorf("told  %s\nwant %s", got, want)
	}
}

// stuck is a connection that takes nothing any more once there is a reason.
type stuck struct {
	transport.Conn
	why atomic.Pointer[error]
}

func (s *stuck) Write(ctx context.Context, frame []byte) error {
	if why := s.why.Load(); why != nil {
		return *why
	}
	return s.Conn.Write(ctx, frame)
}

// TestWriteFails: whatever a connection says when it takes no more, the call gets the code of a connection that has ended,
// and what the connection has said. A write may see the end of a process before the reader does.
func TestWriteFails(t *testing.T) {
	for _, why := range []error{errors.New("no route to host"), io.ErrClosedPipe, &stdio.ExitError{Command: "server", Code: 9}} {
		synctest.Test(t, func(t *testing.T) {
			conn, _ := play(modern(nil))
			s := &stuck{Conn: conn}
			c, err := client.Connect(t.Context(), s, client.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			s.why.Store(&why)
			_, err = c.CallTool(t.Context(), "x", nil)
			if !errors.Is(err, mcp.CodeConnectionClosed) || !errors.Is(err, why) || !strings.Contains(err.Error(), "could not be sent: "+why.Error()) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestCallThatCannotBeMade: a call that has no form in the revision says nothing about the connection, a process at its end
// or not.
//
// Seen to fail: over standard input and output the connection was said to have ended.
func TestCallThatCannotBeMade(t *testing.T) {
	noLeak(t)
	cmd, _ := command(t, "once")
	c, err := client.DialStdio(t.Context(), cmd, client.Options{Restart: never})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = c.CallTool(t.Context(), "x", nil, client.CallOptions{InputResponses: mcp.InputResponses{}})
	if err == nil || errors.Is(err, mcp.CodeConnectionClosed) || !strings.HasSuffix(err.Error(), "has no retry with answers") {
		t.Errorf("got %v", err)
	}
}
