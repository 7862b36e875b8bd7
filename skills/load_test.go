package skills_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rialto-mcp/rialto/skills"
)

// manifest is a SKILL.md.
func manifest(name string) []byte {
	return []byte("---\nname: " + name + "\ndescription: What " + name + " is for\n---\n# How to\n")
}

func folder(files map[string]string) fstest.MapFS {
	out := fstest.MapFS{}
	for name, content := range files {
		if content == "" {
			content = string(manifest(filepath.Base(filepath.Dir(name))))
		}
		out[name] = &fstest.MapFile{Data: []byte(content)}
	}
	return out
}

// uris are the files of a skill.
func uris(s skills.Skill) []string {
	var all []string
	for _, f := range s.Files {
		all = append(all, f.URI)
	}
	return all
}

func TestLoad(t *testing.T) {
	set, err := skills.Load(folder(map[string]string{
		"git/SKILL.md":                  "",
		"git/references/Q&A 1.md":       "# Questions\n",
		"git/.env":                      "SECRET=1",
		"git/.cache/x":                  "x",
		"billing/refunds/SKILL.md":      "",
		"billing/refunds/logo.bin":      "\x00\xff",
		"billing/refunds/deep/SKILL.md": "",
		"billing/refunds/deep/a/b.txt":  "b",
		"billing/README.md":             "belongs to no skill",
		".hidden/SKILL.md":              "",
		"git/skill.md":                  "not a manifest: the case differs",
	}), skills.Options{Prefix: "acme"})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{
		"skill://acme/billing/refunds/SKILL.md": {
			"skill://acme/billing/refunds/SKILL.md", "skill://acme/billing/refunds/deep/SKILL.md",
			"skill://acme/billing/refunds/deep/a/b.txt", "skill://acme/billing/refunds/logo.bin",
		},
		"skill://acme/billing/refunds/deep/SKILL.md": {
			"skill://acme/billing/refunds/deep/SKILL.md", "skill://acme/billing/refunds/deep/a/b.txt",
		},
		"skill://acme/git/SKILL.md": {
			"skill://acme/git/SKILL.md", "skill://acme/git/references/Q%26A%201.md", "skill://acme/git/skill.md",
		},
	}
	if got := set.Skills(); len(got) != len(want) {
		t.Errorf("there are %d skills, want %d", len(got), len(want))
	}
	for _, s := range set.Skills() {
		if !slices.Equal(uris(s), want[s.URI]) {
			t.Errorf("%s has the files %q, want %q", s.URI, uris(s), want[s.URI])
		}
		if err := s.Check(); err != nil {
			t.Error(err)
		}
		if s.Description() != "What "+s.Name()+" is for" {
			t.Errorf("%s is described as %q", s.URI, s.Description())
		}
	}
}

// TestLoadFolderThatIsASkill takes the name of a folder without one from its front matter.
func TestLoadFolderThatIsASkill(t *testing.T) {
	_, err := skills.Load(fstest.MapFS{
		"SKILL.md": {Data: manifest("git")}, "-x/SKILL.md": {Data: manifest("x")}, "a/inner/SKILL.md": {Data: manifest("inner")},
	}, skills.Options{})
	if err == nil || !strings.Contains(err.Error(), "the folder") {
		t.Errorf("the folder -x, whose skill is x: %v", err)
	}
	set, err := skills.Load(fstest.MapFS{"SKILL.md": {Data: manifest("git")}, "a/inner/SKILL.md": {Data: manifest("inner")}}, skills.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range set.Skills() {
		got = append(got, s.URI)
	}
	if want := []string{"skill://git/SKILL.md", "skill://git/a/inner/SKILL.md"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestLoadRefuses holds that every skill with a fault is named, with what to do.
func TestLoadRefuses(t *testing.T) {
	big := strings.Repeat("x", 100)
	for _, tc := range []struct {
		name  string
		files map[string]string
		opts  skills.Options
		want  []string
	}{
		{"no front matter", map[string]string{"a/SKILL.md": "# A\n", "b/SKILL.md": "---\nx\n---\n"}, skills.Options{}, []string{`skill "a"`, "three dashes", `skill "b"`}},
		{"other name", map[string]string{"a/SKILL.md": string(manifest("b"))}, skills.Options{}, []string{`the name is "b" and the folder "a"`}},
		{"name that is none", map[string]string{"A_b/SKILL.md": ""}, skills.Options{}, []string{"lowercase letters"}},
		{"no description", map[string]string{"a/SKILL.md": "---\nname: a\n---\n"}, skills.Options{}, []string{"description"}},
		{"long description", map[string]string{"a/SKILL.md": "---\nname: a\ndescription: " + strings.Repeat("é", 1025) + "\n---\n"}, skills.Options{}, []string{"it has 1025"}},
		{"name of another type", map[string]string{"1/SKILL.md": "---\nname: 1\ndescription: x\n---\n"}, skills.Options{}, []string{"front matter"}},
		{"too many files", map[string]string{"a/SKILL.md": "", "a/b": "b", "a/c": "c"}, skills.Options{MaxFiles: 2}, []string{"more than 2 files"}},
		{"too large", map[string]string{"a/SKILL.md": "", "a/b": big}, skills.Options{MaxBytes: 120}, []string{"exceeds 120 bytes"}},
		{"too large with a skill inside", map[string]string{"a/SKILL.md": "", "a/b/SKILL.md": "", "a/b/c": big}, skills.Options{MaxBytes: 190}, []string{"at most 512 files and 190 bytes"}},
		{"too large together", map[string]string{"a/SKILL.md": "", "a/x": big, "b/SKILL.md": "", "b/x": big}, skills.Options{MaxTotal: 250}, []string{"all skills together exceed 250"}},
		{"prefix that leads up", map[string]string{"a/SKILL.md": ""}, skills.Options{Prefix: "x/.."}, []string{"segments"}},
		{"name that hides a path", map[string]string{"a/SKILL.md": "", `a/x\..\b`: "x"}, skills.Options{}, []string{"no path inside its folder"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := skills.Load(folder(tc.files), tc.opts)
			for _, want := range tc.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("the error is %v, want one with %q", err, want)
				}
			}
		})
	}
}

func TestLoadWithoutBounds(t *testing.T) {
	files := map[string]string{"a/SKILL.md": "", "a/b": strings.Repeat("x", 4<<10)}
	for i := range 600 {
		files["a/files/"+strings.Repeat("f", i+1)[:i%200+1]+string(rune('a'+i/200))] = "x"
	}
	if _, err := skills.Load(folder(files), skills.Options{}); err == nil {
		t.Error("a skill of more than 512 files was taken")
	}
	if _, err := skills.Load(folder(files), skills.Options{MaxFiles: -1, MaxBytes: -1, MaxTotal: -1}); err != nil {
		t.Error(err)
	}
}

// TestLoadLeadsNowhereElse holds that a symbolic link cannot bring a file from outside into a skill.
func TestLoadLeadsNowhereElse(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret")
	dir := t.TempDir()
	for name, content := range map[string][]byte{outside: []byte("secret"), filepath.Join(dir, "a", "SKILL.md"): manifest("a")} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(dir, "a", "notes.md")
	if err := os.Symlink(outside, link); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, fsys := range []fs.FS{os.DirFS(dir), root.FS()} {
		if _, err := skills.Load(fsys, skills.Options{}); err == nil || !strings.Contains(err.Error(), "a/notes.md is a symbolic link") {
			t.Errorf("a link out of the folder: %v", err)
		}
	}
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	if _, err := skills.Load(root.FS(), skills.Options{}); err != nil {
		t.Error(err)
	}
}

// TestLoadLinksToFolders holds that a link is not followed that stands where a skill, a folder in one or a SKILL.md should.
func TestLoadLinksToFolders(t *testing.T) {
	elsewhere := t.TempDir()
	if err := os.WriteFile(filepath.Join(elsewhere, "SKILL.md"), manifest("b"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ target, want string }{
		"b":          {elsewhere, ""}, // beside skills: left out
		"a/refs":     {elsewhere, "a/refs is a symbolic link"},
		"b/SKILL.md": {filepath.Join(elsewhere, "SKILL.md"), "b/SKILL.md is a symbolic link"},
		"a/me":       {".", "a/me is a symbolic link"}, // a circle
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, sub := range []string{"a", filepath.Dir(name)} {
				if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(filepath.Join(dir, "a", "SKILL.md"), manifest("a"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(c.target, filepath.Join(dir, name)); err != nil {
				t.Skip("no symbolic links here:", err)
			}
			set, err := skills.Load(os.DirFS(dir), skills.Options{})
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil || len(set.Skills()) != 1 {
				t.Errorf("got %v, %v", set, err)
			}
		})
	}
}

// TestLoadMany loads 10,000 skills: the time grows with their number and not with its square, which would be minutes.
func TestLoadMany(t *testing.T) {
	const many = 10_000
	var sources []skills.Source
	for i := range many {
		name := fmt.Sprint("s", i)
		sources = append(sources, skills.Source{Path: name, Files: map[string][]byte{"SKILL.md": manifest(name), "refs/a.md": []byte("x")}})
	}
	set, err := skills.New(skills.Options{}, sources...)
	if err != nil || len(set.Skills()) != many {
		t.Fatal(err)
	}
}

func TestNewRefuses(t *testing.T) {
	a := map[string][]byte{"SKILL.md": manifest("a")}
	for _, tc := range []struct {
		name    string
		sources []skills.Source
		want    string
	}{
		{"no manifest", []skills.Source{{Path: "a", Files: map[string][]byte{"x": nil}}}, "has no SKILL.md"},
		{"twice", []skills.Source{{Path: "a", Files: a}, {Path: "a", Files: a}}, "there twice"},
		{"path that leads up", []skills.Source{{Path: "../a", Files: a}}, "segments"},
		{"absolute path", []skills.Source{{Path: "/a", Files: a}}, "segments"},
		{"file outside", []skills.Source{{Path: "a", Files: map[string][]byte{"SKILL.md": manifest("a"), "../b": nil}}}, "no path inside"},
		{"made file outside", []skills.Source{{Path: "a", Files: a, Made: map[string]skills.Maker{"/b": nil}}}, "no path inside"},
		{"hidden file", []skills.Source{{Path: "a", Files: map[string][]byte{"SKILL.md": manifest("a"), ".env": nil}}}, "no path inside"},
		{"one file, two contents", []skills.Source{
			{Path: "a", Files: map[string][]byte{"SKILL.md": manifest("a"), "b/SKILL.md": []byte("x")}},
			{Path: "a/b", Files: map[string][]byte{"SKILL.md": manifest("b")}},
		}, "different contents"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := skills.New(skills.Options{}, tc.sources...); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("the error is %v, want one with %q", err, tc.want)
			}
		})
	}
}
