package mcptest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/transport"
)

// Peer plays one side of a connection from a script: it expects frames and sends frames. A frame that does not come, or
// differs from what was expected, fails the test at once. A Peer is used by one goroutine.
type Peer struct {
	t    testing.TB
	conn transport.Conn
}

// patience bounds the wait for a frame. Inside a testing/synctest bubble it costs nothing.
const patience = 10 * time.Second

// NewPeer returns a peer and the end of the connection that goes to the code under test. Both are closed with the test.
func NewPeer(t testing.TB) (*Peer, transport.Conn) {
	t.Helper()
	own, theirs := transport.Pair(0)
	t.Cleanup(func() {
		if err := own.Close(); err != nil {
			t.Errorf("close the scripted peer: %v", err)
		}
	})
	return &Peer{t, own}, theirs
}

// Next returns the next frame, decoded.
func (p *Peer) Next() *jsonrpc.Message {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	frame, err := p.conn.Read(ctx)
	if err != nil {
		p.t.Fatalf("no frame came: %v", err)
	}
	m, err := jsonrpc.Decode(frame, nil)
	if err != nil {
		p.t.Fatalf("a frame came that is no message: %v: %s", err, frame)
	}
	return m
}

// Expect reads the next frame and checks that it holds all that pattern holds: members of objects at any depth, with
// equal values; other members do not matter. The string "*" stands for any value.
func (p *Peer) Expect(pattern string) *jsonrpc.Message {
	p.t.Helper()
	m := p.Next()
	if why := mismatch(pattern, m.Frame()); why != "" {
		p.t.Fatalf("unexpected frame: %s\n  want %s\n  got  %s", why, pattern, m.Frame())
	}
	return m
}

// ExpectEnd checks that the other side closes without another frame.
func (p *Peer) ExpectEnd() {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	frame, err := p.conn.Read(ctx)
	if err != io.EOF {
		p.t.Fatalf("want the end of the stream, got %s (%v)", frame, err)
	}
}

// Send sends a frame as it is, be it a message or not.
func (p *Peer) Send(frame string) {
	p.t.Helper()
	if err := p.conn.Write(context.Background(), []byte(frame)); err != nil {
		p.t.Fatalf("send %s: %v", frame, err)
	}
}

// Reply answers a request with a result, given as JSON.
func (p *Peer) Reply(request *jsonrpc.Message, result string) {
	p.t.Helper()
	p.Send(string((&jsonrpc.Message{ID: request.ID, Result: json.RawMessage(result)}).Append(nil)))
}

// Fail answers a request with an error.
func (p *Peer) Fail(request *jsonrpc.Message, code int64, message string) {
	p.t.Helper()
	p.Send(string(jsonrpc.AppendError(nil, request.ID, &jsonrpc.Error{Code: code, Message: message})))
}

// Close ends the connection from this side.
func (p *Peer) Close() {
	p.t.Helper()
	if err := p.conn.Close(); err != nil {
		p.t.Errorf("close the scripted peer: %v", err)
	}
}

// mismatch says where got lacks something of pattern; "" when it lacks nothing.
func mismatch(pattern string, got []byte) string {
	var want, have any
	if err := json.Unmarshal([]byte(pattern), &want); err != nil {
		return fmt.Sprintf("the pattern is no JSON: %v", err)
	}
	if err := json.Unmarshal(got, &have); err != nil {
		return err.Error()
	}
	return differ("", want, have)
}

func differ(path string, want, have any) string {
	switch want := want.(type) {
	case map[string]any:
		object, ok := have.(map[string]any)
		if !ok {
			return fmt.Sprintf("%s is no object", at(path))
		}
		for name, w := range want {
			h, ok := object[name]
			if !ok {
				return fmt.Sprintf("%s is missing", path+"/"+name)
			}
			if why := differ(path+"/"+name, w, h); why != "" {
				return why
			}
		}
		return ""
	case []any:
		list, ok := have.([]any)
		if !ok || len(list) != len(want) {
			return fmt.Sprintf("%s is no list of %d", at(path), len(want))
		}
		for i := range want {
			if why := differ(fmt.Sprintf("%s/%d", path, i), want[i], list[i]); why != "" {
				return why
			}
		}
		return ""
	}
	if want != have && want != "*" {
		return fmt.Sprintf("%s is %v, not %v", at(path), have, want)
	}
	return ""
}

func at(path string) string {
	if path == "" {
		return "the frame"
	}
	return path
}
