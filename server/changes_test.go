package server_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/transport"
)

// settle lets everything that was announced go out.
func settle() {
	time.Sleep(time.Second) // of the bubble
	synctest.Wait()
}

// quiet checks that nothing came: the next frame is the answer to a call.
func (w *wire) quiet() {
	w.t.Helper()
	settle()
	w.call("prompts/list", "")
	if len(w.notices) > 0 {
		w.t.Errorf("unexpected notices: %s", w.notices)
	}
}

// listen opens a subscription and checks what is honoured. It returns the id of the request.
func (w *wire) listen(filter, honoured string) int {
	w.t.Helper()
	id := w.start("subscriptions/listen", `"notifications":`+filter)
	m := w.Expect(fmt.Sprintf(`{"method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":%d}}}`, id))
	if got := member(w.t, m.Params, "notifications"); got != honoured {
		w.t.Errorf("filter %s: want %s honoured, got %s", filter, honoured, got)
	}
	return id
}

// Changes of the lists reach legacy clients unasked and modern ones that listen, once for several, and only real ones.
func TestListChanged(t *testing.T) {
	for _, revision := range bothEras {
		t.Run(revision, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer(server.Options{})
				rawTool(t, s, "a", nothing)
				w := dial(t, s, revision)
				if revision == modern {
					w.listen(`{"toolsListChanged":true}`, `{"toolsListChanged":true}`)
				}
				w.quiet()
				for i := range 10 {
					rawTool(t, s, fmt.Sprint("b", i), nothing)
				}
				s.RemoveTool("b0", "b1")
				settle()
				w.Expect(`{"method":"notifications/tools/list_changed"}`)
				w.quiet() // one for all eleven

				rawTool(t, s, "a", nothing) // looks as before
				s.RemoveTool("no")
				w.call("tools/list", "")
				w.quiet()

				if err := s.AddRawTool(mcp.Tool{Name: "a", Title: "A"}, nothing); err != nil {
					t.Fatal(err)
				}
				settle()
				w.Expect(`{"method":"notifications/tools/list_changed"}`)
				w.quiet()
			})
		})
	}
}

func TestEachListHasItsNotice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := full(server.Options{})
		w := dial(t, s, legacy)
		s.RemovePrompt("letter")
		settle()
		w.Expect(`{"method":"notifications/prompts/list_changed"}`)
		s.RemoveResource("a:1")
		settle()
		w.Expect(`{"method":"notifications/resources/list_changed"}`)
		s.AddResourceTemplate(mcp.ResourceTemplate{URITemplate: "a:{x}", Name: "a"}, showing(""))
		settle()
		w.Expect(`{"method":"notifications/resources/list_changed"}`)
		w.quiet()
	})
}

// The owner of a catalogue tells when its lists have changed.
func TestChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(server.Options{Catalogue: catalogue{}, Capabilities: mcp.ServerCapabilities{Prompts: &mcp.PromptsCapability{}}})
		w := dial(t, s, legacy)
		for kind, method := range map[server.ListKind]string{server.Tools: "tools", server.Resources: "resources", server.ResourceTemplates: "resources"} {
			s.Changed(kind)
			s.Changed(kind)
			settle()
			w.Expect(`{"method":"notifications/` + method + `/list_changed"}`)
		}
		s.Changed(server.Prompts) // declared without
		w.quiet()
	})
}

// A capability that is declared without listChanged or subscribe is kept to.
func TestUndeclaredNoticesAreNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(server.Options{Capabilities: mcp.ServerCapabilities{
			Tools: &mcp.ToolsCapability{}, Prompts: &mcp.PromptsCapability{}, Resources: &mcp.ResourcesCapability{},
		}})
		old, young := dial(t, s, legacy), dial(t, s, modern)
		old.want("resources/subscribe", `"uri":"a:1"`, "error -32601")
		young.listen(`{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["a:1"]}`, `{}`)
		rawTool(t, s, "x", nothing)
		letters(s)
		s.AddResourceTemplate(mcp.ResourceTemplate{URITemplate: "a:{x}", Name: "a"}, showing(""))
		s.ResourceUpdated("a:1")
		old.quiet()
		young.quiet()
	})
}

func TestResourceUpdatedLegacy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := full(server.Options{})
		w, other := dial(t, s, legacy), dial(t, s, legacy)
		w.want("resources/subscribe", `"uri":"a:1","name":"a:2"`, `{}`) // the uri counts, whatever else is there
		s.ResourceUpdated("a:1")
		s.ResourceUpdated("a:2")
		settle()
		w.Expect(`{"method":"notifications/resources/updated","params":{"uri":"a:1"}}`)
		w.quiet()
		other.quiet()
		w.want("resources/unsubscribe", `"uri":"a:1"`, `{}`)
		s.ResourceUpdated("a:1")
		w.quiet()
	})
}

func TestResourceUpdatedModern(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := full(server.Options{})
		w := dial(t, s, modern)
		id := w.listen(`{"resourceSubscriptions":["a:1"],"promptsListChanged":false}`, `{"resourceSubscriptions":["a:1"]}`)
		s.ResourceUpdated("a:1")
		s.ResourceUpdated("a:10")
		settle()
		w.Expect(fmt.Sprintf(`{"method":"notifications/resources/updated","params":{"uri":"a:1","_meta":{"io.modelcontextprotocol/subscriptionId":%d}}}`, id))
		w.quiet()
		w.Send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id))
		synctest.Wait()
		s.ResourceUpdated("a:1")
		w.quiet()
		if got := s.Stats(); got.Listens != 0 || got.Peers != 1 {
			t.Errorf("want one peer and no listen, got %+v", got)
		}
	})
}

// What is offered is honoured, and nothing else.
func TestHonouredFilter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(server.Options{})
		rawTool(t, s, "x", nothing)
		w := dial(t, s, modern)
		w.listen(`{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["a:1"],"more":1}`, `{"toolsListChanged":true}`)
		w.listen(`{}`, `{}`)
		if got := s.Stats().Listens; got != 2 {
			t.Errorf("want two listens, got %d", got)
		}
	})
}

func TestListenLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(server.Options{MaxListens: 1})
		w := dial(t, s, modern)
		w.listen(`{}`, `{}`)
		w.want("subscriptions/listen", `"notifications":{}`, "error -32603")
		many := `"a"`
		for range 10_000 {
			many += `,"a"`
		}
		w.want("subscriptions/listen", `"notifications":{"resourceSubscriptions":[`+many+`]}`, "error -32602")
	})
}

// A legacy session names no more resources than a listen may.
func TestSubscriptionLimit(t *testing.T) {
	w := dial(t, newServer(server.Options{}), legacy)
	for i := range 10_000 {
		w.call("resources/subscribe", fmt.Sprintf(`"uri":"a:%d"`, i))
	}
	w.want("resources/subscribe", `"uri":"one:more"`, "error -32603")
	w.want("resources/subscribe", `"uri":"a:7"`, `{}`)
	w.want("resources/unsubscribe", `"uri":"a:7"`, `{}`)
	w.want("resources/subscribe", `"uri":"one:more"`, `{}`)
}

// Shutdown ends every listen with its result, cancels what does not end by itself, closes the connection, and refuses who
// comes later.
func TestShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := full(server.Options{})
		rawTool(t, s, "wait", func(ctx context.Context, _ *server.Request) (*mcp.CallToolResult, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		ours, theirs := transport.Pair(0)
		ended := make(chan error, 1)
		go func() { ended <- s.Serve(t.Context(), theirs) }()
		w := dial(t, s, modern)
		id := w.listen(`{"toolsListChanged":true}`, `{"toolsListChanged":true}`)
		call := w.start("tools/call", `"name":"wait"`)
		synctest.Wait()
		const grace = 20 * time.Second
		ctx, cancel := context.WithTimeout(t.Context(), grace)
		defer cancel()
		began := time.Now()
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("Shutdown: %v", err)
		}
		if took := time.Since(began); took != grace-time.Second {
			t.Errorf("the call was cancelled after %s", took)
		}
		w.Expect(fmt.Sprintf(`{"method":"notifications/cancelled","params":{"requestId":%d}}`, id))
		w.Expect(fmt.Sprintf(`{"id":%d,"result":{"_meta":{"io.modelcontextprotocol/subscriptionId":%d}}}`, id, id))
		w.Expect(fmt.Sprintf(`{"id":%d,"error":{"code":-32603,"message":"the server is shutting down, so the call was given up; whether it was done is not known"}}`, call))
		w.ExpectEnd()
		if err := <-ended; err != nil {
			t.Errorf("Serve: %v", err)
		}
		if _, err := ours.Read(t.Context()); err != io.EOF {
			t.Errorf("want the connection closed, got %v", err)
		}
		_, late := transport.Pair(0)
		if err := s.Serve(t.Context(), late); !errors.Is(err, server.ErrShutdown) {
			t.Errorf("want ErrShutdown for who comes later, got %v", err)
		}
		if got := s.Stats(); got.Listens != 0 || got.Peers != 0 {
			t.Errorf("something is left: %+v", got)
		}
	})
}
