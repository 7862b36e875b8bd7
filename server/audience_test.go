package server_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// TestNewsForSome holds that a change that concerns one principal is told to the clients of that one, on every way that changes
// are told, and that a program can see who listens to what.
func TestNewsForSome(t *testing.T) {
	for name, mode := range map[string]client.Mode{"legacy": client.Legacy, "modern": client.Modern} {
		t.Run(name, func(t *testing.T) {
			s := server.New(mcp.Implementation{Name: "s", Version: "1"}, server.Options{
				Capabilities: mcp.ServerCapabilities{
					Tools: &mcp.ToolsCapability{ListChanged: true}, Resources: &mcp.ResourcesCapability{ListChanged: true, Subscribe: true},
				},
				HTTP: server.HTTPOptions{Principal: func(r *http.Request) *mcp.Principal {
					return &mcp.Principal{Issuer: "here", Subject: r.Header.Get("X-Who")}
				}},
			})
			web := httptest.NewServer(s.Handler())
			t.Cleanup(web.Close)
			subs := map[string]*client.Subscription{}
			for _, who := range []string{"ada", "bob"} {
				c, err := client.DialHTTP(t.Context(), web.URL, client.Options{Mode: mode, Headers: http.Header{"X-Who": {who}}})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = c.Close() })
				subs[who], err = c.Subscribe(t.Context(), client.Filter{ToolsListChanged: true, ResourceSubscriptions: []string{"memo://x"}})
				if err != nil {
					t.Fatal(err)
				}
			}
			for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
				var seen []string
				s.EachSubscription(func(who server.Caller, uri string) { seen = append(seen, who.Principal.Subject+" "+uri) })
				slices.Sort(seen)
				if fmt.Sprint(seen) == "[ada memo://x bob memo://x]" {
					break
				}
				if time.Now().After(end) {
					t.Fatalf("listening: %q", seen)
				}
			}
			ada := func(who server.Caller) bool { return who.Principal.Subject == "ada" }
			s.ResourceUpdatedFor("memo://x", ada)
			s.ChangedFor(server.Tools, ada)
			s.ResourceUpdated("memo://x") // for both, and nothing before it for bob
			if e, err := subs["bob"].Next(t.Context()); err != nil || e.Kind != client.ResourceUpdated {
				t.Errorf("bob hears %+v, %v", e, err)
			}
			heard := map[string]bool{}
			for range 2 {
				e, err := subs["ada"].Next(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				heard[fmt.Sprint(e.Kind)] = true
			}
			if len(heard) != 2 {
				t.Errorf("ada hears %v", heard)
			}
		})
	}
}

// TestListensOfOnePrincipal holds that a principal that has as many listens as it may gets no more, that others do, and that one
// that ends makes room.
func TestListensOfOnePrincipal(t *testing.T) {
	s := server.New(mcp.Implementation{Name: "s", Version: "1"}, server.Options{
		MaxListensPerPrincipal: 2,
		Capabilities:           mcp.ServerCapabilities{Tools: &mcp.ToolsCapability{ListChanged: true}},
		HTTP: server.HTTPOptions{Principal: func(r *http.Request) *mcp.Principal {
			if who := r.Header.Get("X-Who"); who != "" {
				return &mcp.Principal{Subject: who}
			}
			return nil
		}},
	})
	web := httptest.NewServer(s.Handler())
	t.Cleanup(web.Close)
	listens := func(who string) (*client.Subscription, error) { // each on a stream of its own
		c, err := client.DialHTTP(t.Context(), web.URL, client.Options{Mode: client.Modern, Headers: http.Header{"X-Who": {who}}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c.Subscribe(t.Context(), client.Filter{ToolsListChanged: true})
	}
	must := func(who string) *client.Subscription {
		t.Helper()
		sub, err := listens(who)
		if err != nil {
			t.Fatal(err)
		}
		return sub
	}
	first := must("ada")
	must("ada")
	if _, err := listens("ada"); err == nil {
		t.Error("a third listen of hers is taken")
	}
	must("bob")
	for range 3 {
		must("")
	}
	before := s.Stats().Listens
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Second); s.Stats().Listens == before && time.Now().Before(end); time.Sleep(time.Millisecond) {
		continue // until the server has seen it go
	}
	must("ada")
}
