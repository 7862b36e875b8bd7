package bridge_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/bridge"
	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/skills"
)

// skilled is a modern server with the skill kitchen/tea, as every such server has, and one of its own.
func skilled(t *testing.T, name string, http bool) backend {
	t.Helper()
	manifest := func(skill string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("---\nname: " + skill + "\ndescription: " + skill + " of " + name + "\n---\nHow " + name + " does it.\n")}
	}
	set, err := skills.Load(fstest.MapFS{
		"tea/SKILL.md": manifest("tea"), "tea/kinds/green.md": {Data: []byte("green, says " + name)},
		name + "/SKILL.md": manifest(name), name + "/more.md": {Data: []byte("more of " + name)},
	}, skills.Options{Prefix: "kitchen", PageSize: 1})
	if err != nil {
		t.Fatal(err)
	}
	return backend{
		name: name, modern: true, http: http, opts: server.Options{Extensions: []mcp.Extension{skills.Extension()}},
		fill: func(s *server.Server) { skills.Serve(s, set) },
	}
}

// TestSkillsOfTwins holds that a client finds the skills of all servers, with files that are what their entries say, where two
// servers have a skill under the same address; and what stands in their folders.
func TestSkillsOfTwins(t *testing.T) {
	for _, http := range []bool{false, true} {
		t.Run(map[bool]string{false: "pipe", true: "http"}[http], func(t *testing.T) {
			w := newWorld(t, route.Naming{}, skilled(t, "a", http), backend{name: "plain", fill: everything(nil)}, skilled(t, "b", http))
			dial := w.dial
			if http {
				dial = w.dialHTTP
			}
			c := dial(t, true, client.Options{Extensions: []mcp.Extension{skills.Extension()}})
			reader := skills.NewClient(c, func(err error) { t.Error(err) })
			var found []string
			for skill, err := range reader.List(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				owner := skill.Description()[strings.LastIndex(skill.Description(), " ")+1:]
				found = append(found, skill.Name()+" of "+owner)
				opened, err := reader.Open(t.Context(), skill)
				if err != nil || !strings.Contains(string(opened.Manifest), "How "+owner+" does it.") {
					t.Fatalf("%s: %v", skill.URI, err)
				}
				for _, f := range skill.Files {
					content, err := opened.Read(t.Context(), f.URI)
					if err != nil || !strings.Contains(string(content), owner) {
						t.Errorf("%s: %q, %v", f.URI, content, err)
					}
				}
				again, err := reader.Get(t.Context(), skill.URI)
				if err != nil || !slices.Equal(again.Files, skill.Files) {
					t.Errorf("%s: got %+v, %v", skill.URI, again, err)
				}
				checkFolder(t, c, skill)
			}
			slices.Sort(found)
			if want := "[a of a b of b tea of a tea of b]"; fmt.Sprint(found) != want {
				t.Errorf("found %v, want %s", found, want)
			}
		})
	}
}

// checkFolder holds that a folder of a skill, and those below it, hold the files of its entry.
func checkFolder(t *testing.T, c *client.Client, skill skills.Skill) {
	t.Helper()
	var files []string
	folders := []string{skill.Root()}
	for len(folders) > 0 {
		params := skills.ReadDirectoryParams{URI: folders[0]}
		folders = folders[1:]
		for {
			page, err := client.Request[mcp.ListResourcesResult](t.Context(), c, skills.MethodReadDirectory, params)
			if err != nil {
				t.Errorf("%s: %v", params.URI, err)
				return
			}
			for _, r := range page.Resources {
				if r.MIMEType == skills.DirectoryType {
					folders = append(folders, r.URI)
				} else {
					files = append(files, r.URI)
				}
			}
			if params.Cursor = page.NextCursor; params.Cursor == nil {
				break
			}
		}
	}
	var want []string
	for _, f := range skill.Files {
		want = append(want, f.URI)
	}
	slices.Sort(files)
	slices.Sort(want)
	if !slices.Equal(files, want) {
		t.Errorf("%s holds %v, its entry says %v", skill.Root(), files, want)
	}
}

// TestSkillsForLegacyClients holds that the files of skills are resources like others for those who know nothing of skills.
func TestSkillsForLegacyClients(t *testing.T) {
	w := newWorld(t, route.Naming{}, skilled(t, "a", false), skilled(t, "b", false))
	c := w.dial(t, false, client.Options{})
	seen := ""
	for r, err := range c.Resources(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(r.URI, "tea/kinds") {
			continue
		}
		result, err := c.ReadResource(t.Context(), r.URI)
		if err != nil {
			t.Fatal(err)
		}
		seen += result.Contents[0].Text + ". "
	}
	if seen != "green, says a. green, says b. " {
		t.Errorf("read %s", seen)
	}
	if f := fault(t, c, skills.MethodList, `{}`); f.Code != mcp.CodeMethodNotFound {
		t.Errorf("got %v", f)
	}
}

// TestSkillsThatCannotBeFound holds what is said of addresses and cursors that are none, and that a server which does not answer
// does not hide the skills of others.
func TestSkillsThatCannotBeFound(t *testing.T) {
	away := skilled(t, "away", false)
	serve := away.fill
	away.fill = func(s *server.Server) {
		serve(s)
		s.Handle(skills.MethodList, func(context.Context, *server.Request) (*server.RawResult, error) { return nil, errors.New("not today") })
	}
	w := newWorld(t, route.Naming{}, away, skilled(t, "b", false))
	c := w.dial(t, true, client.Options{})
	for _, ask := range []struct{ method, params, want string }{
		{skills.MethodGet, `{"uri":"skill://nowhere/SKILL.md"}`, "no server has a skill or a folder of one at skill://nowhere/SKILL.md"},
		{skills.MethodGet, `{}`, "no server has a skill"},
		{skills.MethodGet, `{"uri":"skill://rialto+b/kitchen/none/SKILL.md"}`, "no skill is served at"},
		{skills.MethodReadDirectory, `{"uri":"skill://nowhere"}`, "no server has a skill or a folder of one at skill://nowhere"},
		{skills.MethodList, `{"cursor":"!"}`, "the cursor is none of skills/list"},
		{skills.MethodList, `{"cursor":7}`, "the cursor is none of skills/list"},
		{skills.MethodList, `{"cursor":"eyJzIjoiZ29uZSJ9"}`, "the cursor is none of skills/list"},
	} {
		if f := fault(t, c, ask.method, ask.params); f.Code != mcp.CodeInvalidParams && f.Code != mcp.CodeResourceNotFound || !strings.Contains(f.Message, ask.want) {
			t.Errorf("%s %s: got %v", ask.method, ask.params, f)
		}
	}
	var names []string
	for skill, err := range skills.NewClient(c, nil).List(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, skill.Name())
	}
	if slices.Sort(names); fmt.Sprint(names) != "[b tea]" {
		t.Errorf("found %v", names)
	}
}

// TestSkillsOutOfSight holds that a skill is not there for a caller who may not see its SKILL.md.
func TestSkillsOutOfSight(t *testing.T) {
	rules := bridge.Rules{Sight: func(req *server.Request) bridge.Sight {
		if req.Principal() == nil || req.Principal().Subject != "bob" {
			return bridge.Sight{}
		}
		return bridge.Sight{Key: "bob", Shows: func(_ route.Kind, to route.Target) bool {
			return !strings.HasPrefix(to.Name, "skill://kitchen/tea") && to.Name != "skill://kitchen/a/more.md"
		}}
	}}
	w := newWorldWith(t, bridge.Options{Rules: rules, Server: server.Options{HTTP: byName}}, skilled(t, "a", false))
	for who, want := range map[string]string{"ann": "[a tea]", "bob": "[a]"} {
		c := w.dialAs(t, true, who, client.Options{})
		var names []string
		for skill, err := range skills.NewClient(c, nil).List(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, skill.Name())
		}
		if slices.Sort(names); fmt.Sprint(names) != want {
			t.Errorf("%s finds %v, want %s", who, names, want)
		}
		_, err := skills.NewClient(c, nil).Get(t.Context(), "skill://kitchen/tea/SKILL.md")
		if (err == nil) != (who == "ann") {
			t.Errorf("%s gets: %v", who, err)
		}
		first, err := client.Request[mcp.ListResourcesResult](t.Context(), c, skills.MethodReadDirectory, skills.ReadDirectoryParams{URI: "skill://kitchen/a"})
		if err != nil || first.NextCursor == nil {
			t.Fatalf("%s: %+v, %v", who, first, err)
		}
		second, err := client.Request[mcp.ListResourcesResult](t.Context(), c, skills.MethodReadDirectory, skills.ReadDirectoryParams{URI: "skill://kitchen/a", Cursor: first.NextCursor})
		if n := len(first.Resources) + len(second.Resources); err != nil || n != map[string]int{"ann": 2, "bob": 1}[who] {
			t.Errorf("%s finds %d files in the folder, %v", who, n, err)
		}
	}
}
