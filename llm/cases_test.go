package llm_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/llm"
	"github.com/rialto-mcp/rialto/llm/openai"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/mcptest"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/transport"
)

// scripted plays a legacy server over memory whose tools/list a test answers.
func scripted(t *testing.T, list func(cursor string, given bool) string, errs func(error)) *client.Client {
	t.Helper()
	conn, far := transport.Pair(0)
	done := make(chan struct{})
	go func() { // ends with the connection, which the client's Close ends
		defer close(done)
		for {
			frame, err := far.Read(context.Background())
			if err != nil {
				return
			}
			m, err := jsonrpc.Decode(frame, nil)
			if err != nil {
				t.Error(err)
				return
			}
			answer := ""
			switch m.Method {
			case mcp.MethodInitialize:
				answer = `{"protocolVersion":"` + mcp.Version20251125 + `","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"paged","version":"1"}}`
			case mcp.MethodListTools:
				cursor, given := mcp.Meta(m.Params).Text("cursor")
				answer = list(cursor, given)
			default:
				continue
			}
			reply := &jsonrpc.Message{ID: m.ID, Result: json.RawMessage(answer)}
			if err := far.Write(context.Background(), reply.Append(nil)); err != nil {
				return
			}
		}
	}()
	c, err := client.Connect(t.Context(), conn, client.Options{Mode: client.Legacy, OnError: errs, MaxPages: 50})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		<-done
	})
	return c
}

func page(next string, from, to int) string {
	var tools []string
	for i := from; i < to; i++ {
		tools = append(tools, fmt.Sprintf(`{"name":"t%d","inputSchema":{"type":"object"}}`, i))
	}
	return `{"tools":[` + strings.Join(tools, ",") + `]` + next + `}`
}

func TestC072AllPagesAreSeen(t *testing.T) {
	long := strings.Repeat("c", 4096)
	c := scripted(t, func(cursor string, given bool) string {
		switch {
		case !given:
			return page(`,"nextCursor":""`, 0, 50)
		case cursor == "":
			return page(`,"nextCursor":"`+long+`"`, 50, 100)
		case cursor == long:
			return page(`,"nextCursor":"last"`, 0, 0)
		}
		return page(``, 100, 101)
	}, nil)
	if set := bind(t, llm.Client(c), llm.Options{}); len(set.Tools()) != 101 {
		t.Errorf("%d tools", len(set.Tools()))
	}
}

func TestC073CursorsThatGoRoundEnd(t *testing.T) {
	for name, next := range map[string]func(cursor string) string{
		"the same each time": func(string) string { return "a" },
		"in a circle":        func(cursor string) string { return map[string]string{"": "a", "a": "b", "b": "a"}[cursor] },
		"new ones for ever":  func(cursor string) string { return cursor + "x" },
	} {
		t.Run(name, func(t *testing.T) {
			var told atomic.Value
			c := scripted(t, func(cursor string, _ bool) string { return page(`,"nextCursor":"`+next(cursor)+`"`, 0, 3) }, func(err error) { told.Store(err.Error()) })
			set := bind(t, llm.Client(c), llm.Options{})
			if names(set) != "t0 t1 t2" || set.Skipped() != nil {
				t.Errorf("%s, left out %v", names(set), set.Skipped())
			}
			if why, _ := told.Load().(string); !strings.Contains(why, "paged") {
				t.Errorf("the report does not name the server: %q", why)
			}
		})
	}
}

// large is a server with many tools; the names come from a small world of words.
func large() *fake {
	things, deeds := []string{"invoice", "customer", "ticket", "calendar", "repository", "branch", "image", "payment", "server"}, []string{"create", "delete", "list", "find", "archive", "share", "export"}
	f := &fake{call: func(_, tool string, args json.RawMessage) (*mcp.CallToolResult, error) {
		return mcp.TextResult(tool + string(args)), nil
	}}
	for i := range 741 {
		thing, deed := things[i%len(things)], deeds[i/len(things)%len(deeds)]
		f.tools = append(f.tools, llm.Listed{Server: "s", Tool: mcp.Tool{Name: fmt.Sprintf("%s_%s_%d", deed, thing, i), Description: "Can " + deed + " one " + thing + " of the company",
			InputSchema: json.RawMessage(`{"type":"object","properties":{"` + thing + `_id":{"type":"string","description":"The id of the ` + thing + `"}}}`)}})
	}
	return f
}

func TestC076HundredsOfToolsBehindASearch(t *testing.T) {
	f := large()
	whole := bind(t, f, llm.Options{})
	set := whole.WithSearch("list_invoice_*")
	if whole.Tokens() < 20_000 || set.Tokens() > 1500 || len(set.Tools()) > 20 {
		t.Errorf("%d tokens for all, %d tokens for %d tools with the search", whole.Tokens(), set.Tokens(), len(set.Tools()))
	}
	before := string(openai.ChatTools(set))
	r := set.Invoke(t.Context(), llm.Call{Name: llm.SearchTool, Args: json.RawMessage(`{"query":"exporting payments","limit":3}`)})
	var answer struct {
		Tools []struct {
			Name      string
			Arguments json.RawMessage
		}
	}
	if err := json.Unmarshal([]byte(r.Text()), &answer); err != nil || len(answer.Tools) != 3 {
		t.Fatalf("%v: %s", err, r.Text())
	}
	for _, found := range answer.Tools {
		if !strings.HasPrefix(found.Name, "s__export_payment_") || !strings.Contains(string(found.Arguments), "payment_id") {
			t.Errorf("found %s with %s", found.Name, found.Arguments)
		}
	}
	name := answer.Tools[0].Name
	r = set.Invoke(t.Context(), llm.Call{Name: llm.CallTool, Args: json.RawMessage(`{"name":"` + name + `","arguments":{"payment_id":"p"}}`)})
	if r.IsError || r.Text() != strings.TrimPrefix(name, "s__")+`{"payment_id":"p"}` {
		t.Errorf("%+v", r)
	}
	for args, want := range map[string]string{
		`{"name":"` + name + `","arguments":{"payment_id":7}}`: "do not fit",
		`{"name":"call_tool"}`:                                 "must be that of a tool that was found",
		`{"name":"s__nothing"}`:                                "There is no tool",
	} {
		if r := set.Invoke(t.Context(), llm.Call{Name: llm.CallTool, Args: json.RawMessage(args)}); !r.IsError || !strings.Contains(r.Text(), want) {
			t.Errorf("%s: %+v", args, r)
		}
	}
	if r := set.Invoke(t.Context(), llm.Call{Name: llm.SearchTool, Args: json.RawMessage(`{"query":"zebra"}`)}); r.IsError || !strings.Contains(r.Text(), "No tool fits") {
		t.Errorf("%+v", r)
	}
	if string(openai.ChatTools(set)) != before {
		t.Error("a search has changed the definitions")
	}
	denied := bind(t, f, llm.Options{Deny: []string{"export_*"}}).WithSearch()
	if found := denied.Search("export payment", 50); len(found) > 0 && strings.HasPrefix(found[0].Original, "export_") {
		t.Errorf("the search finds what is denied: %s", found[0].Name)
	}
	if r := denied.Invoke(t.Context(), llm.Call{Name: llm.CallTool, Args: json.RawMessage(`{"name":"` + name + `"}`)}); !r.IsError {
		t.Error("what is denied was called")
	}
}

// changing is a server whose list a test changes. It counts the lists.
func changing(t *testing.T) (s *server.Server, c *client.Client, lists *atomic.Int32) {
	t.Helper()
	lists = &atomic.Int32{}
	s = server.New(mcp.Implementation{Name: "changing", Version: "1"}, server.Options{})
	add(s, "first")
	c = mcptest.Pair(t, s, client.Options{Mode: client.Legacy, Middleware: []client.Middleware{func(next client.Call) client.Call {
		return func(ctx context.Context, req *client.OutgoingRequest) (*client.RawResult, error) {
			if req.Method == mcp.MethodListTools {
				lists.Add(1)
			}
			return next(ctx, req)
		}
	}}})
	return s, c, lists
}

func add(s *server.Server, name string) {
	server.AddTool(s, mcp.Tool{Name: name}, func(context.Context, *server.Request, struct{}) (string, error) { return "", nil })
}

func TestC077NoChangeIsToldWhereThereIsNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c, _ := changing(t)
		changes := 0
		live, err := llm.Follow(t.Context(), llm.Client(c), llm.Options{}, func(*llm.Set) { changes++ }, func(err error) { t.Error(err) })
		if err != nil {
			t.Fatal(err)
		}
		defer live.Close()
		add(s, "flapping")
		s.RemoveTool("flapping")
		time.Sleep(time.Second)
		synctest.Wait()
		if changes != 0 || names(live.Set()) != "first" {
			t.Errorf("%d changes told, the set has %s", changes, names(live.Set()))
		}
		add(s, "second")
		time.Sleep(time.Second)
		synctest.Wait()
		if changes != 1 || names(live.Set()) != "first second" {
			t.Errorf("%d changes told, the set has %s", changes, names(live.Set()))
		}
	})
}

func TestC078AStormOfNewsMakesFewLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c, lists := changing(t)
		live, err := llm.Follow(t.Context(), llm.Client(c), llm.Options{}, nil, func(err error) { t.Error(err) })
		if err != nil {
			t.Fatal(err)
		}
		for i := range 200 {
			add(s, fmt.Sprintf("t%03d", i))
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if n := len(live.Set().Tools()); n != 201 || lists.Load() > 6 {
			t.Errorf("%d tools after %d lists", n, lists.Load())
		}
		live.Close()
		live.Close()
		add(s, "late")
		time.Sleep(time.Second)
		synctest.Wait()
		if n := len(live.Set().Tools()); n != 201 {
			t.Error("a closed set follows")
		}
	})
}

// TestListsAreKept holds how often a server without hints is asked for its list: once in 30 seconds, and at once after news.
func TestListsAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c, lists := changing(t)
		source := llm.Client(c)
		ask := func(want int32, tools int) {
			t.Helper()
			set := bind(t, source, llm.Options{})
			if lists.Load() != want || len(set.Tools()) != tools {
				t.Errorf("asked %d times, want %d; %d tools", lists.Load(), want, len(set.Tools()))
			}
		}
		ask(1, 1)
		time.Sleep(llm.ListFloor - 1)
		ask(1, 1)
		time.Sleep(time.Nanosecond)
		ask(2, 1)
		add(s, "second")
		time.Sleep(time.Second)
		synctest.Wait()
		ask(3, 2)
		ask(3, 2)
	})
}

// TestJoinedServers holds that a server that is down hides no other, and that calls find their server.
func TestJoinedServers(t *testing.T) {
	down := &fake{}
	a := &fake{tools: listed("search"), call: func(server, tool string, _ json.RawMessage) (*mcp.CallToolResult, error) {
		return mcp.TextResult("a:" + server + ":" + tool), nil
	}}
	inner := llm.Join(llm.Named{Name: "y", Source: a})
	source := llm.Join(llm.Named{Name: "x", Source: a}, llm.Named{Name: "down", Source: broken{down}}, llm.Named{Name: "in", Source: inner})
	set := bind(t, source, llm.Options{})
	if len(set.Skipped()) != 1 || set.Skipped()[0].Server != "down" {
		t.Errorf("left out: %v", set.Skipped())
	}
	for _, tool := range set.Tools() {
		if r := set.Invoke(t.Context(), llm.Call{Name: tool.Name}); r.Text() != "a::search" {
			t.Errorf("%s: %s", tool.Name, r.Text())
		}
	}
	if len(set.Tools()) != 2 || set.Tools()[1].Server != "in/y" {
		t.Errorf("%+v", set.Tools())
	}
}

type broken struct{ llm.Source }

func (broken) ListTools(context.Context) ([]llm.Listed, error) {
	return nil, fmt.Errorf("nobody answers")
}
