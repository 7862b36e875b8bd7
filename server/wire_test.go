package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/mcptest"
	"github.com/rialto-mcp/rialto/server"
)

// modern and legacy are the revisions most tests speak: the newest of each era.
const (
	modern = mcp.Version20260728
	legacy = mcp.Version20251125
)

var bothEras = []string{legacy, modern}

// wire is a client of one revision that talks in raw frames to a server over the in-memory pair.
type wire struct {
	*mcptest.Peer
	t        testing.TB
	revision string
	meta     string   // further members of _meta, each with a comma in front; modern only
	caps     string   // what the client can do
	notices  []string // frames that came before the last answer
	lastID   int
}

// dial connects a client without capabilities, on the legacy era with the handshake done.
func dial(t testing.TB, s *server.Server, revision string) *wire {
	t.Helper()
	return dialWith(t, s, revision, `{}`)
}

// connect returns a scripted peer of a server. The test fails when the connection does not end well.
func connect(t testing.TB, s *server.Server) *mcptest.Peer {
	t.Helper()
	ended := make(chan error, 1)
	t.Cleanup(func() { // after the peer has closed
		if err := <-ended; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	peer, conn := mcptest.NewPeer(t)
	go func() { ended <- s.Serve(context.Background(), conn) }()
	return peer
}

// dialWith is dial for a client with capabilities.
func dialWith(t testing.TB, s *server.Server, revision, capabilities string) *wire {
	t.Helper()
	w := &wire{Peer: connect(t, s), t: t, revision: revision, caps: capabilities}
	if mcp.IsLegacy(revision) {
		w.call("initialize", fmt.Sprintf(`"protocolVersion":%q,"capabilities":%s,"clientInfo":{"name":"tester","version":"1"}`, revision, capabilities))
		w.Send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	}
	return w
}

// start sends a request whose params have the members, and returns its id.
func (w *wire) start(method, members string) int {
	w.t.Helper()
	w.lastID++
	if mcp.IsModern(w.revision) {
		meta := fmt.Sprintf(`"_meta":{%q:%q,%q:%s%s}`, mcp.MetaProtocolVersion, w.revision, mcp.MetaClientCapabilities, w.caps, w.meta)
		if members != "" {
			members += ","
		}
		members += meta
	}
	w.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s}}`, w.lastID, method, members))
	return w.lastID
}

// call sends a request and returns the answer. Notifications that come first are kept in notices.
func (w *wire) call(method, members string) *jsonrpc.Message {
	w.t.Helper()
	id := w.start(method, members)
	w.notices = nil
	for {
		m := w.Next()
		if m.Method != "" {
			w.notices = append(w.notices, string(m.Frame()))
			continue
		}
		if m.ID != jsonrpc.IntID(int64(id)) {
			w.t.Fatalf("want the answer to %d, got %s", id, m.Frame())
		}
		return m
	}
}

// want calls and compares the answer with either the result or "error CODE data". What the modern era stamps on every
// result is left out.
func (w *wire) want(method, members, want string) {
	w.t.Helper()
	if got := plain(w.call(method, members)); got != want {
		w.t.Errorf("%s {%s}\n  want %s\n  got  %s", method, members, want, got)
	}
}

// plain is an answer in one line: a result without the stamps of the modern era, or code and data of an error.
func plain(m *jsonrpc.Message) string {
	if m.Error != nil {
		return strings.TrimSpace(fmt.Sprintf("error %d %s", m.Error.Code, m.Error.Data))
	}
	return string(jsonrpc.Without(m.Result, "resultType", "ttlMs", "cacheScope", "_meta"))
}

// member returns a member of a JSON object, at any depth.
func member(t testing.TB, raw json.RawMessage, path ...string) string {
	t.Helper()
	for _, name := range path {
		value, ok := jsonrpc.Member(raw, name)
		if !ok {
			return ""
		}
		raw = value
	}
	return string(raw)
}

// newServer is a server with a name.
func newServer(opts server.Options) *server.Server {
	return server.New(mcp.Implementation{Name: "test", Version: "1"}, opts)
}

// rawTool adds a tool that takes anything.
func rawTool(t testing.TB, s *server.Server, name string, h server.ToolHandler) {
	t.Helper()
	if err := s.AddRawTool(mcp.Tool{Name: name}, h); err != nil {
		t.Fatal(err)
	}
}
