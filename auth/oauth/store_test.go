package oauth

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func files(t *testing.T) *Files {
	t.Helper()
	f, err := OpenFiles(filepath.Join(t.TempDir(), "tokens"))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestMemoryStoreBound(t *testing.T) {
	s := NewMemoryStore(2)
	for _, key := range []string{"a", "b", "a"} {
		if err := s.Put(t.Context(), key, []byte(key)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Put(t.Context(), "c", nil); !errors.Is(err, ErrStoreFull) {
		t.Errorf("error %v", err)
	}
	if len(s.locks) != 0 {
		t.Errorf("%d locks are left", len(s.locks))
	}
}

func TestFilesAreForTheirOwner(t *testing.T) {
	f := files(t)
	if err := f.Put(t.Context(), "key/../with\x00anything", []byte("secret")); err != nil {
		t.Fatal(err)
	}
	unlock, err := f.Lock(t.Context(), "key")
	if err != nil {
		t.Fatal(err)
	}
	unlock()
	entries, err := os.ReadDir(f.dir)
	if err != nil || len(entries) != 2 {
		t.Fatalf("%d files, error %v", len(entries), err)
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			t.Fatal(err)
		}
		if hasModes && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the mode %v", entry.Name(), info.Mode())
		}
	}
	if !hasModes {
		return
	}
	if info, err := os.Stat(f.dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder: %v, %v", info.Mode(), err)
	}
	if err := os.Chmod(f.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenFiles(f.dir); err == nil || !strings.Contains(err.Error(), "0755") {
		t.Errorf("a folder that others can read: %v", err)
	}
}

// TestFilesLeaveNothing holds that a record is written beside and put in its place as a whole, whatever stands there, and that
// what a process has left that ended in between is removed when the store is opened, but not what another is writing just now.
func TestFilesLeaveNothing(t *testing.T) {
	f := files(t)
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, f.path("k", ".json")); err != nil {
		t.Skip("there are no symbolic links here: ", err)
	}
	if err := f.Put(t.Context(), "k", []byte("secret")); err != nil {
		t.Fatal(err)
	}
	if raw, err := os.ReadFile(outside); err != nil || string(raw) != "mine" {
		t.Errorf("what a link leads to was written: %q, %v", raw, err)
	}
	if got, err := f.Get(t.Context(), "k"); err != nil || string(got) != "secret" {
		t.Errorf("read %q, %v", got, err)
	}
	torn, fresh := filepath.Join(f.dir, unfinished+"1"), filepath.Join(f.dir, unfinished+"2")
	for _, path := range []string{torn, fresh} {
		if err := os.WriteFile(path, []byte(`{"access_tok`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	old := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(torn, old, old); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(f.path("k", ".json"), old, old); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenFiles(f.dir); err != nil {
		t.Fatal(err)
	}
	for path, there := range map[string]bool{torn: false, fresh: true, f.path("k", ".json"): true} {
		if _, err := os.Stat(path); (err == nil) != there {
			t.Errorf("%s: %v", path, err)
		}
	}
	open := filepath.Join(t.TempDir(), "open")
	if err := os.Mkdir(open, 0o755); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(open, link); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenFiles(link); hasModes && (err == nil || !strings.Contains(err.Error(), "0755")) {
		t.Errorf("a link to a folder that others can read: %v", err)
	}
}

// TestWrongKey holds that records under another key are an error that says so, and that nothing is written over them.
func TestWrongKey(t *testing.T) {
	inner := NewMemoryStore(0)
	for i, letter := range []string{"a", "b"} {
		s := newScene(t)
		store, err := Encrypt(inner, bytes.Repeat([]byte(letter), 32))
		if err != nil {
			t.Fatal(err)
		}
		s.opts.Store = store
		if i == 0 {
			must(t, s.authorizer())
			continue
		}
		fails(t, s.authorizer(), "another key")
		equal(t, "requests", len(s.seen), 0)
	}
}

func TestFilesBound(t *testing.T) {
	f := files(t)
	if err := f.Put(t.Context(), "k", bytes.Repeat([]byte("x"), maxRecord+1)); err == nil {
		t.Error("a huge record is stored")
	}
	if err := os.WriteFile(f.path("k", ".json"), bytes.Repeat([]byte("x"), maxRecord+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Get(t.Context(), "k"); err == nil {
		t.Error("a huge record is read")
	}
}

func TestFilesLockWaits(t *testing.T) {
	f := files(t)
	unlock, err := f.Lock(t.Context(), "k")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Millisecond)
	defer cancel()
	if _, err := f.Lock(ctx, "k"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	unlock()
	unlock()
	again, err := f.Lock(t.Context(), "k")
	if err != nil {
		t.Fatal(err)
	}
	again()
}

func TestEncrypted(t *testing.T) {
	inner := NewMemoryStore(0)
	key := bytes.Repeat([]byte("k"), 32)
	s, err := Encrypt(inner, key)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Put(t.Context(), "a", []byte("secret")); err != nil {
		t.Fatal(err)
	}
	sealed, err := inner.Get(t.Context(), "a")
	if err != nil || bytes.Contains(sealed, []byte("secret")) {
		t.Errorf("stored %q, error %v", sealed, err)
	}
	if err := inner.Put(t.Context(), "b", sealed); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Get(t.Context(), "b"); err == nil {
		t.Errorf("a value in the place of another is read: %q", got)
	}
	other, err := Encrypt(inner, append(key, 'x'))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := other.Get(t.Context(), "a"); err == nil {
		t.Errorf("another key reads %q", got)
	}
	if _, err := Encrypt(inner, key[1:]); err == nil {
		t.Error("a short key is taken")
	}
}
