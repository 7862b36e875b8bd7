package manager

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// sheet writes objects in all the ways that people and programs do, with comments in every place that has room for one. Each
// comment has a number, and owner says which member it stands with; "" is that of the object itself.
type sheet struct {
	*rand.Rand
	b     strings.Builder
	eol   string
	owner map[int]string
}

// space writes nothing, a space, a line break, or a comment that belongs to owner.
func (s *sheet) space(owner string, comments bool) {
	switch n := s.IntN(8); {
	case n == 0:
		s.b.WriteString(" ")
	case n == 1:
		s.b.WriteString(s.eol + "\t")
	case n < 5 && comments:
		id := len(s.owner)
		s.owner[id] = owner
		if n == 2 {
			fmt.Fprintf(&s.b, "/* <%d>, \"x\": %s } */", id, s.eol)
		} else {
			fmt.Fprintf(&s.b, " // <%d>, { \" %s", id, s.eol)
		}
	}
}

// object writes an object with the members; what stands behind a comma belongs to nobody for certain, so it has no comments
// where strict is set.
func (s *sheet) object(keys []string) {
	s.b.WriteString("{")
	s.space("", true)
	for i, key := range keys {
		s.b.WriteString(s.eol + "  ")
		s.space(key, true)
		fmt.Fprintf(&s.b, "%q", key)
		s.space(key, true)
		s.b.WriteString(":")
		s.space(key, true)
		s.b.WriteString([]string{`1.0e0`, `"x, // }"`, `{"y": [1, /* z */ 2,], }`, `null`, `[]`}[s.IntN(5)])
		s.space(key, true)
		if i < len(keys)-1 || s.IntN(2) == 0 {
			s.b.WriteString(",")
			s.space(key, false)
		}
	}
	s.b.WriteString(s.eol)
	s.space("", true)
	s.b.WriteString("}" + s.eol)
}

// TestEditsOfOddFiles puts, replaces and removes members of objects written at random: the rest of the file survives.
func TestEditsOfOddFiles(t *testing.T) {
	for seed := range uint64(3000) {
		s := &sheet{Rand: rand.New(rand.NewPCG(seed, 1)), eol: "\n", owner: map[int]string{}}
		if seed%3 == 1 {
			s.eol = "\r\n"
		}
		keys := []string{"a", "b", "c", "d"}[:s.IntN(5)]
		s.object(keys)
		source := s.b.String()
		f, err := Read(strings.NewReader(source), "f", ReadOptions{})
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, source)
		}
		out, err := f.Put(json.RawMessage(`{"new":1}`), "k")
		members(t, out, err, append(slices.Clone(keys), "k"))
		if !survives(source, string(out)) {
			t.Errorf("seed %d: putting a member in has taken something out:\n%s\n%s", seed, source, out)
		}
		for _, key := range keys {
			out, err := f.Put(json.RawMessage(`"new"`), key)
			members(t, out, err, keys)
			v := f.Root.Member(key)
			if want := source[:v.at] + `"new"` + source[v.end:]; string(out) != want {
				t.Errorf("seed %d: replacing %s:\n%s\n%s", seed, key, source, out)
			}
			out, err = f.Remove(key)
			members(t, out, err, slices.DeleteFunc(slices.Clone(keys), func(k string) bool { return k == key }))
			if !survives(string(out), source) {
				t.Errorf("seed %d: removing %s has put something in:\n%s\n%s", seed, key, source, out)
			}
			for id, owner := range s.owner {
				if owner != key && !strings.Contains(string(out), fmt.Sprintf("<%d>", id)) {
					t.Errorf("seed %d: removing %s has taken comment %d of %q along:\n%s\n%s", seed, key, id, owner, source, out)
				}
			}
		}
		if t.Failed() {
			return
		}
	}
}

// members holds that a file can be read and has these keys.
func members(t *testing.T, out []byte, err error, keys []string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	f, err := Read(bytes.NewReader(out), "f", ReadOptions{})
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var got []string
	for _, v := range f.Root.Children() {
		got = append(got, v.Name())
	}
	if !slices.Equal(got, keys) {
		t.Fatalf("members %v, want %v:\n%s", got, keys, out)
	}
}

// survives tells whether all bytes of a stand in b, in their order.
func survives(a, b string) bool {
	i := 0
	for j := 0; i < len(a) && j < len(b); j++ {
		if a[i] == b[j] {
			i++
		}
	}
	return i == len(a)
}

// FuzzEdit edits whatever can be read: only the value at the path becomes another, and the rest says what it said.
func FuzzEdit(f *testing.F) {
	for _, seed := range []string{
		`{"a": 1, "b": {"c": 2,},}`, "{ // x\n\"a\": 1 // y\n}", "{\r\n\t\"a\":1 /*,*/ ,\r\n}", "\ufeff{\"a\"/**/:/**/1/**/,/**/\"b\":2}", `{}`, "{\"a\":1 // x\r,\r}",
	} {
		f.Add([]byte(seed), uint8(1))
	}
	f.Fuzz(func(t *testing.T, in []byte, pick uint8) {
		file, _ := Read(bytes.NewReader(in), "f", ReadOptions{}) // entries may be wrong
		if file == nil {
			return
		}
		before := contents(file.Root)
		if out, err := file.Put(json.RawMessage(`[true]`), "a key of the test"); err == nil {
			again := reread(t, out)
			if got := again["a key of the test"]; got != "[true]" {
				t.Fatalf("got %q in\n%s", got, out)
			}
			if delete(again, "a key of the test"); !maps.Equal(again, before) && before["a key of the test"] == "" {
				t.Fatalf("%v, want %v", again, before)
			}
		} else {
			t.Fatal(err)
		}
		if len(file.Root.children) == 0 {
			return
		}
		key := file.Root.children[int(pick)%len(file.Root.children)].name
		out, err := file.Remove(key)
		if err != nil {
			t.Fatal(err)
		}
		again := reread(t, out)
		if delete(before, key); !maps.Equal(again, before) {
			t.Fatalf("%v, want %v", again, before)
		}
	})
}

func contents(v *Value) map[string]string {
	out := map[string]string{}
	for _, child := range v.Children() {
		out[child.Name()] = string(child.Raw())
	}
	return out
}

func reread(t *testing.T, out []byte) map[string]string {
	t.Helper()
	problems := &ConfigErrors{}
	root := parse("f", out, problems)
	if root == nil {
		t.Fatal(problems.Err())
	}
	return contents(root)
}
