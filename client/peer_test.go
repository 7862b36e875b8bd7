package client_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// script says how a scripted server reacts to each method. What it does not name is not answered.
type script map[string]func(p *peer, m *jsonrpc.Message)

// peer is a scripted server at the far end of a memory pair.
type peer struct {
	conn transport.Conn

	mu   sync.Mutex
	seen []*jsonrpc.Message
}

// play starts a scripted server and returns the client's end. It ends with the pair.
func play(s script) (transport.Conn, *peer) {
	near, far := transport.Pair(0)
	p := &peer{conn: far}
	go func() {
		for {
			frame, err := far.Read(context.Background())
			if err != nil {
				return
			}
			m, err := jsonrpc.Decode(frame, jsonrpc.NewLift(nil, nil))
			if err != nil {
				panic(err)
			}
			p.mu.Lock()
			p.seen = append(p.seen, m)
			p.mu.Unlock()
			if react := s[m.Method]; react != nil {
				react(p, m)
			}
		}
	}()
	return near, p
}

// write sends frames; {id} stands for the id of m, {token} for its progress token.
func (p *peer) write(m *jsonrpc.Message, frames ...string) {
	meta, _ := jsonrpc.Member(m.Params, "_meta")
	token, _ := jsonrpc.Member(meta, "progressToken")
	for _, frame := range frames {
		frame = strings.NewReplacer("{id}", m.ID.String(), "{token}", string(token)).Replace(frame)
		p.conn.Write(context.Background(), []byte(frame)) // fails only when the test has closed the pair
	}
}

// methods lists what has come so far.
func (p *peer) methods() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var names []string
	for _, m := range p.seen {
		name := m.Method
		if name == "" {
			name = m.Kind().String()
		}
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

// last returns the last message of a method.
func (p *peer) last(t *testing.T, method string) *jsonrpc.Message {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := len(p.seen) - 1; i >= 0; i-- {
		if p.seen[i].Method == method {
			return p.seen[i]
		}
	}
	t.Fatalf("no %s has come", method)
	return nil
}

// says makes a reaction that writes fixed frames.
func says(frames ...string) func(*peer, *jsonrpc.Message) {
	return func(p *peer, m *jsonrpc.Message) { p.write(m, frames...) }
}

// result makes a reaction that answers with a result.
func result(body string) func(*peer, *jsonrpc.Message) {
	return says(`{"jsonrpc":"2.0","id":{id},"result":` + body + `}`)
}

// fails makes a reaction that answers with an error.
func fails(code int, message, data string) func(*peer, *jsonrpc.Message) {
	if data != "" {
		data = `,"data":` + data
	}
	return says(fmt.Sprintf(`{"jsonrpc":"2.0","id":{id},"error":{"code":%d,"message":%q%s}}`, code, message, data))
}

const everything = `{"tools":{"listChanged":true},"prompts":{"listChanged":true},"resources":{"subscribe":true},"logging":{},"completions":{}}`

// modern is a script that opens as a server of the modern era, and goes on as rest says.
func modern(rest script) script {
	return with(script{
		"initialize": fails(-32601, "Method not found", ""), // which comes to a process that is slow to start
		"server/discover": result(`{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":` + everything +
			`,"instructions":"be kind","ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"new","version":"1"}}}`),
	}, rest)
}

// legacy is a script that opens as a server of 2025-11-25, and goes on as rest says.
func legacy(rest script) script {
	return with(script{
		"server/discover": fails(-32601, "Method not found", ""),
		"initialize":      initialized("2025-11-25"),
	}, rest)
}

func initialized(version string) func(*peer, *jsonrpc.Message) {
	return result(`{"protocolVersion":"` + version + `","capabilities":` + everything + `,"serverInfo":{"name":"old","version":"1"},"instructions":"be kind"}`)
}

func with(base, rest script) script {
	for method, react := range rest {
		base[method] = react
	}
	return base
}

// eras runs a test against a server of each era, in a bubble of its own.
func eras(t *testing.T, rest script, test func(t *testing.T, era string, conn transport.Conn, p *peer)) {
	for era, s := range map[string]func(script) script{"modern": modern, "legacy": legacy} {
		t.Run(era, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conn, p := play(s(rest))
				defer p.conn.Close()
				test(t, era, conn, p)
			})
		})
	}
}

// connect opens a client that is closed with the test.
func connect(t *testing.T, conn transport.Conn, opts client.Options) *client.Client {
	t.Helper()
	c, err := client.Connect(t.Context(), conn, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// noLeak fails a test that leaves more goroutines behind than there were.
func noLeak(t *testing.T) {
	t.Helper()
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		var now int
		for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
			if now = runtime.NumGoroutine(); now <= before { // net/http ends its own a moment later
				return
			}
		}
		buf := make([]byte, 1<<16)
		t.Errorf("%d goroutines before, %d after:\n%s", before, now, buf[:runtime.Stack(buf, true)])
	})
}

func text(r *mcp.CallToolResult) string {
	if r == nil {
		return ""
	}
	return r.Text()
}
