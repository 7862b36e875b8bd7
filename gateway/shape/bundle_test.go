package shape_test

import (
	"slices"
	"testing"

	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/gateway/shape"
	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/manager"
)

// TestBundle shows what a bundle leaves of two servers, a with read, write and drop (denied), and b with read, known as look.
func TestBundle(t *testing.T) {
	plan := shape.New(map[string]shape.Server{
		"a": {Tools: names(shape.Filter{Deny: []string{"drop"}})}, "b": {Tools: shape.Names{Rename: map[string]string{"read": "look"}}},
	})
	for _, tc := range []struct {
		name                         string
		bundle                       shape.Bundle
		aTools, bTools, aRest, bRest string // rest are resources and templates
	}{
		{"one server whole", shape.Bundle{Servers: []string{"a"}}, "read write", "", "memo://one memo://n/{id}", ""},
		{"tools alone", shape.Bundle{Tools: []string{"a/*", "look"}}, "read write", "read", "", ""},
		{"a tool that is denied everywhere", shape.Bundle{Tools: []string{"drop"}}, "", "", "", ""},
		{"the server's own name", shape.Bundle{Tools: []string{"b/read"}}, "", "read", "", ""},
		{"servers, and some of their tools", shape.Bundle{Servers: []string{"b"}, Tools: []string{"read"}}, "", "read", "", "memo://one memo://n/{id}"},
		{"servers without tools", shape.Bundle{Servers: []string{"a"}, Tools: []string{}}, "", "", "memo://one memo://n/{id}", ""},
		{"resources alone", shape.Bundle{Resources: []string{"a/memo://n/*", "b/memo://one"}}, "", "", "memo://n/{id}", "memo://one"},
	} {
		p := plan.Bundle(tc.bundle)
		in := []upstream.Snapshot{ready("a", "read", "write", "drop"), ready("b", "read")}
		out := p.Shape(in)
		if len(out) != 2 {
			t.Fatalf("%s: %d servers", tc.name, len(out))
		}
		for i, want := range []struct{ tools, rest string }{{tc.aTools, tc.aRest}, {tc.bTools, tc.bRest}} {
			lists := out[i].Lists
			rest := keys(slices.Concat(lists.Resources, lists.Templates))
			if keys(lists.Tools) != want.tools || rest != want.rest || lists.ServesResources && want.rest == "" && tc.bundle.Resources == nil {
				t.Errorf("%s: %s shows %q and %q", tc.name, out[i].Name, keys(lists.Tools), rest)
			}
			for _, it := range in[i].Lists.Tools {
				listed := slices.ContainsFunc(lists.Tools, func(other upstream.Item) bool { return other.Key == it.Key })
				if p.Serves(route.Tool, route.Target{Server: out[i].Name, Name: it.Key}) != listed {
					t.Errorf("%s: %s of %s is listed: %t, and served differently", tc.name, it.Key, out[i].Name, listed)
				}
			}
		}
	}
	p := plan.Bundle(shape.Bundle{Servers: []string{"b"}, Rename: map[string]string{"b/read": "peek"}})
	if got := p.Names(route.Tool, route.Target{Server: "b", Name: "read"}) + plan.Names(route.Tool, route.Target{Server: "b", Name: "read"}); got != "peeklook" {
		t.Errorf("the names are %s", got)
	}
	if !p.Serves(route.Resource, route.Target{Server: "b", Name: "other://x"}) || p.Serves(route.Resource, route.Target{Server: "a", Name: "memo://one"}) {
		t.Error("what no list names is there for the servers of the bundle, and for those alone")
	}
}

// TestNotesOfBundles tells of patterns that fit nothing once all servers of the bundle are up.
func TestNotesOfBundles(t *testing.T) {
	b := ready("b", "read")
	snaps := []upstream.Snapshot{ready("a", "read"), b}
	p := shape.New(nil).Bundle(shape.Bundle{Tools: []string{"a/*", "raed", "b/write"}, Resources: []string{"memo://n/*", "file:*"}})
	want := []string{`the pattern "raed" fits no tool of its servers`, `the pattern "b/write" fits no tool of its servers`, `the pattern "file:*" fits no resource of its servers`}
	if got := p.Notes(snaps); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	snaps[1].State = manager.Connecting
	if got := p.Notes(snaps); got != nil {
		t.Errorf("while one is not up: %q", got)
	}
}
