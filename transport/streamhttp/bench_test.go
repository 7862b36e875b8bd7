package streamhttp

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/internal/negotiate"
	"github.com/rialto-mcp/rialto/mcp"
)

// BenchmarkPost is a call without net/http, in both eras.
func BenchmarkPost(b *testing.B) {
	w := newHandler(b, Options{})
	defer w.handler.Close()
	body, headers := modern("tools/list", "", "")
	session := [][2]string{{"Mcp-Session-Id", w.record("POST", initialize).Header().Get("Mcp-Session-Id")}}
	for _, c := range []struct {
		name, body string
		headers    [][2]string
	}{{"modern", body, headers}, {"legacy", legacyList, session}} {
		b.Run(c.name, func(b *testing.B) {
			r := httptest.NewRequest("POST", "/", nil)
			setHeaders(r, c.headers)
			reader := strings.NewReader(c.body)
			r.Body, r.ContentLength = io.NopCloser(reader), int64(len(c.body))
			out := &nowhere{header: http.Header{}}
			b.ReportAllocs()
			for b.Loop() {
				reader.Reset(c.body)
				clear(out.header)
				w.handler.ServeHTTP(out, r)
			}
		})
	}
}

// BenchmarkClient is a whole call of the client's against a server that only writes an answer.
func BenchmarkClient(b *testing.B) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, id, _ := strings.Cut(string(body), `"id":`)
		id, _, _ = strings.Cut(id, ",")
		w.Header()["Content-Type"] = jsonType
		w.Write([]byte(`{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[],"resultType":"complete"}}`))
	}))
	defer srv.Close()
	set, err := negotiate.New(era.Config{Side: era.ClientSide, Info: mcp.Implementation{Name: "caller", Version: "1"}})
	if err != nil {
		b.Fatal(err)
	}
	client, peer, err := NewClient(srv.URL, engine.New(&desk{}, engine.Options{}), ClientOptions{})
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close()
	codec, _ := set.Codec("2026-07-28")
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			out := &era.Outgoing{Method: "tools/call", Params: []byte(`{"name":"echo"}`)}
			if _, err := peer.(*engine.Peer).Call(b.Context(), client, out, engine.CallOptions{Codec: codec}); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// nowhere is a response that goes nowhere.
type nowhere struct {
	header        http.Header
	status, wrote int
}

func (n *nowhere) Header() http.Header             { return n.header }
func (n *nowhere) SetReadDeadline(time.Time) error { return nil }
func (n *nowhere) WriteHeader(s int)               { n.status = s }
func (n *nowhere) Write(p []byte) (int, error) {
	n.wrote += len(p)
	return len(p), nil
}
