package manager_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/transport"
)

// childVariable makes the test program a server on standard input and output; its value is a file that it writes its process
// id to.
const childVariable = "RIALTO_TEST_CHILD"

func TestMain(m *testing.M) {
	file := os.Getenv(childVariable)
	if file == "" {
		os.Exit(m.Run())
	}
	if err := serveChild(file); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serveChild(file string) error {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, os.Getpid())
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	s := server.New(mcp.Implementation{Name: "child", Version: "1"}, server.Options{})
	server.AddTool(s, mcp.Tool{Name: "wait"}, func(ctx context.Context, _ *server.Request, _ noInput) (string, error) {
		select {
		case <-time.After(30 * time.Millisecond):
			return "waited", nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	})
	return s.RunStdio(context.Background())
}

// TestC041ChildrenAreBounded has many callers at once, half of which give up in the middle: there is one child, and none
// afterwards.
func TestC041ChildrenAreBounded(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "pids")
	m, err := manager.Open([]manager.Server{
		{Name: "child", Transport: manager.Stdio, Command: self, Env: map[string]string{childVariable: file}},
	}, manager.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	var callers sync.WaitGroup
	for caller := range 10 { // before anybody has waited for the connection
		callers.Go(func() {
			for range 20 {
				ctx, cancel := context.WithCancel(t.Context())
				if caller%2 == 0 {
					time.AfterFunc(10*time.Millisecond, cancel)
				}
				_, err := m.Call(ctx, name("child", "wait"), nil)
				if err != nil && !errors.Is(err, context.Canceled) {
					t.Errorf("a call: %v", err)
				}
				cancel()
			}
		})
	}
	callers.Wait()
	m.Close()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pids := strings.Fields(string(raw))
	if len(pids) != 1 {
		t.Fatalf("%d children for 200 calls", len(pids))
	}
	var pid int
	if _, err := fmt.Sscan(pids[0], &pid); err != nil {
		t.Fatal(err)
	}
	if child, err := os.FindProcess(pid); err == nil { // where processes are looked up, one that has ended is not found
		if err := child.Signal(syscall.Signal(0)); !errors.Is(err, os.ErrProcessDone) {
			t.Errorf("the child is still there: %v", err)
		}
	}
}

func TestC042ChildThatDiesAtOnce(t *testing.T) {
	m, err := manager.Open([]manager.Server{{
		Name: "boom", Transport: manager.Stdio, Command: "sh", Args: []string{"-c", `echo "boom with $TOKEN" >&2; exit 3`},
		Env: map[string]string{"TOKEN": "topsecret"},
	}}, manager.Options{Client: client.Options{ConnectTimeout: time.Hour, ProbeTimeout: time.Hour}}) // it is the exit that ends the wait
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	_, err = m.Call(t.Context(), name("boom", "x"), nil)
	var down *manager.DownError
	if !errors.As(err, &down) || !strings.Contains(err.Error(), "exit code 3") || !strings.Contains(err.Error(), "boom with ***") {
		t.Errorf("got %v", err)
	}
}

// scripted answers requests of a legacy client by method.
func scripted(t *testing.T, answer func(method string, params json.RawMessage) string) transport.Conn {
	near, far := transport.Pair(0)
	go func() { // ends with the connection
		for {
			frame, err := far.Read(context.Background())
			if err != nil {
				return
			}
			var request struct {
				ID     json.RawMessage
				Method string
				Params json.RawMessage
			}
			if err := json.Unmarshal(frame, &request); err != nil {
				t.Error(err)
				return
			}
			if request.ID == nil {
				continue
			}
			reply := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, request.ID, answer(request.Method, request.Params))
			if err := far.Write(context.Background(), []byte(reply)); err != nil {
				return
			}
		}
	}()
	return near
}

// TestC073CursorsThatGoInCircles holds that such a list is cut with a warning that names the server, and that what is valid
// of it stays.
func TestC073CursorsThatGoInCircles(t *testing.T) {
	for name, next := range map[string]func(cursor string) string{
		"the same": func(string) string { return "x" },
		"a circle": func(cursor string) string { return map[string]string{"": "A", "A": "B", "B": "A"}[cursor] },
		"endless":  func(cursor string) string { return cursor + "x" },
	} {
		t.Run(name, func(t *testing.T) {
			conn := scripted(t, func(method string, params json.RawMessage) string {
				switch method {
				case mcp.MethodInitialize:
					return `"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"odd","version":"1"}}`
				case mcp.MethodListTools:
					var p mcp.ListParams
					_ = json.Unmarshal(params, &p)
					cursor := ""
					if p.Cursor != nil {
						cursor = *p.Cursor
					}
					return fmt.Sprintf(`"result":{"tools":[{"name":"one","inputSchema":{"type":"object"}}],"nextCursor":%q}`, next(cursor))
				}
				return `"error":{"code":-32601,"message":"no such method"}`
			})
			log := lockedLog{more: make(chan struct{}, 1)}
			m, err := manager.Open(servers("circles"), manager.Options{
				Dial: func(ctx context.Context, _ manager.Server, o client.Options) (*client.Client, error) {
					return client.Connect(ctx, conn, o)
				},
				Client: client.Options{MaxPages: 20},
				Logger: slog.New(slog.NewTextHandler(&log, nil)),
			})
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			if got := toolNames(t, m); len(got) != 1 || got[0] != "circles/one" {
				t.Errorf("listed %q", got)
			}
			for !strings.Contains(log.text(), "server=circles") { // the name of the server is said in the end
				<-log.more
			}
		})
	}
}

// lockedLog keeps what is logged.
type lockedLog struct {
	mu   sync.Mutex
	b    strings.Builder
	more chan struct{} // with one place: something has been logged since; nil where nobody waits
}

func (l *lockedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case l.more <- struct{}{}:
	default:
	}
	return l.b.Write(p)
}

func (l *lockedLog) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
