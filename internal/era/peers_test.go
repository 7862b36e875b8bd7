package era_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/internal/negotiate"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// headers play the HTTP headers of one request.
type headers map[string]string

func (h headers) Header(name string) (string, bool) {
	value, ok := h[name]
	return value, ok
}

// names lists the headers in order, for a transcript.
func (h headers) names() []string { return slices.Sorted(maps.Keys(h)) }

func headersOf(pairs [][2]string) headers {
	h := headers{}
	for _, p := range pairs {
		h[p[0]] = p[1]
	}
	return h
}

const tasksExtension = "io.modelcontextprotocol/tasks"

var extensions = []mcp.Extension{
	{
		Identifier:    tasksExtension,
		Requests:      []string{"tasks/get", "tasks/update", "tasks/cancel"},
		Notifications: []string{"notifications/tasks"},
		ResultTypes:   []string{"task"},
		NameParam:     map[string]string{"tasks/get": "taskId", "tasks/update": "taskId", "tasks/cancel": "taskId"},
	},
	{Identifier: "com.example/shelf", Requests: []string{"shelf/sort"}, Notifications: []string{"notifications/shelf/moved"}},
}

func serverConfig() era.Config {
	return era.Config{
		Side:       era.ServerSide,
		Extensions: extensions,
		Vendor:     func(method string) bool { return method == "example/echo" },
		Info:       mcp.Implementation{Name: "library", Version: "1.0.0"},
	}
}

func clientConfig() era.Config {
	return era.Config{
		Side:       era.ClientSide,
		Extensions: extensions,
		Info:       mcp.Implementation{Name: "reader", Version: "2.0.0"},
		ClientCapabilities: mcp.ClientCapabilities{
			Elicitation: &mcp.ElicitationCapability{Form: &mcp.Capability{}},
			Roots:       &mcp.RootsCapability{ListChanged: true},
			Tasks:       json.RawMessage(`{"list":{}}`),
		},
	}
}

func newSet(tb testing.TB, cfg era.Config) *negotiate.Set {
	tb.Helper()
	set, err := negotiate.New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	return set
}

// codecs returns both ends of one revision.
func codecs(tb testing.TB, revision string) (server, client era.Codec) {
	tb.Helper()
	server, ok := newSet(tb, serverConfig()).Codec(revision)
	if !ok {
		tb.Fatalf("revision %s is not served", revision)
	}
	client, _ = newSet(tb, clientConfig()).Codec(revision)
	return server, client
}

func decode(tb testing.TB, frame string) *jsonrpc.Message {
	tb.Helper()
	m, err := jsonrpc.Decode([]byte(frame), negotiate.Lift)
	if err != nil {
		tb.Fatalf("decode %s: %v", frame, err)
	}
	return m
}

// rowOf finds a method's row, nil for a vendor's.
func rowOf(codec era.Codec, method string, to era.Side) *era.Row {
	row, _ := codec.Look(method, false, to)
	return row
}

// compact takes the white space out of a JSON text and keeps its tokens.
func compact(tb testing.TB, raw []byte) string {
	tb.Helper()
	if raw == nil {
		return ""
	}
	var walk func(v []byte) []byte
	walk = func(v []byte) []byte {
		switch {
		case jsonrpc.IsObject(v):
			o := era.OpenObject(nil)
			for m := range jsonrpc.Fields(v) {
				o.Resume(append(o.KeyOf(m), walk(m.Value)...))
			}
			return o.Close()
		case jsonrpc.IsArray(v):
			out := []byte{'['}
			for e := range jsonrpc.Elements(v) {
				if len(out) > 1 {
					out = append(out, ',')
				}
				out = append(out, walk(e)...)
			}
			return append(out, ']')
		}
		return v
	}
	return string(walk(raw))
}
