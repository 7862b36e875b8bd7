package app

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/gateway/config"
	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/manager"
)

// TestEverySettingIsKnown changes one thing of a configuration after the other: none of them changes unseen.
func TestEverySettingIsKnown(t *testing.T) {
	elsewhere := []string{"Servers", "Inputs", "Names", "Source", "Reserved", "Warnings", "entries", "unused"} // no settings of the gateway's section
	known := make(map[string]bool)
	// visit changes each thing in a value of a type; in tells which configuration has that value in it.
	var visit func(v reflect.Type, name string, in func(edit func(reflect.Value)) *config.Config)
	visit = func(v reflect.Type, name string, in func(edit func(reflect.Value)) *config.Config) {
		switch {
		case slices.Contains(elsewhere, name):
			return
		case v.Kind() == reflect.Struct:
			for i := range v.NumField() {
				visit(v.Field(i).Type, v.Field(i).Name, func(edit func(reflect.Value)) *config.Config {
					return in(func(whole reflect.Value) { edit(whole.Field(i)) })
				})
			}
			return
		case v == reflect.TypeFor[map[string]config.ServerSettings]():
			visit(v.Elem(), name, func(edit func(reflect.Value)) *config.Config {
				one := reflect.New(v.Elem()).Elem()
				edit(one)
				return in(func(field reflect.Value) {
					field.Set(reflect.ValueOf(map[string]config.ServerSettings{"a": one.Interface().(config.ServerSettings)}))
				})
			})
			return
		}
		next := in(func(field reflect.Value) { field.Set(other(t, field)) })
		var found []string
		for _, s := range settings {
			if s.differ(config.Default(), next) {
				found = append(found, s.name)
				known[s.name] = true
			}
		}
		if len(found) != 1 {
			t.Errorf("%s: found as %q", name, found)
		}
	}
	visit(reflect.TypeFor[config.Config](), "", func(edit func(reflect.Value)) *config.Config {
		c := config.Default()
		edit(reflect.ValueOf(c).Elem())
		return c
	})
	for _, s := range settings {
		if !known[s.name] {
			t.Errorf("%s is no thing of a configuration", s.name)
		}
	}
}

// other is a value different from the one that is there.
func other(t *testing.T, v reflect.Value) reflect.Value {
	switch out := reflect.New(v.Type()).Elem(); v.Kind() {
	case reflect.String:
		out.SetString(v.String() + "x")
		return out
	case reflect.Int, reflect.Int64:
		out.SetInt(v.Int() + 1)
		return out
	case reflect.Float64:
		out.SetFloat(v.Float() + 1)
		return out
	case reflect.Bool:
		out.SetBool(!v.Bool())
		return out
	case reflect.Pointer:
		return reflect.New(v.Type().Elem())
	case reflect.Slice:
		return reflect.Append(v, reflect.New(v.Type().Elem()).Elem())
	case reflect.Map:
		out = reflect.MakeMap(v.Type())
		out.SetMapIndex(reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem())
		return out
	}
	t.Fatalf("there is no other %s here", v.Type())
	return v
}

func TestChangedInWords(t *testing.T) {
	conf := func(edit func(*config.Config)) *config.Config {
		c := config.Default()
		c.Servers = []manager.Server{{Name: "a", Command: "a"}, {Name: "b", Command: "b"}}
		edit(c)
		return c
	}
	old := conf(func(*config.Config) {})
	for _, tc := range []struct {
		name    string
		edit    func(*config.Config)
		servers manager.Changes
		now     string
		later   string
	}{
		{"nothing", func(*config.Config) {}, manager.Changes{Kept: []string{"a", "b"}}, "nothing that the gateway uses is different", "[]"},
		{"servers", func(c *config.Config) { c.Servers[1].Name = "c" },
			manager.Changes{Added: []string{"c"}, Removed: []string{"b"}, Changed: []string{"a"}}, "added c; removed b; changed a", "[]"},
		{"tools of a server", func(c *config.Config) { c.Servers[1].DisabledTools = []string{"x"} }, manager.Changes{Kept: []string{"a", "b"}}, "changed b", "[]"},
		{"the order", func(c *config.Config) { c.Servers[0], c.Servers[1] = c.Servers[1], c.Servers[0] },
			manager.Changes{Kept: []string{"b", "a"}}, "the order of servers", "[]"},
		{"settings", func(c *config.Config) { c.CallTimeout, c.Naming.Mode = time.Second, route.Always }, manager.Changes{Kept: []string{"a", "b"}}, "settings prefix, callTimeout", "[]"},
		{"an address", func(c *config.Config) { c.Listen, c.Path = "localhost:1", "/x" }, manager.Changes{Kept: []string{"a", "b"}}, "settings listen, path", "[]"},
		{"settings for the next start", func(c *config.Config) { c.RequireAll = true }, manager.Changes{Kept: []string{"a", "b"}}, "", "[requireAll]"},
	} {
		now, later := changed(old, old, conf(tc.edit), tc.servers)
		if now != tc.now || fmt.Sprint(later) != tc.later {
			t.Errorf("%s: %q and %q", tc.name, now, later)
		}
	}
	other := conf(func(c *config.Config) { c.RequireAll = true })
	if now, later := changed(old, other, old, manager.Changes{}); later != nil {
		t.Errorf("back at what it began with: %q and %q", now, later)
	}
	moved := conf(func(c *config.Config) { c.Listen, c.Path = "localhost:1", "/x" })
	if now, later := changed(old, old, moved, manager.Changes{Kept: []string{"a", "b"}}, "listen"); now != "settings path" || later != nil {
		t.Errorf("listen is not used: %q and %q", now, later)
	}
	if got := sentence([]string{"a"}) + "; " + sentence([]string{"a", "b"}) + "; " + sentence([]string{"a", "b", "c"}); got != "a; a and b; a, b and c" {
		t.Error(got)
	}
}
