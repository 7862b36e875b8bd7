package shape_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/gateway/shape"
	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/manager"
)

// ready is a server that is up and lists these tools, and the resources memo://one and memo://n/{id}.
func ready(name string, tools ...string) upstream.Snapshot {
	lists := &upstream.Lists{ServesResources: true, Resources: named("uri", "memo://one"), Templates: named("uriTemplate", "memo://n/{id}"), Tools: named("name", tools...)}
	return upstream.Snapshot{Status: upstream.Status{Status: manager.Status{Name: name, State: manager.Ready}}, Lists: lists}
}

func named(key string, names ...string) (items []upstream.Item) {
	for _, name := range names {
		items = append(items, upstream.Item{Key: name, Raw: json.RawMessage(`{"` + key + `":"` + name + `"}`)})
	}
	return items
}

func names(f shape.Filter) shape.Names { return shape.Names{Filter: f} }

func keys(items []upstream.Item) string {
	var out []string
	for _, it := range items {
		out = append(out, it.Key)
	}
	return strings.Join(out, " ")
}

func TestFilter(t *testing.T) {
	for _, tc := range []struct {
		name        string
		allow, deny []string
		want        string
	}{
		{"nothing is said", nil, nil, "read write delete_one delete_all"},
		{"some are allowed", []string{"read", "delete_*"}, nil, "read delete_one delete_all"},
		{"some are denied", nil, []string{"delete_*"}, "read write"},
		{"deny wins", []string{"*"}, []string{"*_all", "write"}, "read delete_one"},
		{"nothing is left", nil, []string{"*"}, ""},
	} {
		in := []upstream.Snapshot{ready("a", "read", "write", "delete_one", "delete_all"), ready("b", "delete_all")}
		plan := shape.New(map[string]shape.Server{"a": {Tools: names(shape.Filter{Allow: tc.allow, Deny: tc.deny})}})
		out := plan.Shape(in)
		if got := keys(out[0].Lists.Tools); got != tc.want {
			t.Errorf("%s: %q are shown, want %q", tc.name, got, tc.want)
		}
		if keys(out[1].Lists.Tools) != "delete_all" || keys(in[0].Lists.Tools) != "read write delete_one delete_all" {
			t.Errorf("%s: another server, or what was given, has changed", tc.name)
		}
		for _, it := range in[0].Lists.Tools {
			if served, listed := plan.Serves(route.Tool, route.Target{Server: "a", Name: it.Key}), slices.Contains(strings.Fields(tc.want), it.Key); served != listed {
				t.Errorf("%s: %s is served: %t, listed: %t", tc.name, it.Key, served, listed)
			}
		}
	}
}

// TestFilterOfAddresses holds that a resource that no list names is judged by its address.
func TestFilterOfAddresses(t *testing.T) {
	plan := shape.New(map[string]shape.Server{"a": {Resources: shape.Filter{Allow: []string{"memo://n/*"}, Deny: []string{"memo://n/0*"}}}})
	out := plan.Shape([]upstream.Snapshot{ready("a")})
	if got := keys(out[0].Lists.Resources) + keys(out[0].Lists.Templates); got != "memo://n/{id}" {
		t.Errorf("shown are %q", got)
	}
	for uri, want := range map[string]bool{"memo://n/7": true, "memo://n/07": false, "memo://one": false, "other://x": false} {
		if got := plan.Serves(route.Resource, route.Target{Server: "a", Name: uri}); got != want {
			t.Errorf("%s: %t", uri, got)
		}
	}
	if !plan.Serves(route.Resource, route.Target{Server: "b", Name: "memo://one"}) {
		t.Error("another server is judged too")
	}
}

// TestNotes tells of patterns that fit nothing, of servers that are up.
func TestNotes(t *testing.T) {
	down := ready("b")
	down.State = manager.Failed
	said := shape.Server{Tools: names(shape.Filter{Allow: []string{"read", "raed"}, Deny: []string{"delete_*"}}), Resources: shape.Filter{Deny: []string{"memo://n/*", "file:*"}}}
	got := shape.New(map[string]shape.Server{"a": said, "b": said}).Notes([]upstream.Snapshot{ready("a", "read"), down})
	want := []string{
		`server "a": the pattern "raed" fits no tool that it lists`,
		`server "a": the pattern "delete_*" fits no tool that it lists`,
		`server "a": the pattern "file:*" fits no resource that it lists`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// TestOnDown shows what is listed of a server that is down, and when no list is given at all.
func TestOnDown(t *testing.T) {
	for _, tc := range []struct {
		onDown shape.OnDown
		state  manager.State
		shown  string
		whole  string // "" for a list that may be given
	}{
		{"", manager.Failed, "x", ""},
		{shape.Keep, manager.Connecting, "x", ""},
		{shape.Hide, manager.Failed, "", ""},
		{shape.Hide, manager.Connecting, "", ""},
		{shape.Hide, manager.Degraded, "x", ""},
		{shape.Fail, manager.Failed, "x", `the list would not be whole, since server "a" is down; try again later`},
		{shape.Fail, manager.Ready, "x", ""},
	} {
		snap := ready("a", "x")
		snap.State = tc.state
		plan := shape.New(map[string]shape.Server{"a": {OnDown: tc.onDown}})
		snaps := []upstream.Snapshot{snap, ready("b")}
		if got := keys(plan.Shape(snaps)[0].Lists.Tools); got != tc.shown {
			t.Errorf("%q, %s: %q is shown", tc.onDown, tc.state, got)
		}
		said := ""
		if err := plan.Whole(snaps); err != nil {
			said = err.Error()
		}
		if said != tc.whole {
			t.Errorf("%q, %s: %q", tc.onDown, tc.state, said)
		}
		if err := plan.Bundle(shape.Bundle{Servers: []string{"b"}}).Whole(snaps); err != nil {
			t.Errorf("a bundle without it: %v", err)
		}
		if got, want := plan.Waits(), tc.onDown == shape.Hide || tc.onDown == shape.Fail; got != want {
			t.Errorf("%q: it goes by states: %t", tc.onDown, got)
		}
	}
}
