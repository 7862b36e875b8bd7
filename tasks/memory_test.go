package tasks_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/tasks"
	"github.com/rialto-mcp/rialto/tasks/storetest"
)

func TestStoreInMemory(t *testing.T) {
	storetest.Run(t, func(*testing.T) tasks.Store { return tasks.NewMemory(tasks.MemoryLimits{}) })
}

func TestLimitsOfMemory(t *testing.T) {
	s := tasks.NewMemory(tasks.MemoryLimits{Tasks: 2, Bytes: 3000})
	task := func(id string) tasks.Record { return tasks.Record{ID: id, Created: time.Now(), TTL: time.Hour} }
	for id, want := range map[string]error{"a": nil} {
		if err := s.Create(t.Context(), task(id), 0); !errors.Is(err, want) {
			t.Errorf("%s: %v", id, err)
		}
	}
	if _, err := s.Update(t.Context(), "a", func(r *tasks.Record) error { r.Message = strings.Repeat("x", 3000); return nil }); !errors.Is(err, tasks.ErrFull) {
		t.Errorf("too large: %v", err)
	}
	if err := s.Create(t.Context(), task("b"), 0); err != nil {
		t.Error(err)
	}
	if err := s.Create(t.Context(), task("c"), 0); !errors.Is(err, tasks.ErrFull) {
		t.Errorf("one too many: %v", err)
	}
}
