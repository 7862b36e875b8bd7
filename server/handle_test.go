package server_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

type basket struct {
	Owner string   `json:"owner"`
	Items []string `json:"items"`
}

// shop is a server with a basket in a handle: "fill" adds an item and returns the next handle, "pay" reads another kind.
func shop(opts server.Options) *server.Server {
	s := newServer(opts)
	type fill struct {
		Basket string `json:"basket,omitempty"`
		Item   string `json:"item"`
	}
	server.AddTool(s, mcp.Tool{Name: "fill"}, func(ctx context.Context, req *server.Request, in fill) (string, error) {
		var b basket
		if in.Basket != "" {
			var err error
			if b, err = server.OpenHandle[basket](ctx, req, "basket", in.Basket); err != nil {
				return "", err
			}
		}
		b.Items = append(b.Items, in.Item)
		if in.Item == "count" {
			return strings.Join(b.Items, "+"), nil
		}
		return server.NewHandle(ctx, req, "basket", b, time.Hour)
	})
	server.AddTool(s, mcp.Tool{Name: "pay"}, func(ctx context.Context, req *server.Request, in fill) (string, error) {
		_, err := server.OpenHandle[basket](ctx, req, "receipt", in.Basket)
		return "", err
	})
	return s
}

// said calls a tool and returns the text of its result, with the mark of an error in front.
func said(w *wire, name, basket, item string) string {
	w.t.Helper()
	m := w.call("tools/call", `"name":"`+name+`","arguments":{"basket":`+string(jsonrpc.AppendString(nil, basket))+`,"item":"`+item+`"}`)
	text, _ := jsonrpc.Text(firstContent(w.t, m))
	if _, bad := jsonrpc.Member(m.Result, "isError"); bad {
		return "error: " + text
	}
	return text
}

func firstContent(t testing.TB, m *jsonrpc.Message) []byte {
	t.Helper()
	content := member(t, m.Result, "content")
	return []byte(member(t, []byte(strings.TrimSuffix(strings.TrimPrefix(content, "["), "]")), "text"))
}

const noHandle = "error: this handle is not valid or has expired; ask for a new one"

// What a session would keep travels in a handle: between calls, connections, eras and replicas with the same key.
func TestHandles(t *testing.T) {
	keys := [][]byte{[]byte("a key of thirty-two bytes, really")[:32]}
	here, there := shop(server.Options{StateKeys: keys}), shop(server.Options{StateKeys: keys})
	for _, revision := range bothEras {
		t.Run(revision, func(t *testing.T) {
			handle := said(dial(t, here, revision), "fill", "", "tea")
			if strings.Contains(handle, "tea") {
				t.Errorf("the handle shows what it holds: %s", handle)
			}
			w := dial(t, there, revision)
			handle = said(w, "fill", handle, "milk")
			for _, other := range bothEras {
				if got := said(dial(t, here, other), "fill", handle, "count"); got != "tea+milk+count" {
					t.Errorf("with %s: %s", other, got)
				}
			}
			for what, call := range map[string]func() string{
				"another kind":    func() string { return said(w, "pay", handle, "") },
				"other keys":      func() string { return said(dial(t, shop(server.Options{}), revision), "fill", handle, "count") },
				"changed":         func() string { return said(w, "fill", handle[:len(handle)-1]+"!", "count") },
				"cut":             func() string { return said(w, "fill", handle[:20], "count") },
				"nothing like it": func() string { return said(w, "fill", "basket-7", "count") },
			} {
				if got := call(); got != noHandle {
					t.Errorf("%s: %s", what, got)
				}
			}
		})
	}
}

func TestHandleExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := dial(t, shop(server.Options{}), modern)
		handle := said(w, "fill", "", "tea")
		time.Sleep(time.Hour - time.Second)
		if got := said(w, "fill", handle, "count"); got != "tea+count" {
			t.Errorf("within its life: %s", got)
		}
		time.Sleep(2 * time.Second)
		if got := said(w, "fill", handle, "count"); got != noHandle {
			t.Errorf("after its life: %s", got)
		}
	})
}

// A handle is of no use to another principal.
func TestHandleOfAnother(t *testing.T) {
	s := newServer(server.Options{HTTP: server.HTTPOptions{Principal: func(r *http.Request) *mcp.Principal {
		return &mcp.Principal{Subject: r.Header.Get("X-User")}
	}}})
	var handle string
	var opened error
	rawTool(t, s, "make", func(ctx context.Context, req *server.Request) (*mcp.CallToolResult, error) {
		var err error
		handle, err = server.NewHandle(ctx, req, "note", 1, 0)
		return mcp.TextResult("made"), err
	})
	rawTool(t, s, "open", func(ctx context.Context, req *server.Request) (*mcp.CallToolResult, error) {
		_, opened = server.OpenHandle[int](ctx, req, "note", handle)
		return mcp.TextResult("tried"), nil
	})
	url := serve(t, s.Handler())
	for _, c := range []struct {
		user, tool string
		want       error
	}{{"ada", "make", nil}, {"ada", "open", nil}, {"eve", "open", server.ErrHandle}, {"", "open", server.ErrHandle}} {
		opened = nil
		post(t, url, "tools/call", c.tool, `"name":"`+c.tool+`",`, map[string]string{"X-User": c.user})
		if !errors.Is(opened, c.want) {
			t.Errorf("%q %s: %v, want %v", c.user, c.tool, opened, c.want)
		}
	}
}

// What is too large for a handle is refused with its size, or kept in the store.
func TestLargeHandle(t *testing.T) {
	for name, c := range map[string]struct {
		opts server.Options
		fits bool
	}{
		"no store": {server.Options{MaxStateBytes: 2000}, false},
		"store":    {server.Options{MaxStateBytes: 2000, StateStore: server.MemoryStates(0, 0)}, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := dial(t, shop(c.opts), modern)
			got := said(w, "fill", "", strings.Repeat("x", 3000))
			if !c.fits {
				if !strings.HasPrefix(got, "error: a handle for a basket: ") || !strings.Contains(got, "2000") {
					t.Errorf("want an error with the limit, got %s", got)
				}
				return
			}
			if len(got) > 2000 {
				t.Errorf("the handle has %d bytes", len(got))
			}
			for range 2 {
				if back := said(w, "fill", got, "count"); back != strings.Repeat("x", 3000)+"+count" {
					t.Errorf("it came back as %.40s", back)
				}
			}
		})
	}
}
