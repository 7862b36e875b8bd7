package server_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/mcptest"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/state"
)

// addPage adds tools that send the user to a page by call or by return, and answer whether they agreed.
func addPage(s *server.Server, id func() string) {
	page := func() mcp.ElicitURLParams {
		return mcp.ElicitURLParams{Message: "Sign in", URL: "https://example.com/in", ElicitationID: id()}
	}
	server.AddTool(s, mcp.Tool{Name: "by call"}, func(ctx context.Context, req *server.Request, _ struct{}) (string, error) {
		a, err := req.ElicitURL(ctx, page())
		if err != nil {
			return "", err
		}
		return string(a.Action), nil
	})
	server.AddTool(s, mcp.Tool{Name: "by return"}, func(_ context.Context, req *server.Request, _ struct{}) (string, error) {
		if a, _ := req.InputResponses().Elicit("page"); a != nil {
			return string(a.Action), nil
		}
		return "", mcp.NeedInput().ElicitURL("page", page())
	})
}

// The client that was asked, and no other, is told that its page is done with, once.
func TestElicitationComplete(t *testing.T) {
	for _, tool := range []string{"by call", "by return"} {
		t.Run(tool, func(t *testing.T) {
			s := newServer(server.Options{})
			n := 0
			addPage(s, func() string { n++; return fmt.Sprintf("id %d", n) })
			asked, other, modernOne := newTalk(t, s, legacy), newTalk(t, s, legacy), newTalk(t, s, modern)
			for _, k := range []*talk{asked, other, modernOne} {
				if got := k.call(tool, "{}"); got != saying("accept") {
					t.Fatal(got)
				}
			}
			if s.ElicitationComplete(t.Context(), "id 9") || s.ElicitationComplete(t.Context(), "") {
				t.Error("an unknown page is completed")
			}
			if s.ElicitationComplete(t.Context(), "id 3") {
				t.Error("a modern client is told")
			}
			if !s.ElicitationComplete(t.Context(), "id 1") || s.ElicitationComplete(t.Context(), "id 1") {
				t.Error("a page is not completed once")
			}
			asked.Expect(`{"method":"notifications/elicitation/complete","params":{"elicitationId":"id 1"}}`)
			if got := other.call(tool, "{}"); got != saying("accept") || slices.Contains(other.told, "page done") {
				t.Errorf("another client: %s, told %q", got, other.told)
			}
		})
	}
}

// A page that was completed from elsewhere is not completed again by the handler that waits for it.
func TestPageIsCompletedOnce(t *testing.T) {
	s := newServer(server.Options{})
	polls := 0
	server.AddTool(s, mcp.Tool{Name: "x"}, func(ctx context.Context, req *server.Request, _ struct{}) (string, error) {
		if _, err := req.ElicitURL(ctx, mcp.ElicitURLParams{Message: "m", URL: "https://example.com/", ElicitationID: "id"}); err != nil {
			return "", err
		}
		return "done", req.Until(ctx, func(ctx context.Context) (bool, error) {
			polls++
			return s.ElicitationComplete(ctx, "id"), nil
		})
	})
	k := newTalk(t, s, legacy)
	if got := k.call("x", "{}"); got != saying("done") || !slices.Equal(k.told, []string{"page done"}) || polls != 1 {
		t.Errorf("%s, told %q in %d polls", got, k.told, polls)
	}
}

// A server may refuse the call with the page instead of asking while it waits.
func TestPagesInErrors(t *testing.T) {
	for _, tool := range []string{"by call", "by return"} {
		s := newServer(server.Options{URLElicitationErrors: true})
		addPage(s, func() string { return "id" })
		k := newTalk(t, s, legacy)
		want := `error -32042 {"elicitations":[{"mode":"url","message":"Sign in","url":"https://example.com/in","elicitationId":"id"}]}`
		if got := k.call(tool, "{}"); got != want || len(k.asked) > 0 {
			t.Errorf("%s: %s, asked %q", tool, got, k.asked)
		}
		if !s.ElicitationComplete(t.Context(), "id") {
			t.Errorf("%s: the client is not told that the page is done with", tool)
		}
		k.Expect(`{"method":"notifications/elicitation/complete"}`)
		if k := newTalk(t, s, modern); k.call(tool, "{}") != saying("accept") || len(k.asked) != 1 {
			t.Errorf("%s: a modern client was asked %q", tool, k.asked)
		}
		bare := &talk{wire: dialWith(t, s, legacy, `{"elicitation":{"form":{}}}`)}
		if got := bare.call(tool, "{}"); !strings.Contains(got, "has not declared") {
			t.Errorf("%s: a client that visits no pages: %s", tool, got)
		}
	}
	s := newServer(server.Options{URLElicitationErrors: true})
	server.AddTool(s, mcp.Tool{Name: "both"}, func(ctx context.Context, req *server.Request, _ struct{}) (string, error) {
		_, err := req.Ask(ctx, mcp.NeedInput().ElicitURL("p", mcp.ElicitURLParams{Message: "m", URL: "https://example.com/"}).ListRoots("r"))
		return "done", err
	})
	if k := newTalk(t, s, legacy); k.call("both", "{}") != saying("done") || len(k.asked) != 2 {
		t.Errorf("a page beside another question: asked %q", k.asked)
	}
}

// Our own client visits the page, hears that it is done with, and repeats the call.
func TestOwnClientVisitsPages(t *testing.T) {
	for _, wire := range mcptest.Wires() {
		for _, refuses := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, errors %t", wire.Name, refuses), func(t *testing.T) {
				signedIn, visits := false, 0
				s := newServer(server.Options{URLElicitationErrors: refuses})
				server.AddTool(s, mcp.Tool{Name: "x"}, func(ctx context.Context, req *server.Request, _ struct{}) (string, error) {
					if signedIn && req.Run() == 1 {
						return "welcome back", nil
					}
					a, err := req.ElicitURL(ctx, mcp.ElicitURLParams{Message: "Sign in", URL: "https://example.com/in", ElicitationID: "id"})
					if err != nil {
						return "", err
					}
					return string(a.Action), nil
				})
				c := wire.Dial(t, s, client.Options{ElicitURL: func(ctx context.Context, req *client.ElicitURLRequest) (*mcp.ElicitResult, error) {
					visits++
					signedIn = true
					if wire.Modern {
						return client.Accept(nil)
					}
					if !s.ElicitationComplete(ctx, req.ElicitationID) {
						return nil, fmt.Errorf("the client of %q is not told", req.ElicitationID)
					}
					select {
					case <-req.Completed():
						return client.Accept(nil)
					case <-time.After(5 * time.Second):
						return nil, fmt.Errorf("the client does not hear of it")
					}
				}})
				out, err := c.CallTool(t.Context(), "x", nil)
				if err != nil {
					t.Fatal(err)
				}
				want := "accept"
				if refuses && !wire.Modern {
					want = "welcome back"
				}
				if out.Text() != want || visits != 1 {
					t.Errorf("%q after %d visits", out.Text(), visits)
				}
			})
		}
	}
}

// TestElicitationCompleteElsewhere is told on another replica than the one that has asked: its client hears of it, once.
func TestElicitationCompleteElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus := state.NewMemoryBus(state.BusLimits{})
		asks, told := newServer(server.Options{Bus: bus}), newServer(server.Options{Bus: bus})
		addPage(asks, func() string { return "id\nof two lines" })
		k := newTalk(t, asks, legacy)
		if got := k.call("by call", "{}"); got != saying("accept") {
			t.Fatal(got)
		}
		synctest.Wait() // both listen to the bus
		for range 2 {
			if told.ElicitationComplete(t.Context(), "id\nof two lines") {
				t.Error("this one has told nobody itself")
			}
		}
		k.Expect(`{"method":"notifications/elicitation/complete","params":{"elicitationId":"id\nof two lines"}}`)
		synctest.Wait()
		if asks.ElicitationComplete(t.Context(), "id\nof two lines") {
			t.Error("it is completed twice")
		}
		if err := errors.Join(asks.Shutdown(t.Context()), told.Shutdown(t.Context()), bus.Close()); err != nil {
			t.Error(err)
		}
	})
}
