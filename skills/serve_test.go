package skills_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/mcptest"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/skills"
)

// library are a skill with a folder and a binary file, one made when it is read, and one that is not listed.
func library(t testing.TB, o skills.Options) *skills.Set {
	t.Helper()
	made := func(_ context.Context, req *server.Request) ([]byte, error) {
		return []byte("made for " + req.Name()), nil
	}
	set, err := skills.New(o,
		skills.Source{Path: "docs/git", Files: map[string][]byte{
			"SKILL.md": manifest("git"), "refs/a b.md": []byte("# A\n"), "refs/deep/c.txt": []byte("c"), "logo.png": {0x89, 'P', 0xFF},
		}},
		skills.Source{Path: "daily", Files: map[string][]byte{"SKILL.md": manifest("daily")}, Made: map[string]skills.Maker{"today.txt": made}},
		skills.Source{Path: "quiet", Files: map[string][]byte{"SKILL.md": manifest("quiet")}, Unlisted: true},
	)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func serve(t testing.TB, o server.Options, set *skills.Set) (*server.Server, *skills.Service) {
	t.Helper()
	o.Extensions = []mcp.Extension{skills.Extension()}
	s := server.New(mcp.Implementation{Name: "library", Version: "1"}, o)
	return s, skills.Serve(s, set)
}

// ask sends a request of the extension and decodes its result.
func ask[T any](t testing.TB, c *client.Client, method, params string) (T, *client.RawResult) {
	t.Helper()
	var into T
	res, err := c.Raw(t.Context(), method, json.RawMessage(params), client.RawOptions{})
	if err != nil {
		t.Fatalf("%s %s: %v", method, params, err)
	}
	if err := json.Unmarshal(res.Result, &into); err != nil {
		t.Fatalf("%s %s: %v", method, params, err)
	}
	return into, res
}

func refused(t testing.TB, c *client.Client, code mcp.Code, method, params string) {
	t.Helper()
	_, err := c.Raw(t.Context(), method, json.RawMessage(params), client.RawOptions{})
	if errors.Is(err, mcp.CodeResourceNotFound) { // what the client makes of -32602 that names the URI
		err = mcp.InvalidParams("%v", err)
	}
	if !errors.Is(err, code) {
		t.Errorf("%s %s: the error is %v, want code %d", method, params, err, code)
	}
}

// TestSkillsOnEveryWire lists, gets and reads skills on the modern era, where the extension is. On the legacy one its methods
// do not exist, and the files are ordinary resources.
func TestSkillsOnEveryWire(t *testing.T) {
	s, _ := serve(t, server.Options{}, library(t, skills.Options{Cache: mcp.CacheFor(time.Minute, mcp.CachePublic)}))
	for _, wire := range mcptest.Wires() {
		t.Run(wire.Name, func(t *testing.T) {
			c := wire.Dial(t, s)
			files(t, c)
			settings, offered := skills.SettingsOf(c.ServerCapabilities())
			if offered != wire.Modern || settings.DirectoryRead != wire.Modern {
				t.Errorf("the server declares %+v, %v", settings, offered)
			}
			if wire.Modern {
				methods(t, c)
				return
			}
			for _, method := range []string{skills.MethodList, skills.MethodGet, skills.MethodReadDirectory} {
				refused(t, c, mcp.CodeMethodNotFound, method, `{"uri":"skill://docs/git/SKILL.md"}`)
			}
		})
	}
}

// files are what any client sees.
func files(t *testing.T, c *client.Client) {
	t.Helper()
	seen := map[string]mcp.Resource{}
	for r, err := range c.Resources(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		seen[r.URI] = r
	}
	m := seen["skill://docs/git/SKILL.md"]
	if len(seen) != 7 || m.Name != "git" || m.Description != "What git is for" || m.MIMEType != "text/markdown" || m.Size == nil {
		t.Errorf("there are %d resources, and the manifest is %+v", len(seen), m)
	}
	for uri, want := range map[string]string{
		"skill://docs/git/SKILL.md":      string(manifest("git")),
		"skill://docs/git/refs/a%20b.md": "# A\n",
		"skill://docs/git/logo.png":      "\x89P\xff",
		"skill://daily/today.txt":        "made for skill://daily/today.txt",
		"skill://quiet/SKILL.md":         string(manifest("quiet")),
	} {
		res, err := c.ReadResource(t.Context(), uri)
		if err != nil {
			t.Fatal(err)
		}
		if got := res.Contents[0]; got.Text+string(got.Blob) != want || got.MIMEType != seen[uri].MIMEType {
			t.Errorf("%s is %+v, want %q", uri, got, want)
		}
	}
	for _, uri := range []string{"skill://docs/git/../git/SKILL.md", "skill://docs/git/%2e%2e/git/SKILL.md", "skill://docs/git", "skill://docs/git/refs/a b.md"} {
		if _, err := c.ReadResource(t.Context(), uri); err == nil {
			t.Errorf("%s could be read", uri)
		}
	}
}

func methods(t *testing.T, c *client.Client) {
	t.Helper()
	list, raw := ask[skills.ListResult](t, c, skills.MethodList, `{}`)
	if len(list.Skills) != 2 || list.Skills[0].URI != "skill://daily/SKILL.md" || !list.Skills[0].Dynamic || list.NextCursor != nil {
		t.Fatalf("the list is %+v", list)
	}
	if !strings.Contains(string(raw.Result), `"ttlMs":60000`) || !strings.Contains(string(raw.Result), `"cacheScope":"public"`) {
		t.Errorf("the list has no cache hints: %s", raw.Result)
	}
	git := list.Skills[1]
	if err := git.Check(); err != nil {
		t.Error(err)
	}
	for _, f := range git.Files {
		res, err := c.ReadResource(t.Context(), f.URI)
		if err != nil {
			t.Fatal(err)
		}
		if err := git.Verify(f.URI, []byte(res.Contents[0].Text+string(res.Contents[0].Blob))); err != nil {
			t.Error(err)
		}
	}
	got, raw := ask[skills.GetResult](t, c, skills.MethodGet, `{"uri":"skill://quiet/SKILL.md"}`)
	if got.Skill.Name() != "quiet" || !strings.Contains(string(raw.Result), `"ttlMs":60000`) {
		t.Errorf("the unlisted skill is %s", raw.Result)
	}
	for _, uri := range []string{`"skill://nobody/SKILL.md"`, `"skill://docs/git"`, `"skill://docs/git/refs/a%20b.md"`, `""`, `7`, `null`} {
		refused(t, c, mcp.CodeInvalidParams, skills.MethodGet, `{"uri":`+uri+`}`)
		if uri != `"skill://docs/git"` {
			refused(t, c, mcp.CodeInvalidParams, skills.MethodReadDirectory, `{"uri":`+uri+`}`)
		}
	}
	refused(t, c, mcp.CodeInvalidParams, skills.MethodGet, `{}`)
	refused(t, c, mcp.CodeInvalidParams, skills.MethodList, `{"cursor":"?"}`)
	refused(t, c, mcp.CodeInvalidParams, skills.MethodReadDirectory, `{"uri":"skill://docs"}`)
	folder, _ := ask[mcp.ListResourcesResult](t, c, skills.MethodReadDirectory, `{"uri":"skill://docs/git"}`)
	var names []string
	for _, r := range folder.Resources {
		names = append(names, r.Name+" "+r.MIMEType)
	}
	if want := []string{"git text/markdown", "logo.png image/png", "refs inode/directory"}; !slices.Equal(names, want) {
		t.Errorf("the folder holds %q, want %q", names, want)
	}
}

// TestSkillPages walks through lists page by page, while entries come and go.
func TestSkillPages(t *testing.T) {
	build := func(names ...string) *skills.Set {
		var sources []skills.Source
		for _, name := range names {
			sources = append(sources, skills.Source{Path: name, Files: map[string][]byte{"SKILL.md": manifest(name), "a": nil, "b": nil}})
		}
		set, err := skills.New(skills.Options{PageSize: 2}, sources...)
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	s, service := serve(t, server.Options{}, build("a", "b", "c", "d", "e"))
	c := mcptest.Pair(t, s)
	var got []string
	params := `{}`
	for range 10 {
		list, _ := ask[skills.ListResult](t, c, skills.MethodList, params)
		for _, one := range list.Skills {
			got = append(got, one.Name())
		}
		if list.NextCursor == nil {
			break
		}
		params = fmt.Sprintf(`{"cursor":%q}`, *list.NextCursor)
		service.Replace(build("a", "aa", "c", "d", "e")) // what the cursor names is gone, and a new one stands before it
	}
	if want := []string{"a", "b", "c", "d", "e"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	first, _ := ask[mcp.ListResourcesResult](t, c, skills.MethodReadDirectory, `{"uri":"skill://aa"}`)
	if len(first.Resources) != 2 || first.NextCursor == nil {
		t.Fatalf("the first page of the folder is %+v", first)
	}
	rest, _ := ask[mcp.ListResourcesResult](t, c, skills.MethodReadDirectory, fmt.Sprintf(`{"uri":"skill://aa","cursor":%q}`, *first.NextCursor))
	if len(rest.Resources) != 1 || rest.NextCursor != nil || service.Set().Skills()[1].Name() != "aa" {
		t.Errorf("the second page of the folder is %+v", rest)
	}
}

// TestSkillPagesHaveASize ends a page of large entries early.
func TestSkillPagesHaveASize(t *testing.T) {
	var sources []skills.Source
	for i := range 4 {
		name := fmt.Sprintf("large-%d", i)
		files := map[string][]byte{"SKILL.md": manifest(name)}
		for j := range 500 {
			files[strings.Repeat("n", 1000)+fmt.Sprint(j)] = nil
		}
		sources = append(sources, skills.Source{Path: name, Files: files})
	}
	set, err := skills.New(skills.Options{}, sources...)
	if err != nil {
		t.Fatal(err)
	}
	s, _ := serve(t, server.Options{}, set)
	list, raw := ask[skills.ListResult](t, mcptest.Pair(t, s), skills.MethodList, `{}`)
	if len(list.Skills) != 1 || list.NextCursor == nil || len(raw.Result) > 2<<20 {
		t.Errorf("the first page has %d skills in %d bytes", len(list.Skills), len(raw.Result))
	}
}

// TestSkillsThatAreHidden holds that nothing names what Options.Visible hides.
func TestSkillsThatAreHidden(t *testing.T) {
	hide := func(_ context.Context, _ server.Caller, _ server.ListKind, name string) bool {
		return !strings.HasPrefix(name, "skill://docs/") && name != "skill://daily/today.txt"
	}
	s, _ := serve(t, server.Options{Visible: hide}, library(t, skills.Options{Cache: mcp.CacheFor(time.Minute, mcp.CachePublic)}))
	c := mcptest.Pair(t, s)
	list, raw := ask[skills.ListResult](t, c, skills.MethodList, `{}`)
	if len(list.Skills) != 1 || list.Skills[0].Name() != "daily" || !strings.Contains(string(raw.Result), `"cacheScope":"private"`) {
		t.Errorf("the list is %s", raw.Result)
	}
	refused(t, c, mcp.CodeInvalidParams, skills.MethodGet, `{"uri":"skill://docs/git/SKILL.md"}`)
	refused(t, c, mcp.CodeInvalidParams, skills.MethodReadDirectory, `{"uri":"skill://docs/git"}`)
	refused(t, c, mcp.CodeInvalidParams, skills.MethodReadDirectory, `{"uri":"skill://docs/git/refs"}`)
	folder, _ := ask[mcp.ListResourcesResult](t, c, skills.MethodReadDirectory, `{"uri":"skill://daily"}`)
	if len(folder.Resources) != 1 {
		t.Errorf("the folder holds %+v", folder.Resources)
	}
}

// TestReplace serves other skills in place of those before.
func TestReplace(t *testing.T) {
	one := func(description string, files map[string][]byte) *skills.Set {
		files["SKILL.md"] = []byte("---\nname: a\ndescription: " + description + "\n---\n")
		set, err := skills.New(skills.Options{}, skills.Source{Path: "a", Files: files})
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	for _, wire := range mcptest.Wires() {
		t.Run(wire.Name, func(t *testing.T) {
			s, service := serve(t, server.Options{}, one("first", map[string][]byte{"old": nil, "same": []byte("s"), "other": []byte("1")}))
			c := wire.Dial(t, s)
			service.Replace(one("second", map[string][]byte{"new": []byte("n"), "same": []byte("s"), "other": []byte("2")}))
			for uri, want := range map[string]string{"skill://a/new": "n", "skill://a/same": "s", "skill://a/other": "2"} {
				res, err := c.ReadResource(t.Context(), uri)
				if err != nil || res.Contents[0].Text != want {
					t.Errorf("%s is %+v, %v", uri, res, err)
				}
			}
			if _, err := c.ReadResource(t.Context(), "skill://a/old"); err == nil {
				t.Error("a file that is gone can be read")
			}
			if got := service.Set().Skills()[0].Description(); got != "second" {
				t.Errorf("the skill is described as %q", got)
			}
		})
	}
}

func TestMadeFiles(t *testing.T) {
	maker := func(size int, err error) skills.Maker {
		return func(context.Context, *server.Request) ([]byte, error) { return make([]byte, size), err }
	}
	set, err := skills.New(skills.Options{MaxBytes: 200}, skills.Source{
		Path: "a", Files: map[string][]byte{"SKILL.md": manifest("a")},
		Made: map[string]skills.Maker{"large": maker(201, nil), "gone": maker(0, mcp.ResourceNotFound("skill://a/gone")), "none": maker(0, nil)},
	})
	if err != nil {
		t.Fatal(err)
	}
	s, _ := serve(t, server.Options{}, set)
	c := mcptest.Pair(t, s)
	for uri, code := range map[string]mcp.Code{"skill://a/large": mcp.CodeInternal, "skill://a/gone": mcp.CodeInvalidParams} {
		refused(t, c, code, mcp.MethodReadResource, `{"uri":"`+uri+`"}`)
	}
	if _, err := c.ReadResource(t.Context(), "skill://a/none"); err != nil {
		t.Error(err)
	}
}

func TestServeWithoutTheExtension(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a server that does not declare the extension serves it")
		}
	}()
	skills.Serve(server.New(mcp.Implementation{Name: "x", Version: "1"}, server.Options{}), library(t, skills.Options{}))
}
