package skills

import (
	"context"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/mcptest"
	"github.com/rialto-mcp/rialto/server"
)

const (
	tidyURI  = "skill://acme/tidy/SKILL.md"
	notesURI = "skill://acme/tidy/notes/FORMS.md"
	tidyFile = "---\nname: tidy\ndescription: >\n  Keeps a\n  desk tidy\ntags: [desk, \"order\"]\n---\nPut things away.\n"
	notes    = "Forms go to the left.\n"
	matter   = `{"name":"tidy","description":"Keeps a desk tidy\n","tags":["desk","order"]}`
)

// tidy is an entry that fits the two files above.
func tidy() Skill {
	return Skill{URI: tidyURI, FrontMatter: stdjson.RawMessage(matter), Files: []File{
		{URI: tidyURI, Digest: Digest([]byte(tidyFile)), Size: int64(len(tidyFile))},
		{URI: notesURI, Digest: Digest([]byte(notes)), Size: int64(len(notes))},
	}}
}

// shelf is a server of hand-made answers, which notes what files are read.
type shelf struct {
	*server.Server
	mu    sync.Mutex
	files map[string]string
	reads []string
	pages []string // results of skills/list; the cursor is the number of the page
}

func newShelf() *shelf {
	s := &shelf{
		Server: server.New(mcp.Implementation{Name: "shelf", Version: "1"}, server.Options{Extensions: []mcp.Extension{Extension()}}),
		files:  map[string]string{tidyURI: tidyFile, notesURI: notes},
	}
	for _, uri := range []string{tidyURI, notesURI} {
		s.AddResource(mcp.Resource{URI: uri, Name: uri}, func(_ context.Context, req *server.Request) (*mcp.ReadResourceResult, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.reads = append(s.reads, uri)
			return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{mcp.TextResource(uri, ManifestType, s.files[uri])}}, nil
		})
	}
	s.Handle(MethodList, func(_ context.Context, req *server.Request) (*server.RawResult, error) {
		at := 0
		if cursor, ok := mcp.Meta(req.Params()).Text("cursor"); ok {
			fmt.Sscan(cursor, &at)
		}
		return &server.RawResult{Result: stdjson.RawMessage(s.pages[at])}, nil
	})
	s.Handle(MethodGet, func(_ context.Context, req *server.Request) (*server.RawResult, error) {
		entry := tidy()
		if uri, _ := mcp.Meta(req.Params()).Text("uri"); uri != tidyURI {
			if uri != "skill://acme/other/SKILL.md" {
				return nil, unknownSkill(uri)
			}
		}
		raw, err := stdjson.Marshal(GetResult{Skill: entry})
		return &server.RawResult{Result: raw}, err
	})
	return s
}

func entryOf(t *testing.T, s Skill) string {
	t.Helper()
	raw, err := stdjson.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// A host lists, opens and reads; each file is read when it is asked for and not before.
func TestClientReadsWhenAsked(t *testing.T) {
	for _, wire := range mcptest.Wires() {
		t.Run(wire.Name, func(t *testing.T) {
			s := newShelf()
			other := strings.ReplaceAll(entryOf(t, tidy()), "acme", "other")
			s.pages = []string{
				`{"skills":[` + entryOf(t, tidy()) + `,{"uri":7}],"nextCursor":"1"}`,
				`{"skills":[],"nextCursor":"2"}`,
				`{"skills":[` + other + `,` + entryOf(t, tidy()) + `],"nextCursor":"1"}`,
			}
			var faults []string
			c := NewClient(wire.Dial(t, s.Server), func(err error) { faults = append(faults, err.Error()) })
			if !wire.Modern { // the extension is of the modern era
				for _, err := range c.List(t.Context()) {
					if !errors.Is(err, mcp.CodeCapabilityNotSupported) {
						t.Errorf("list: %v", err)
					}
				}
				if _, err := c.Get(t.Context(), tidyURI); !errors.Is(err, mcp.CodeCapabilityNotSupported) {
					t.Errorf("get: %v", err)
				}
				return
			}
			var all []Skill
			for skill, err := range c.List(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, skill)
			}
			if len(all) != 2 || all[0].Name() != "tidy" || all[0].Description() != "Keeps a desk tidy\n" {
				t.Fatalf("listed are %+v", all)
			}
			for i, want := range []string{"left out an entry", "the second entry", "repeats the cursor"} {
				if len(faults) != 3 || !strings.Contains(faults[i], want) {
					t.Fatalf("faults are %q", faults)
				}
			}
			if len(s.reads) > 0 {
				t.Errorf("listing has read %q", s.reads)
			}
			opened, err := c.Open(t.Context(), all[0])
			if err != nil || string(opened.Manifest) != tidyFile {
				t.Fatalf("open: %v", err)
			}
			if got := fmt.Sprint(s.reads); got != "["+tidyURI+"]" {
				t.Errorf("opening has read %s", got)
			}
			if content, err := opened.Read(t.Context(), notesURI); err != nil || string(content) != notes {
				t.Errorf("read: %q, %v", content, err)
			}
			for _, uri := range []string{"skill://acme/other/SKILL.md", "skill://acme/tidy/none.md", "file:///etc/passwd"} {
				if _, err := opened.Read(t.Context(), uri); err == nil || !strings.Contains(err.Error(), "no file of the skill") {
					t.Errorf("%s: %v", uri, err)
				}
			}
			if len(s.reads) != 2 {
				t.Errorf("read were %q", s.reads)
			}
		})
	}
}

func TestClientGet(t *testing.T) {
	s := newShelf()
	c := NewClient(mcptest.Pair(t, s.Server), nil)
	if skill, err := c.Get(t.Context(), tidyURI); err != nil || len(skill.Files) != 2 {
		t.Errorf("got %+v, %v", skill, err)
	}
	if _, err := c.Get(t.Context(), "skill://none/SKILL.md"); !errors.Is(err, mcp.CodeResourceNotFound) {
		t.Errorf("a skill that is none: %v", err)
	}
	if _, err := c.Get(t.Context(), "skill://acme/other/SKILL.md"); err == nil || !strings.Contains(err.Error(), "has answered with") {
		t.Errorf("another skill than asked for: %v", err)
	}
}

// What is not what its entry says is not handed over, and nothing further of it is read.
func TestClientRefusesWhatIsChanged(t *testing.T) {
	evil := strings.Replace(tidyFile, "Put things away", "Put them on eBay", 1)
	cases := []struct {
		name   string
		change func(s *shelf, entry *Skill)
		fault  string
		reads  int
	}{
		{"digest", func(s *shelf, e *Skill) { s.files[tidyURI] = evil; e.Files[0].Size = int64(len(evil)) }, "digest", 1},
		{"size", func(s *shelf, _ *Skill) { s.files[tidyURI] += "and more\n" }, "bytes", 1},
		{"front matter", func(s *shelf, e *Skill) {
			e.FrontMatter = stdjson.RawMessage(strings.Replace(matter, "desk tidy", "desk clean", 1))
		}, "front matter", 1},
		{"a member of the front matter", func(s *shelf, e *Skill) {
			e.FrontMatter = stdjson.RawMessage(strings.Replace(matter, `,"tags":["desk","order"]`, "", 1))
		}, "front matter", 1},
		{"dynamic, front matter", func(s *shelf, e *Skill) {
			e.Dynamic, e.Files = true, nil
			s.files[tidyURI] = strings.Replace(tidyFile, "Keeps", "Leaves", 1)
		}, "front matter", 1},
		{"a file elsewhere", func(_ *shelf, e *Skill) { e.Files[1].URI = "skill://acme/tidy/../other/x.md" }, "folder", 0},
		{"no SKILL.md among the files", func(_ *shelf, e *Skill) { e.Files = e.Files[1:] }, "SKILL.md", 0},
		{"too many files", func(_ *shelf, e *Skill) {
			for i := range MaxFiles {
				e.Files = append(e.Files, File{URI: fmt.Sprintf("skill://acme/tidy/%d", i), Digest: e.Files[0].Digest})
			}
		}, "more than", 0},
		{"too large", func(_ *shelf, e *Skill) { e.Files[1].Size = 1<<63 - 1 }, "more than", 0},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			s, entry := newShelf(), tidy()
			tc.change(s, &entry)
			c := NewClient(mcptest.Pair(t, s.Server), nil)
			opened, err := c.Open(t.Context(), entry)
			if err == nil || opened != nil || !strings.Contains(err.Error(), tc.fault) {
				t.Errorf("got %v, %v; want %q", opened, err, tc.fault)
			}
			if len(s.reads) != tc.reads {
				t.Errorf("read were %q", s.reads)
			}
		})
	}
	t.Run("another file", func(t *testing.T) {
		s := newShelf()
		opened, err := NewClient(mcptest.Pair(t, s.Server), nil).Open(t.Context(), tidy())
		if err != nil {
			t.Fatal(err)
		}
		s.files[notesURI] = "Forms go to the dump.\n"
		if content, err := opened.Read(t.Context(), notesURI); err == nil || content != nil || !strings.Contains(err.Error(), "digest") {
			t.Errorf("got %q, %v", content, err)
		}
	})
}

// A skill whose files are made when they are read has no digests; its files stay in its folder.
func TestClientDynamic(t *testing.T) {
	s, entry := newShelf(), tidy()
	entry.Dynamic, entry.Files = true, nil
	opened, err := NewClient(mcptest.Pair(t, s.Server), nil).Open(t.Context(), entry, client.CallOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if content, err := opened.Read(t.Context(), notesURI); err != nil || string(content) != notes {
		t.Errorf("got %q, %v", content, err)
	}
	for _, uri := range []string{"skill://acme/other/x.md", "skill://acme/tidy/../x.md", "skill://acme/tidy/%2e%2e/x.md"} {
		if _, err := opened.Read(t.Context(), uri); err == nil || !strings.Contains(err.Error(), "folder") {
			t.Errorf("%s: %v", uri, err)
		}
	}
}
