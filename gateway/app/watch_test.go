package app

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestWatch walks through what happens to a file, and what each look makes of it.
func TestWatch(t *testing.T) {
	old := time.Now().Add(-time.Hour)
	write := func(text string) func(*testing.T, string) {
		return func(t *testing.T, path string) { put(t, path, text) }
	}
	rename := func(text string) func(*testing.T, string) { // as editors save
		return func(t *testing.T, path string) {
			put(t, path+".new", text)
			check(t, os.Rename(path+".new", path))
		}
	}
	remove := func(t *testing.T, path string) { check(t, os.Remove(path)) }
	touch := func(t *testing.T, path string) { check(t, os.Chtimes(path, old, old)) }
	nothing := func(*testing.T, string) {}
	type step struct {
		do   func(*testing.T, string)
		want sight
	}
	for name, steps := range map[string][]step{
		"nothing":                     {{nothing, sightSame}, {nothing, sightSame}},
		"written":                     {{write("two"), sightSame}, {nothing, sightNew}, {nothing, sightSame}},
		"written long ago":            {{touch, sightSame}, {nothing, sightSame}, {write("two"), sightSame}, {nothing, sightNew}},
		"as long as before":           {{write("eno"), sightSame}, {nothing, sightNew}},
		"the same again":              {{write("one"), sightSame}, {nothing, sightSame}},
		"touched":                     {{touch, sightSame}, {nothing, sightSame}},
		"half written":                {{write("tw"), sightSame}, {write("two"), sightSame}, {nothing, sightNew}},
		"written again and again":     {{write("2"), sightSame}, {write("3"), sightSame}, {write("4"), sightSame}, {nothing, sightNew}},
		"changed and changed back":    {{write("two"), sightSame}, {write("one"), sightSame}, {nothing, sightSame}},
		"replaced by rename":          {{rename("two"), sightSame}, {nothing, sightNew}},
		"gone for a moment":           {{remove, sightSame}, {write("two"), sightSame}, {nothing, sightNew}},
		"gone":                        {{remove, sightSame}, {nothing, sightMissing}, {nothing, sightSame}},
		"gone, and back as it was":    {{remove, sightSame}, {nothing, sightMissing}, {write("one"), sightSame}, {nothing, sightSame}},
		"gone, and back as another":   {{remove, sightSame}, {nothing, sightMissing}, {write("two"), sightSame}, {nothing, sightNew}},
		"another, and back as it was": {{write("two"), sightSame}, {nothing, sightNew}, {write("one"), sightSame}, {nothing, sightNew}},
		"emptied while it is written": {{write(""), sightSame}, {write("two"), sightSame}, {nothing, sightNew}},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "mcp.json")
			put(t, path, "one")
			w := newWatch(path, []byte("one"))
			for i, s := range steps {
				s.do(t, path)
				if got := w.look(); got != s.want {
					t.Errorf("step %d: %d, want %d", i, got, s.want)
				}
			}
		})
	}
}

// TestWatchBehindALink is a folder that is swapped behind a link, as clusters mount their settings.
func TestWatchBehindALink(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"one", "two"} {
		check(t, os.Mkdir(filepath.Join(folder, name), 0o700))
		put(t, filepath.Join(folder, name, "mcp.json"), name)
	}
	link := filepath.Join(folder, "now")
	if err := os.Symlink("one", link); err != nil {
		t.Skip("no links here:", err)
	}
	w := newWatch(filepath.Join(link, "mcp.json"), []byte("one"))
	check(t, os.Symlink("two", link+".new"))
	check(t, os.Rename(link+".new", link))
	if first, second := w.look(), w.look(); first != sightSame || second != sightNew {
		t.Errorf("got %d and %d", first, second)
	}
}

// TestWatchAccepts holds that what was taken up otherwise is not new.
func TestWatchAccepts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mcp.json")
	put(t, path, "two")
	w := newWatch(path, []byte("one"))
	w.accept()
	for range 3 {
		if got := w.look(); got != sightSame {
			t.Errorf("got %d", got)
		}
	}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	check(t, os.WriteFile(path, []byte(text), 0o600))
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
