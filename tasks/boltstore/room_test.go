package boltstore_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/tasks"
	"github.com/rialto-mcp/rialto/tasks/boltstore"
)

// done is a task of somebody that has ended, with a result of some size.
func done(id, owner string, size int) tasks.Record {
	r := task(id)
	r.Owner, r.Status = owner, mcp.TaskCompleted
	r.Outcome = server.TaskOutcome{Result: fmt.Appendf(nil, `{"text":%q}`, strings.Repeat("x", size))}
	return r
}

// A file that has reached its size lets the oldest results go of who has most, and nobody else's.
func TestFileKeepsItsSize(t *testing.T) {
	const most = 2 << 20
	path := filepath.Join(t.TempDir(), "tasks.db")
	s := open(t, path, boltstore.Options{MaxBytes: most})
	running := task("running")
	if err := errors.Join(s.Create(t.Context(), running, 0), s.Create(t.Context(), done("modest", "bob", 100_000), 0)); err != nil {
		t.Fatal(err)
	}
	const many = 60 // 6 MB
	for i := range many {
		if err := s.Create(t.Context(), done(fmt.Sprint("r", i), "ann", 100_000), 0); err != nil {
			t.Fatalf("task %d: %v", i, err)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Size() > most+3<<20 {
		t.Errorf("the file has %d bytes, %v", info.Size(), err)
	}
	for id, want := range map[string]error{"running": nil, "modest": nil, "r0": tasks.ErrNotFound, fmt.Sprint("r", many-1): nil} {
		if _, err := s.Get(t.Context(), id); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", id, err, want)
		}
	}
}

// Where all tasks run, none has to go: the next one is refused by an error that says what is full, and all stay.
func TestFullFileOfRunningTasks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tasks.db")
	s := open(t, path, boltstore.Options{MaxBytes: 2 << 20})
	kept := 0
	var err error
	for ; err == nil && kept < 1000; kept++ {
		r := task(fmt.Sprint("w", kept))
		r.Message = strings.Repeat("m", 50_000)
		err = s.Create(t.Context(), r, 0)
	}
	if !errors.Is(err, tasks.ErrFull) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "MaxBytes") {
		t.Fatalf("after %d tasks: %v", kept, err)
	}
	ids, err := s.Orphans(t.Context())
	if err != nil || len(ids) != 0 {
		t.Errorf("got %v, %v", ids, err)
	}
	for i := range kept - 1 {
		if _, err := s.Get(t.Context(), fmt.Sprint("w", i)); err != nil {
			t.Fatalf("task %d: %v", i, err)
		}
	}
	if _, err := s.Update(t.Context(), "w0", func(r *tasks.Record) error { r.Status, r.Message = mcp.TaskCompleted, ""; return nil }); err != nil {
		t.Errorf("the end of a task: %v", err)
	}
}

// As many tasks as may be: those that have ended make room here, too.
func TestFileOfManyTasks(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "tasks.db"), boltstore.Options{MaxTasks: 2})
	if err := errors.Join(s.Create(t.Context(), task("runs"), 0), s.Create(t.Context(), done("ended", "o", 10), 0), s.Create(t.Context(), task("next"), 0)); err != nil {
		t.Fatal(err)
	}
	if err := s.Create(t.Context(), task("more"), 0); !errors.Is(err, tasks.ErrFull) {
		t.Errorf("got %v", err)
	}
	if _, err := s.Get(t.Context(), "ended"); !errors.Is(err, tasks.ErrNotFound) {
		t.Errorf("got %v", err)
	}
}

// A result that is too large for the file drives nobody out.
func TestTooLargeForTheFile(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "tasks.db"), boltstore.Options{MaxBytes: 2 << 20})
	if err := s.Create(t.Context(), done("old", "o", 10), 0); err != nil {
		t.Fatal(err)
	}
	if err := s.Create(t.Context(), done("large", "p", 1<<20), 0); !errors.Is(err, tasks.ErrFull) {
		t.Errorf("got %v", err)
	}
	if _, err := s.Get(t.Context(), "old"); err != nil {
		t.Error(err)
	}
}

// An owner has the place of a task again that could not be read when its time was over.
func TestPlaceOfABrokenRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path, over := spoiled(t)
		s := open(t, path, boltstore.Options{MaxTasks: 2})
		if all, err := s.List(t.Context(), "o", "", 9); err != nil || len(all) != 1 || all[0].ID != "whole" {
			t.Errorf("the list: %v, %v", all, err)
		}
		time.Sleep(time.Until(over))
		if err := s.Create(t.Context(), task("new"), 2); err != nil {
			t.Errorf("got %v", err)
		}
		if all, err := s.List(t.Context(), "o", "", 9); err != nil || len(all) != 2 {
			t.Errorf("the list: %v, %v", all, err)
		}
	})
}
