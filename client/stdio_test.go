package client_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
	"github.com/rialto-mcp/rialto/transport/stdio"
)

// childVar makes the test binary play a server process.
const childVar = "CLIENT_TEST_CHILD"

func TestMain(m *testing.M) {
	name := os.Getenv(childVar)
	if name == "" {
		os.Exit(m.Run())
	}
	children[name]()
}

var children = map[string]func(){
	"modern": func() { child(modern(nil)) },
	"once":   once, "mortal": mortal, "short": short,
	"fades": fading(true, os.Stdout), "deafens": fading(true, os.Stdin), "leaves": fading(true, os.Stdin, os.Stdout),
	"mute": fading(false, os.Stdout), "deaf": fading(false, os.Stdin),
	"silent": func() {
		child(script{"server/discover": func(*peer, *jsonrpc.Message) {}, "initialize": initialized("2025-11-25")})
	},
	"dies": func() { // on anything but initialize, as some servers do
		child(script{
			"initialize": initialized("2025-11-25"),
			"server/discover": func(*peer, *jsonrpc.Message) {
				fmt.Fprintln(os.Stderr, "unexpected message")
				os.Exit(1)
			},
		})
	},
	"dies late": func() { // the same, but so slow to start that initialize has come as well
		probed := false
		open := initialized("2025-11-25")
		child(script{
			"server/discover": func(*peer, *jsonrpc.Message) { probed = true },
			"initialize": func(p *peer, m *jsonrpc.Message) {
				if probed {
					os.Exit(1)
				}
				open(p, m)
			},
		})
	},
	"large": func() { // answers with the id first, or last as many servers do
		child(with(modern(nil), script{"tools/call": func(p *peer, m *jsonrpc.Message) {
			content := `"result":{"content":[],"resultType":"complete","x":"` + strings.Repeat("x", 8000) + `"}`
			id := `"id":` + string(m.ID.Raw())
			if strings.Contains(string(m.Params), "last") {
				id, content = content, id
			}
			p.conn.Write(context.Background(), []byte(`{"jsonrpc":"2.0",`+id+`,`+content+`}`))
		}}))
	},
	"stubborn": func() {
		signal.Ignore(syscall.SIGTERM)
		time.Sleep(time.Hour)
	},
	"exits": func() {
		fmt.Fprintln(os.Stderr, "cannot find module 'x'")
		os.Exit(3)
	},
	"crashes": func() {
		child(with(modern(nil), script{"tools/call": func(*peer, *jsonrpc.Message) {
			fmt.Fprintln(os.Stderr, "out of memory")
			os.Exit(9)
		}}))
	},
}

// child plays a script over the process's own input and output, and notes its start and what it gets in a file.
func child(s script) {
	noteStart()
	noted := script{}
	for method, react := range s {
		noted[method] = func(p *peer, m *jsonrpc.Message) {
			note(method)
			react(p, m)
		}
	}
	playOn(stdio.Open(os.Stdin, os.Stdout, stdio.Options{}), noted)
}

func noteStart() { note("start") }

func note(what string) {
	if log, err := os.OpenFile(os.Getenv("STARTS"), os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600); err == nil {
		fmt.Fprintln(log, os.Getpid(), what)
		log.Close()
	}
}

// processes is what each process has got that a command has started; see command.
func processes(cmd client.Command) map[string][]string {
	seen := map[string][]string{}
	for _, env := range cmd.Env {
		if file, ok := strings.CutPrefix(env, "STARTS="); ok {
			data, _ := os.ReadFile(file) // no file, no start
			for line := range strings.Lines(string(data)) {
				pid, what, _ := strings.Cut(strings.TrimSpace(line), " ")
				seen[pid] = append(seen[pid], what)
			}
		}
	}
	return seen
}

// playOn plays a script over a connection until it ends.
func playOn(conn transport.Conn, s script) {
	p := &peer{conn: conn}
	for {
		frame, err := p.conn.Read(context.Background())
		if err != nil {
			return
		}
		m, err := jsonrpc.Decode(frame, nil)
		if err != nil {
			panic(err)
		}
		if react := s[m.Method]; react != nil {
			react(p, m)
		}
	}
}

func command(t *testing.T, name string) (cmd client.Command, starts func() int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "starts")
	cmd = client.Command{Path: self, Env: []string{childVar + "=" + name, "STARTS=" + file}}
	return cmd, func() int {
		data, _ := os.ReadFile(file) // no file, no start
		return strings.Count(string(data), "start")
	}
}

// Seen to fail: a server that ends on the probe could not be used where it was slower to start than the probe was waited for.
func TestStdioOpening(t *testing.T) {
	noLeak(t)
	for name, tc := range map[string]struct {
		want   string
		starts int
	}{
		"modern": {"2026-07-28", 1},
		"silent": {"2025-11-25", 1},
		"dies":   {"2025-11-25", 2},

		"dies late": {"2025-11-25", 2},
	} {
		t.Run(name, func(t *testing.T) {
			cmd, starts := command(t, name)
			c, err := client.DialStdio(t.Context(), cmd, client.Options{ProbeTimeout: 1500 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			if c.ProtocolVersion() != tc.want || starts() != tc.starts {
				t.Errorf("revision %s after %d starts", c.ProtocolVersion(), starts())
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			if tc.starts == 1 {
				return
			}
			verdict := c.Verdict() // kept, it saves the second start
			c, err = client.DialStdio(t.Context(), cmd, client.Options{Verdict: &verdict})
			if err != nil || starts() != 3 {
				t.Fatalf("%v after %d starts", err, starts())
			}
			c.Close()
		})
	}
}

// A call whose answer is over the limit fails at once, and the next ones go on.
//
// Seen to fail: it waited for its time limit.
func TestStdioLargeAnswer(t *testing.T) {
	noLeak(t)
	cmd, _ := command(t, "large")
	cmd.MaxFrameBytes = 4000
	c, err := client.DialStdio(t.Context(), cmd, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, id := range []string{"first", "last"} {
		began := time.Now()
		_, err := c.CallTool(t.Context(), id, nil, client.CallOptions{Timeout: time.Minute})
		if err == nil || !strings.Contains(err.Error(), "larger than 4000 bytes") || time.Since(began) > 30*time.Second {
			t.Errorf("id %s: after %s: %v", id, time.Since(began), err)
		}
	}
}

func TestStdioExit(t *testing.T) {
	noLeak(t)
	cmd, _ := command(t, "exits")
	patient := client.Options{ConnectTimeout: time.Hour, ProbeTimeout: time.Hour} // it is the exit that ends the wait
	_, err := client.DialStdio(t.Context(), cmd, patient)
	var exit *stdio.ExitError
	if !errors.As(err, &exit) || exit.Code != 3 || !strings.Contains(err.Error(), "cannot find module 'x'") {
		t.Errorf("got %v", err)
	}
	var missing *stdio.StartError
	if _, err := client.DialStdio(t.Context(), client.Command{Path: "no-such-program"}, client.Options{}); !errors.As(err, &missing) {
		t.Errorf("got %v", err)
	}
}

// A process that neither answers nor ends when asked costs little more than the deadline.
func TestStdioDeadline(t *testing.T) {
	noLeak(t)
	cmd, _ := command(t, "stubborn")
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := client.DialStdio(ctx, cmd, client.Options{})
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "server/discover") || time.Since(start) > 3*time.Second {
		t.Errorf("after %s: %v", time.Since(start), err)
	}
}

func TestStdioCrash(t *testing.T) {
	noLeak(t)
	cmd, _ := command(t, "crashes")
	c, err := client.DialStdio(t.Context(), cmd, client.Options{Restart: never})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = c.CallTool(t.Context(), "x", nil)
	var exit *stdio.ExitError
	if !errors.Is(err, mcp.CodeConnectionClosed) || !errors.As(err, &exit) || exit.Code != 9 || !strings.Contains(err.Error(), "out of memory") {
		t.Errorf("got %v", err)
	}
	<-c.Done()
	if !errors.As(c.Err(), &exit) {
		t.Errorf("ended for %v", c.Err())
	}
}

// never is for tests of what follows when nothing is opened again.
var never = client.Restart{Attempts: -1}
