package skills_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/skills"
)

// entry is a skill that keeps all rules.
func entry(t testing.TB) skills.Skill {
	t.Helper()
	set, err := skills.New(skills.Options{}, skills.Source{Path: "x/git", Files: map[string][]byte{
		"SKILL.md": []byte("---\nname: git\ndescription: Commit & <push>\nversion: 1.10\n---\n"), "a/b.txt": []byte("hello"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	return set.Skills()[0]
}

func TestSkillOnTheWire(t *testing.T) {
	raw, err := entry(t).MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	want := `{"uri":"skill://x/git/SKILL.md","frontmatter":{"name":"git","description":"Commit & <push>","version":1.10},` +
		`"resources":[{"uri":"skill://x/git/SKILL.md","digest":"sha256:`
	if !strings.HasPrefix(string(raw), want) {
		t.Errorf("got  %s\nwant %s...", raw, want)
	}
	for _, tc := range []struct{ name, in, fault string }{
		{"files", string(raw), ""},
		{"dynamic", `{"uri":"skill://a/SKILL.md","frontmatter":{"name":"a","description":"b"},"resources":"dynamic","x":1,"_meta":{"y":2}}`, ""},
		{"no files", `{"uri":"skill://a/SKILL.md","frontmatter":{}}`, "resources must be"},
		{"other word", `{"uri":"skill://a/SKILL.md","frontmatter":{},"resources":"static"}`, "resources must be"},
		{"null", `{"uri":"skill://a/SKILL.md","frontmatter":{},"resources":null}`, "resources must be"},
		{"bad file", `{"uri":"skill://a/SKILL.md","frontmatter":{},"resources":[{"uri":1}]}`, "resources"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var s skills.Skill
			err := json.Unmarshal([]byte(tc.in), &s)
			if tc.fault != "" {
				if err == nil || !strings.Contains(err.Error(), tc.fault) {
					t.Errorf("the error is %v, want one with %q", err, tc.fault)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Check(); err != nil {
				t.Error(err)
			}
			again, err := s.MarshalJSON()
			var a, b any
			if err != nil || json.Unmarshal(again, &a) != nil || json.Unmarshal([]byte(tc.in), &b) != nil || len(again) != len(tc.in) {
				t.Errorf("%s became %s, error %v", tc.in, again, err)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*skills.Skill)
		want   string
	}{
		{"no manifest in the URI", func(s *skills.Skill) { s.URI = "skill://x/git" }, "must end in"},
		{"no folder", func(s *skills.Skill) { s.URI = "skill:///SKILL.md" }, "must end in"},
		{"no scheme", func(s *skills.Skill) { s.URI = "x/git/SKILL.md" }, "must end in"},
		{"folder that leads up", func(s *skills.Skill) { s.URI = "skill://x/../git/SKILL.md" }, "straight there"},
		{"folder that leads up in disguise", func(s *skills.Skill) { s.URI = "skill://x/%2E./git/SKILL.md" }, "straight there"},
		{"folder behind a query", func(s *skills.Skill) { s.URI = "skill://x?y=/git/SKILL.md" }, "straight there"},
		{"no front matter", func(s *skills.Skill) { s.FrontMatter = nil }, "missing"},
		{"file outside", func(s *skills.Skill) { s.Files[0].URI = "skill://x/other" }, "not in the folder"},
		{"file that leads up", func(s *skills.Skill) { s.Files[1].URI = "skill://x/git/a/%2e%2E/b" }, "not in the folder"},
		{"file with a hidden slash", func(s *skills.Skill) { s.Files[1].URI = "skill://x/git/..%2fb" }, "not in the folder"},
		{"file with a query", func(s *skills.Skill) { s.Files[1].URI = "skill://x/git/b?c" }, "not in the folder"},
		{"twice", func(s *skills.Skill) { s.Files[1] = s.Files[0] }, "twice"},
		{"digest in capitals", func(s *skills.Skill) { s.Files[1].Digest = strings.ToUpper(s.Files[1].Digest) }, "lowercase hexadecimal"},
		{"negative size", func(s *skills.Skill) { s.Files[1].Size = -1 }, "negative"},
		{"itself missing", func(s *skills.Skill) { s.Files = s.Files[1:] }, "lacks the SKILL.md"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := entry(t)
			tc.change(&s)
			if err := s.Check(); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("the error is %v, want one with %q", err, tc.want)
			}
		})
	}
}

func TestVerify(t *testing.T) {
	const file = "skill://x/git/a/b.txt"
	for _, tc := range []struct {
		name, uri, content string
		change             func(*skills.Skill)
		want               string
	}{
		{"file", file, "hello", nil, ""},
		{"manifest, a number written otherwise", "skill://x/git/SKILL.md", "---\nname: git\ndescription: Commit & <push>\nversion: 1.10\n---\n",
			func(s *skills.Skill) {
				s.FrontMatter = json.RawMessage(`{"version":1.1,"name":"git","description":"Commit & <push>"}`)
			}, ""},
		{"manifest, a large number of other digits", "skill://x/git/SKILL.md", "---\nname: git\ndescription: d\nid: 9007199254740993\n---\n",
			func(s *skills.Skill) {
				s.Dynamic, s.FrontMatter = true, json.RawMessage(`{"name":"git","description":"d","id":9007199254740992}`)
			}, "other front matter"},
		{"manifest, in lists and deeper", "skill://x/git/SKILL.md", "---\nname: git\ndescription: d\nmetadata:\n  a: [1.50, -0, x, true, null]\n---\n",
			func(s *skills.Skill) {
				s.Dynamic, s.FrontMatter = true, json.RawMessage(`{"name":"git","metadata":{"a":[1.5,0,"x",true,null]},"description":"d"}`)
			}, ""},
		{"manifest, an entry with a member twice", "skill://x/git/SKILL.md", "---\nname: git\ndescription: d\n---\n",
			func(s *skills.Skill) {
				s.Dynamic, s.FrontMatter = true, json.RawMessage(`{"name":"git","description":"x","description":"d"}`)
			}, "other front matter"},
		{"other size", file, "hello!", nil, "has 6 bytes"},
		{"other bytes", file, "hellO", nil, "digest"},
		{"not listed", "skill://x/git/c", "", nil, "no file"},
		{"other front matter", "skill://x/git/SKILL.md", "---\nname: git\ndescription: Commit & <push>\nversion: 1.10\n---\n",
			func(s *skills.Skill) { s.FrontMatter = json.RawMessage(`{"name":"git","description":"Commit"}`) }, "other front matter"},
		{"dynamic", file, "anything", func(s *skills.Skill) { s.Dynamic = true }, ""},
		{"dynamic manifest", "skill://x/git/SKILL.md", "# none", func(s *skills.Skill) { s.Dynamic = true }, "three dashes"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := entry(t)
			if tc.change != nil {
				tc.change(&s)
			}
			err := s.Verify(tc.uri, []byte(tc.content))
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("the error is %v, want %q", err, tc.want)
			}
		})
	}
}

func TestSettingsOf(t *testing.T) {
	for _, tc := range []struct {
		name, in      string
		offered, dirs bool
	}{
		{"none", `{}`, false, false},
		{"plain", `{"extensions":{"io.modelcontextprotocol/skills":{}}}`, true, false},
		{"folders", `{"extensions":{"io.modelcontextprotocol/skills":{"directoryRead":true,"x":1}}}`, true, true},
		{"no object", `{"extensions":{"io.modelcontextprotocol/skills":true}}`, false, false},
		{"no truth", `{"extensions":{"io.modelcontextprotocol/skills":{"directoryRead":"yes"}}}`, false, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var c mcp.ServerCapabilities
			if err := json.Unmarshal([]byte(tc.in), &c); err != nil {
				t.Fatal(err)
			}
			got, offered := skills.SettingsOf(c)
			if offered != tc.offered || got.DirectoryRead != tc.dirs {
				t.Errorf("got %+v and %v", got, offered)
			}
		})
	}
}

// FuzzEntry holds that an entry of a server is refused or goes out as it came in, and that no listed file leads out of the
// skill's folder.
func FuzzEntry(f *testing.F) {
	raw, err := entry(f).MarshalJSON()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add([]byte(`{"uri":"skill://a/SKILL.md","frontmatter":{"name":"a","description":"b"},"resources":"dynamic"}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		var s, again skills.Skill
		if json.Unmarshal(in, &s) != nil || s.Check() != nil {
			return
		}
		out, err := s.MarshalJSON()
		if err != nil {
			t.Fatalf("%s: %v", in, err)
		}
		if err := json.Unmarshal(out, &again); err != nil || again.Check() != nil {
			t.Fatalf("%s became %s: %v", in, out, err)
		}
		for _, file := range s.Files {
			if !strings.HasPrefix(file.URI, s.Root()+"/") || strings.Contains(file.URI, "/../") {
				t.Fatalf("the file %q is taken for one of %q", file.URI, s.URI)
			}
		}
	})
}
