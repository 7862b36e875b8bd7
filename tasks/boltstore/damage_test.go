package boltstore_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/tasks"
	"github.com/rialto-mcp/rialto/tasks/boltstore"
)

// filled is a file with some tasks in it, closed.
func filled(t *testing.T) (path string, whole []byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "tasks.db")
	s, err := boltstore.Open(path, boltstore.Options{})
	for i := 0; i < 40 && err == nil; i++ {
		r := task(fmt.Sprint("t", i))
		r.Message = strings.Repeat("m", 2000)
		err = s.Create(t.Context(), r, 0)
	}
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	if whole, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	return path, whole
}

// use opens a file and does a little of everything with it.
func use(t *testing.T, path string) error {
	t.Helper()
	s, err := boltstore.Open(path, boltstore.Options{})
	if err != nil {
		return err
	}
	var all []error
	for i := range 40 {
		if _, err := s.Get(t.Context(), fmt.Sprint("t", i)); !errors.Is(err, tasks.ErrNotFound) {
			all = append(all, err)
		}
	}
	_, err = s.Orphans(t.Context())
	all = append(all, err)
	_, err = s.List(t.Context(), "o", "", 100)
	all = append(all, err, s.Create(t.Context(), task("new"), 0), s.Create(t.Context(), task("newer"), 0))
	return errors.Join(append(all, s.Close())...)
}

// Pages of nonsense are an error that names the file and says what to do. Nothing is written to it then, and nothing hangs.
func TestDamagedFile(t *testing.T) {
	for name, spoil := range map[string]func(raw []byte) []byte{
		"all behind the first two pages": func(raw []byte) []byte { return append(raw[:8192:8192], bytes.Repeat([]byte{0xa5}, len(raw)-8192)...) },
		"cut short":                      func(raw []byte) []byte { return raw[:12288] },
		"cut to nearly nothing":          func(raw []byte) []byte { return raw[:100] },
		"its own first page twice":       func(raw []byte) []byte { return append(raw[:4096:4096], raw[:len(raw)-4096]...) },
	} {
		t.Run(name, func(t *testing.T) {
			path, whole := filled(t)
			broken := spoil(whole)
			if err := os.WriteFile(path, broken, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := use(t, path); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "damaged") && !strings.Contains(err.Error(), "too small") {
				t.Errorf("got %v", err)
			}
			if raw, err := os.ReadFile(path); err != nil || !bytes.Equal(raw, broken) {
				t.Errorf("it was written to: %v", err)
			}
		})
	}
}

// Whatever byte is another one, nothing panics or hangs, and once damage was found nothing is written any more.
func TestDamageAnywhere(t *testing.T) {
	_, whole := filled(t)
	dice := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same damage each time
	for range 60 {
		broken := bytes.Clone(whole)
		at := dice.IntN(len(broken))
		for i := at; i < min(at+1+dice.IntN(600), len(broken)); i++ {
			broken[i] = byte(dice.IntN(256))
		}
		path := filepath.Join(t.TempDir(), "tasks.db")
		if err := os.WriteFile(path, broken, 0o600); err != nil {
			t.Fatal(err)
		}
		err := use(t, path)
		if err != nil && !strings.Contains(err.Error(), path) && !strings.Contains(err.Error(), "read a task of the file") {
			t.Errorf("damage at %d: %v", at, err)
		}
	}
}

// A file that another program keeps in the same format is refused, and left as it is.
func TestFileOfAnotherProgram(t *testing.T) {
	path := filepath.Join(t.TempDir(), "other.db")
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Update(func(tx *bbolt.Tx) error { _, err := tx.CreateBucket([]byte("customers")); return err }), db.Close()); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := boltstore.Open(path, boltstore.Options{}); err == nil || !strings.Contains(err.Error(), "customers") || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v", err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("it was changed: %v", err)
	}
}

// A panic of the caller's own function is no damage: it goes on to the caller, and the file stays good.
func TestPanicOfAChange(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "tasks.db"), boltstore.Options{})
	if err := s.Create(t.Context(), task("a"), 0); err != nil {
		t.Fatal(err)
	}
	func() {
		defer func() {
			if v := recover(); v != "oh" {
				t.Errorf("got %v", v)
			}
		}()
		_, err := s.Update(t.Context(), "a", func(r *tasks.Record) error { r.Status = mcp.TaskFailed; panic("oh") })
		t.Errorf("it returned %v", err)
	}()
	if r, err := s.Get(t.Context(), "a"); err != nil || r.Status != mcp.TaskWorking {
		t.Errorf("got %+v, %v", r, err)
	}
	if err := s.Create(t.Context(), task("b"), 0); err != nil {
		t.Error(err)
	}
}
