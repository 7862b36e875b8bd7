package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/transport"
)

// target is a server with a handler of every kind, those that fail included.
func target(t *testing.T) *server.Server {
	s := full(server.Options{PageSize: 1, Extensions: []mcp.Extension{{Identifier: "com.example/shelf", Requests: []string{"shelf/sort"}}}})
	server.AddTool(s, mcp.Tool{Name: "see"}, func(_ context.Context, _ *server.Request, in Everything) (*Everything, error) { return &in, nil })
	rawTool(t, s, "panic", func(context.Context, *server.Request) (*mcp.CallToolResult, error) { panic("on purpose") })
	rawTool(t, s, "ask", func(context.Context, *server.Request) (*mcp.CallToolResult, error) {
		return nil, mcp.NeedInput().ListRoots("a")
	})
	rawTool(t, s, "talk", func(ctx context.Context, r *server.Request) (*mcp.CallToolResult, error) {
		r.Progress(ctx, 1, 2, r.Name())
		r.Log(ctx, mcp.LevelError, "", string(r.Params()))
		_, _, _ = r.Trace()
		return mcp.TextResult(r.ClientInfo().Name), nil
	})
	s.AddResourceTemplate(mcp.ResourceTemplate{URITemplate: "book:{id}{?q*}", Name: "book"}, showing("book"))
	echo := func(_ context.Context, r *server.Request) (*server.RawResult, error) {
		params := r.Params()
		if params == nil {
			params = json.RawMessage(`null`)
		}
		return &server.RawResult{Result: append(append([]byte(`{"params":`), params...), '}')}, nil
	}
	s.Handle("example/echo", echo)
	s.Handle("shelf/sort", echo)
	return s
}

// hear collects what comes over a connection.
type hear struct {
	mu     sync.Mutex
	frames [][]byte
}

func (h *hear) run(conn transport.Conn) {
	for {
		frame, err := conn.Read(context.Background())
		if err != nil {
			return
		}
		h.mu.Lock()
		h.frames = append(h.frames, frame)
		h.mu.Unlock()
	}
}

// FuzzServer sends a server any lines. It lives, what it writes are messages, and every request whose id can be read is
// answered exactly once (at most once where something was cancelled).
func FuzzServer(f *testing.F) {
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"roots":{},"extensions":{"com.example/shelf":{}}}}`
	const ready = greeting + "\n" + `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
	for _, call := range []string{
		`"tools/list","params":{"cursor":"MTp4"`, `"tools/call","params":{"name":"see","arguments":{"days":1e0,"next":{"days":2}}`,
		`"tools/call","params":{"name":"panic"`, `"tools/call","params":{"name":"ask"`, `"tools/call","params":{"name":"ask","requestState":"x"`,
		`"tools/call","params":{"name":"talk"`, `"prompts/get","params":{"name":"letter","arguments":{"to":"a"}`, `"prompts/list","params":{"a":1`,
		`"resources/read","params":{"uri":"book:1?q=2"`, `"resources/templates/list","params":{"cursor":""`,
		`"completion/complete","params":{"ref":{"type":"ref/prompt","name":"letter"},"argument":{"name":"to","value":"a"}`,
		`"example/echo","params":{"a":[1.0]`, `"shelf/sort","params":{"a":1`, `"subscriptions/listen","params":{"notifications":{"toolsListChanged":true}`,
		`"server/discover","params":{"a":1`, `"resources/subscribe","params":{"uri":"a:1"`, `"logging/setLevel","params":{"level":"info"`,
	} {
		f.Add([]byte(`{"jsonrpc":"2.0","id":7,"method":` + call + `,` + meta + `}}`))
		f.Add([]byte(ready + `{"jsonrpc":"2.0","id":"7","method":` + call + `}}`))
		f.Add([]byte(ready + `{"jsonrpc":"2.0","id":7,"method":` + call + `,` + meta + `}}` + "\n" + `{"jsonrpc":"2.0","id":7,"method":"ping"}`))
	}
	f.Add([]byte(ready + `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`))
	f.Add([]byte(strings.ReplaceAll(ready, legacy, mcp.Version20250326) + `[{"jsonrpc":"2.0","id":8,"method":"ping"},{"jsonrpc":"2.0","id":8,"method":"no"}]`))
	f.Add([]byte("{\n[]\nnull\n{}\n" + `{"jsonrpc":"2.0","id":null,"method":"ping"}`))
	f.Fuzz(func(t *testing.T, lines []byte) {
		synctest.Test(t, func(t *testing.T) { checkLines(t, bytes.Split(lines, []byte("\n"))) })
	})
}

func checkLines(t *testing.T, lines [][]byte) {
	s := target(t)
	own, theirs := transport.Pair(0)
	served := make(chan error, 1)
	go func() { served <- s.Serve(context.Background(), theirs) }()
	var h hear
	go h.run(own)

	synctest.Wait() // until the server reads

	sent := map[jsonrpc.ID]int{}
	atMost := false
	for _, line := range lines {
		line = transport.AppendFrame(nil, line) // as it travels
		if err := own.Write(context.Background(), line); errors.Is(err, transport.ErrEmptyFrame) {
			continue
		} else if err != nil {
			t.Fatalf("the server has closed the connection: %v", err)
		}
		note(line, sent, &atMost)
		synctest.Wait()
	}
	if err := s.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	if err := own.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-served; err != nil {
		t.Fatalf("Serve: %v", err)
	}
	synctest.Wait()

	got := map[jsonrpc.ID]int{}
	for _, frame := range h.frames {
		count(t, frame, got)
	}
	for id, n := range sent {
		if got[id] > n || got[id] < n && !atMost {
			t.Errorf("%d requests with id %s got %d answers", n, id, got[id])
		}
	}
	for id := range got {
		if sent[id] == 0 && !id.IsZero() {
			t.Errorf("an answer for %s, which nobody sent", id)
		}
	}
}

// note counts the requests of a line by their ids.
func note(line []byte, sent map[jsonrpc.ID]int, atMost *bool) {
	frames := []json.RawMessage{line}
	if jsonrpc.IsBatch(line) {
		*atMost = true // an array may be refused as a whole
		frames, _ = jsonrpc.SplitBatch(line, jsonrpc.MaxBatch)
	}
	for _, frame := range frames {
		m, err := jsonrpc.Decode(frame, nil)
		var broken *jsonrpc.FrameError
		switch {
		case err == nil && m.Kind() == jsonrpc.KindRequest:
			sent[m.ID]++
		case errors.As(err, &broken) && !broken.ID.IsZero():
			sent[broken.ID]++
		case err == nil && m.Method == mcp.NotifyCancelled:
			*atMost = true
		}
	}
}

// count takes down the answers in a frame of the server.
func count(t *testing.T, frame []byte, got map[jsonrpc.ID]int) {
	t.Helper()
	frames := []json.RawMessage{frame}
	if jsonrpc.IsBatch(frame) {
		var err error
		if frames, err = jsonrpc.SplitBatch(frame, jsonrpc.MaxBatch); err != nil {
			t.Fatalf("the server wrote an array that cannot be read: %v: %s", err, frame)
		}
	}
	for _, one := range frames {
		m, err := jsonrpc.Decode(one, nil)
		if err != nil {
			t.Fatalf("the server wrote what is no message: %v: %s", err, one)
		}
		switch m.Kind() {
		case jsonrpc.KindResult, jsonrpc.KindError:
			got[m.ID]++
		case jsonrpc.KindRequest:
			t.Errorf("the server sent a request: %s", one)
		}
	}
}
