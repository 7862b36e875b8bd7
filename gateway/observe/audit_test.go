package observe

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/mcp"
)

// disk is a file in memory that can be full, slow, or torn in the middle of a write.
type disk struct {
	mu    sync.Mutex
	data  []byte
	room  int // bytes that fit; negative means any number
	syncs int
	uncut bool // it cannot be cut
	hold  chan struct{}
}

func (d *disk) open(string) (file, error) { return d, nil }

func (d *disk) Write(p []byte) (int, error) {
	if d.hold != nil {
		<-d.hold
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.room >= 0 && len(p) > d.room {
		n := d.room
		d.data = append(d.data, p[:n]...)
		d.room = 0
		return n, errors.New("no space left on device")
	}
	if d.room >= 0 {
		d.room -= len(p)
	}
	d.data = append(d.data, p...)
	return len(p), nil
}

func (d *disk) Size() (int64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return int64(len(d.data)), nil
}

func (d *disk) Truncate(size int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.uncut {
		return errors.New("read-only")
	}
	d.data = d.data[:size]
	return nil
}

func (d *disk) Sync() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.syncs++
	return nil
}

func (d *disk) Close() error { return nil }

// free makes room.
func (d *disk) free() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.room = -1
}

// lines are those written: the outcome of each, or the number of those that are missing.
func (d *disk) lines(t *testing.T) (out []string) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	return linesOf(t, d.data)
}

func linesOf(t *testing.T, data []byte) (out []string) {
	t.Helper()
	for line := range strings.Lines(string(data)) {
		var l struct {
			Outcome string
			Dropped int
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil || !strings.HasSuffix(line, "\n") {
			t.Errorf("a line that cannot be read: %q", line)
		}
		if l.Dropped > 0 {
			l.Outcome = fmt.Sprintf("%d missing", l.Dropped)
		}
		out = append(out, l.Outcome)
	}
	return out
}

// said gathers what the log says.
type said struct {
	mu   sync.Mutex
	text []string
}

func (s *said) add(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = append(s.text, text)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.text, "\n")
}

func opened(t *testing.T, o AuditOptions) (*Audit, *said) {
	t.Helper()
	s := &said{}
	a, err := OpenAudit(o, s.add)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return a, s
}

// TestFullDisk holds that a full disk loses no line as long as there is room for them in memory, leaves no half of a line,
// and is told of once when it begins and once when it is over.
func TestFullDisk(t *testing.T) {
	for _, uncut := range []bool{false, true} {
		t.Run(fmt.Sprintf("cannot be cut %v", uncut), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &disk{room: 110, uncut: uncut}
				a, s := opened(t, AuditOptions{File: "x", open: d.open})
				for i := range 5 {
					a.put(&record{Outcome: fmt.Sprint(i)}, nowhere)
					synctest.Wait()
				}
				time.Sleep(10 * time.Second)
				d.free()
				time.Sleep(2 * time.Second)
				synctest.Wait()
				if uncut { // the half that stays has a line of its own
					d.mu.Lock()
					text := string(d.data)
					d.mu.Unlock()
					var whole []string
					for line := range strings.Lines(text) {
						if json.Valid([]byte(line)) {
							whole = append(whole, line)
						}
					}
					if got := linesOf(t, []byte(strings.Join(whole, ""))); fmt.Sprint(got) != "[0 1 2 3 4]" {
						t.Errorf("the lines are %v in %q", got, text)
					}
				} else if got := d.lines(t); fmt.Sprint(got) != "[0 1 2 3 4]" {
					t.Errorf("the lines are %v", got)
				}
				if got := s.String(); strings.Count(got, "cannot be written: no space left on device; it is tried again every second, and meanwhile calls go on") != 1 ||
					strings.Count(got, "is written again") != 1 {
					t.Errorf("it says\n%s", got)
				}
			})
		})
	}
}

// TestSlowDisk holds that lines for which there is no room are counted, and that nobody waits.
func TestSlowDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{room: -1, hold: make(chan struct{})}
		a, _ := opened(t, AuditOptions{File: "x", open: d.open})
		a.put(&record{Outcome: "first"}, nowhere)
		synctest.Wait() // the writer hangs in that one
		for range mostWaiting + 7 {
			a.put(&record{Outcome: "more"}, nowhere)
		}
		close(d.hold)
		synctest.Wait()
		got := d.lines(t)
		if len(got) != mostWaiting+2 || got[0] != "first" || got[1] != "7 missing" || got[2] != "more" {
			t.Errorf("%d lines, beginning with %v", len(got), got[:min(3, len(got))])
		}
	})
}

// TestRefuse holds that no call begins whose line has no place, and that calls go on when there is room again.
func TestRefuse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{room: 0}
		a, s := opened(t, AuditOptions{File: "x", OnFailure: Refuse, open: d.open})
		p, err := a.reserve()
		if err != nil || p != kept {
			t.Fatalf("the first: %v, %v", p, err)
		}
		a.put(&record{Outcome: "first"}, p)
		synctest.Wait()
		var fault *mcp.Error
		if _, err := a.reserve(); !errors.As(err, &fault) || !strings.Contains(fault.Message, "cannot be written") {
			t.Errorf("while it fails: %v", err)
		}
		if got := s.String(); !strings.Contains(got, "meanwhile calls are refused") {
			t.Errorf("it says %s", got)
		}
		d.free()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		for range mostWaiting {
			if _, err := a.reserve(); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := a.reserve(); err == nil || !strings.Contains(err.Error(), "is behind") {
			t.Errorf("more calls than places: %v", err)
		}
		a.put(&record{Outcome: "of a place"}, kept)
		synctest.Wait()
		if _, err := a.reserve(); err != nil {
			t.Errorf("a place was given back: %v", err)
		}
		if got := d.lines(t); fmt.Sprint(got) != "[first of a place]" {
			t.Errorf("the lines are %v", got)
		}
	})
}

// TestHandedToTheDisk holds that what was written is handed to the disk within a second, and not with every line.
func TestHandedToTheDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{room: -1}
		a, _ := opened(t, AuditOptions{File: "x", open: d.open})
		for range 1000 {
			a.put(&record{Outcome: "ok"}, nowhere)
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(2 * time.Second)
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.syncs < 9 || d.syncs > 12 {
			t.Errorf("%d times in ten seconds", d.syncs)
		}
	})
}

// contents reads a file and demands whole lines.
func contents(t *testing.T, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return linesOf(t, data)
}

// TestRotation holds that a full file is renamed, and that so many of the old ones stay as wanted, each with whole lines.
func TestRotation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	a, _ := opened(t, AuditOptions{File: path, MaxSize: 400, Keep: 2})
	for i := range 40 {
		a.put(&record{Outcome: fmt.Sprint(i)}, nowhere)
	}
	a.Close()
	all := append(append(contents(t, path+".2"), contents(t, path+".1")...), contents(t, path)...)
	for i, got := range all {
		if want := fmt.Sprint(40 - len(all) + i); got != want {
			t.Errorf("line %d of those that stay is %s, want %s", i, got, want)
		}
	}
	if _, err := os.Stat(path + ".3"); err == nil {
		t.Error("more stay than wanted")
	}
	for _, name := range []string{path, path + ".1", path + ".2"} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > 400 || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %d bytes, mode %v", filepath.Base(name), info.Size(), info.Mode())
		}
	}
}

// TestRotationFails holds that a file that cannot be renamed grows on, and loses no line.
func TestRotationFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	if err := os.MkdirAll(filepath.Join(path+".1", "in the way"), 0o700); err != nil { // no file takes the place of a folder
		t.Fatal(err)
	}
	a, s := opened(t, AuditOptions{File: path, MaxSize: 400, Keep: 1})
	for i := range 40 {
		a.put(&record{Outcome: fmt.Sprint(i)}, nowhere)
	}
	a.Close()
	if got := contents(t, path); len(got) != 40 || strings.Count(s.String(), "cannot be renamed, so it grows on") != 1 {
		t.Errorf("%d lines; it says %s", len(got), s)
	}
}

// TestTornFile holds that a half of a line at the end of a file that is opened spoils no other line.
func TestTornFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	if err := os.WriteFile(path, []byte(`{"outcome":"old"}`+"\n"+`{"outc`), 0o600); err != nil {
		t.Fatal(err)
	}
	a, _ := opened(t, AuditOptions{File: path})
	a.put(&record{Outcome: "new"}, nowhere)
	a.Close()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	if len(lines) != 3 || !strings.Contains(lines[2], `"outcome":"new"`) || !json.Valid([]byte(lines[2])) {
		t.Errorf("the lines are %q", lines)
	}
}

// TestTurnedOnAgain holds that what comes right after a log was turned on again is not lost, however late the writer is.
func TestTurnedOnAgain(t *testing.T) {
	for range 200 {
		path := filepath.Join(t.TempDir(), "a")
		a, _ := opened(t, AuditOptions{File: path})
		for _, o := range []AuditOptions{{}, {File: path}} {
			c, err := a.Prepare(o)
			if err != nil {
				t.Fatal(err)
			}
			a.Take(c)
			runtime.Gosched()
		}
		a.put(&record{Outcome: "1"}, nowhere)
		a.Close()
		if got := contents(t, path); len(got) != 1 {
			t.Fatalf("the lines are %v", got)
		}
	}
}

// TestLinesFollowTheChange holds that nothing that comes after a change is written to the file before it, however late the
// writer is: that file may be packed or moved by then.
func TestLinesFollowTheChange(t *testing.T) {
	none := (*disk)(nil)
	for name, c := range map[string]struct {
		full    bool    // the first file takes nothing
		changes []*disk // taken one after another, with a line after each
		want    [][]string
	}{
		"another":              {false, []*disk{{room: -1}}, [][]string{{"first", "before"}, {"after 0"}}},
		"one after another":    {false, []*disk{{room: -1}, {room: -1}}, [][]string{{"first", "before"}, {}, {"after 0", "after 1"}}},
		"off":                  {false, []*disk{none}, [][]string{{"first", "before"}}},
		"off and on":           {false, []*disk{none, {room: -1}}, [][]string{{"first", "before"}, {"after 1"}}},
		"another, then off":    {false, []*disk{{room: -1}, none}, [][]string{{"first", "before", "after 0"}, {}}},
		"the first takes none": {true, []*disk{{room: -1}}, [][]string{{}, {"first", "before", "after 0"}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				first := &disk{room: -1, hold: make(chan struct{})}
				if c.full {
					first.room = 0
				}
				a, _ := opened(t, AuditOptions{File: "x", open: first.open})
				a.put(&record{Outcome: "first"}, nowhere)
				synctest.Wait() // the writer hangs in that one
				a.put(&record{Outcome: "before"}, nowhere)
				disks := []*disk{first}
				for i, d := range c.changes {
					var o AuditOptions
					if d != nil {
						o, disks = AuditOptions{File: "y", open: d.open}, append(disks, d)
					}
					next, err := a.Prepare(o)
					if err != nil {
						t.Fatal(err)
					}
					a.Take(next)
					a.put(&record{Outcome: fmt.Sprint("after ", i)}, nowhere)
				}
				close(first.hold)
				synctest.Wait()
				for i, d := range disks {
					if got := d.lines(t); !slices.Equal(got, c.want[i]) {
						t.Errorf("file %d has %q, want %q", i, got, c.want[i])
					}
				}
			})
		})
	}
}

// TestTakesAnotherFile holds that options may change while it is written: no line is lost, and a file that was renamed is left.
func TestTakesAnotherFile(t *testing.T) {
	dir := t.TempDir()
	first, second := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	a, s := opened(t, AuditOptions{File: first})
	change := func(o AuditOptions) {
		t.Helper()
		c, err := a.Prepare(o)
		if err != nil {
			t.Fatal(err)
		}
		a.Take(c)
	}
	a.put(&record{Outcome: "1"}, nowhere)
	change(AuditOptions{File: second})
	a.put(&record{Outcome: "2"}, nowhere)
	if _, err := a.Prepare(AuditOptions{File: filepath.Join(dir, "no", "folder")}); err == nil || !strings.Contains(err.Error(), "its folder exists") {
		t.Errorf("a file that cannot be opened: %v", err)
	}
	change(AuditOptions{})
	if a.On() {
		t.Error("it is on without a file")
	}
	a.put(&record{Outcome: "3"}, nowhere)
	change(AuditOptions{File: second})
	a.put(&record{Outcome: "4"}, nowhere)
	a.Close()
	a.put(&record{Outcome: "5"}, nowhere)
	both := append(contents(t, first), contents(t, second)...)
	if fmt.Sprint(both) != "[1 2 4]" || s.String() != "" {
		t.Errorf("the lines are %v; it says %q", both, s)
	}
}
