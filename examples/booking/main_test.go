package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/mcptest"
	"github.com/rialto-mcp/rialto/server"
)

// requests lists what the booking service was asked for.
func requests(t *testing.T, b bookings) []string {
	t.Helper()
	log, err := os.ReadFile(filepath.Join(b.folder, "requests.log"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(log), "\n"), "\n")
}

// [replay]

// TestBook takes the tool through its questions, run by run. It fails when the tool does something in the wrong run.
func TestBook(t *testing.T) {
	service := bookings{folder: t.TempDir()}
	play := mcptest.NewReplay(t, newServer(server.Options{}, service))
	play.Accept("room in Oslo", map[string]any{"guest": "Ada", "nights": 3}).
		Says("Welcome Ada", "Hello Ada!").
		Accept("for 3 nights", map[string]any{"sure": true})
	said := play.CallTool("book", map[string]any{"city": "Oslo"}).Text()
	if !strings.HasPrefix(said, "Hello Ada! Room B") || !strings.Contains(said, "is booked for 3 nights: B") {
		t.Error(said)
	}
	if done := requests(t, service); len(done) != 2 { // in four runs
		t.Errorf("the booking service was asked %q", done)
	}
}

// [end]

// A guest who says no at the end has booked nothing, and one who says no at once is not held a room.
func TestBookDeclined(t *testing.T) {
	service := bookings{folder: t.TempDir()}
	play := mcptest.NewReplay(t, newServer(server.Options{}, service))
	if said := play.Decline("room in Oslo").CallTool("book", map[string]any{"city": "Oslo"}); !said.IsError {
		t.Error(said.Text())
	}
	play.Accept("room in Oslo", map[string]any{"guest": "Ada", "nights": 3}).Says("", "Hi").Decline("for 3 nights")
	if said := play.CallTool("book", map[string]any{"city": "Oslo"}); said.Text() != "Nothing is booked." {
		t.Error(said.Text())
	}
	if done := requests(t, service); len(done) != 1 || !strings.HasPrefix(done[0], "hold") {
		t.Errorf("the booking service was asked %q", done)
	}
}

// A key is good for one thing, done once.
func TestService(t *testing.T) {
	b := bookings{folder: t.TempDir()}
	first, err := b.Do(t.Context(), "key", "hold")
	if err != nil {
		t.Fatal(err)
	}
	if again, err := b.Do(t.Context(), "key", "hold"); err != nil || again != first {
		t.Errorf("the second time %v, %v", again, err)
	}
	if other, err := b.Do(t.Context(), "key 2", "hold"); err != nil || other == first {
		t.Errorf("another key %v, %v", other, err)
	}
	if _, err := b.Do(t.Context(), "key", "book"); err == nil {
		t.Error("a key is good for two things")
	}
	used := usedStates(t.TempDir())
	for i, want := range []bool{true, false, false} {
		if first, err := used.Consume(t.Context(), "nonce", time.Now()); err != nil || first != want {
			t.Errorf("use %d: %t, %v", i, first, err)
		}
	}
}
