package boltstore_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.etcd.io/bbolt"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/tasks"
	"github.com/rialto-mcp/rialto/tasks/boltstore"
	"github.com/rialto-mcp/rialto/tasks/storetest"
)

func open(t *testing.T, path string, opts boltstore.Options) *boltstore.Store {
	t.Helper()
	s, err := boltstore.Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestStoreInAFile(t *testing.T) {
	storetest.Run(t, func(t *testing.T) tasks.Store {
		return open(t, filepath.Join(t.TempDir(), "tasks.db"), boltstore.Options{})
	})
}

func task(id string) tasks.Record {
	return tasks.Record{ID: id, Owner: "o", Status: mcp.TaskWorking, Created: time.Now(), TTL: time.Hour}
}

// A file that is opened again has what was kept, and knows what nobody runs any more.
func TestFileOpenedAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tasks.db")
	first, err := boltstore.Open(path, boltstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"a", "b"} {
		if err := first.Create(t.Context(), task(id), 0); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := first.Update(t.Context(), "a", func(r *tasks.Record) error { r.Status = mcp.TaskCompleted; return nil }); err != nil {
		t.Fatal(err)
	}
	if _, err := boltstore.Open(path, boltstore.Options{LockTimeout: 20 * time.Millisecond}); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("a second process: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second := open(t, path, boltstore.Options{})
	if r, err := second.Get(t.Context(), "a"); err != nil || r.Status != mcp.TaskCompleted {
		t.Errorf("got %+v, %v", r, err)
	}
	if ids, err := second.Orphans(t.Context()); err != nil || len(ids) != 1 || ids[0] != "b" {
		t.Errorf("orphans: %v, %v", ids, err)
	}
}

func TestLimitsOfAFile(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "tasks.db"), boltstore.Options{MaxTasks: 1, MaxRecordBytes: 2000})
	if err := s.Create(t.Context(), task("a"), 0); err != nil {
		t.Fatal(err)
	}
	if err := s.Create(t.Context(), task("b"), 0); !errors.Is(err, tasks.ErrFull) {
		t.Errorf("one too many: %v", err)
	}
	if _, err := s.Update(t.Context(), "a", func(r *tasks.Record) error { r.Message = strings.Repeat("x", 2000); return nil }); !errors.Is(err, tasks.ErrFull) {
		t.Errorf("too large: %v", err)
	}
}

// Another server on the same open file leaves alone what the first one runs.
func TestOrphansAreOfEarlierProcesses(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "tasks.db"), boltstore.Options{})
	if err := s.Create(t.Context(), task("runs"), 0); err != nil {
		t.Fatal(err)
	}
	if ids, err := s.Orphans(t.Context()); err != nil || len(ids) != 0 {
		t.Errorf("orphans: %v, %v", ids, err)
	}
}

// spoiled is a file with a whole task and one that cannot be read any more, whose time is over at a moment.
func spoiled(t *testing.T) (path string, over time.Time) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "tasks.db")
	first, err := boltstore.Open(path, boltstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	short := task("broken")
	short.TTL = 50 * time.Millisecond
	if err := errors.Join(first.Create(t.Context(), short, 0), first.Create(t.Context(), task("whole"), 0), first.Close()); err != nil {
		t.Fatal(err)
	}
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	spoil := func(tx *bbolt.Tx) error { return tx.Bucket([]byte("tasks")).Put([]byte("broken"), []byte("{")) }
	if err := errors.Join(db.Update(spoil), db.Close()); err != nil {
		t.Fatal(err)
	}
	return path, short.Expires()
}

// A task that cannot be read any more hinders no other one, and is gone when its time is over.
func TestBrokenRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // or its time could be over before anybody looks
		path, over := spoiled(t)
		s := open(t, path, boltstore.Options{})
		if ids, err := s.Orphans(t.Context()); err == nil || len(ids) != 1 || ids[0] != "whole" {
			t.Errorf("orphans: %v, %v", ids, err)
		}
		time.Sleep(time.Until(over))
		if err := s.Create(t.Context(), task("new"), 0); err != nil {
			t.Errorf("after its time: %v", err)
		}
		if _, err := s.Get(t.Context(), "broken"); !errors.Is(err, tasks.ErrNotFound) {
			t.Errorf("got %v", err)
		}
	})
}

// A file that is something else is refused, and left as it is.
func TestOtherFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes.txt")
	text := strings.Repeat("not a store\n", 2000)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := boltstore.Open(path, boltstore.Options{}); err == nil {
		t.Error("it was taken")
	}
	if raw, err := os.ReadFile(path); err != nil || string(raw) != text {
		t.Errorf("it was changed: %v", err)
	}
}
