package observe

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const childFile = "RIALTO_AUDIT_TEST_FILE"

// TestKilledChild is the process that TestKilled kills.
func TestKilledChild(t *testing.T) {
	path := os.Getenv(childFile)
	if path == "" {
		t.Skip("it is run by TestKilled")
	}
	a, err := OpenAudit(AuditOptions{File: path, MaxSize: 200_000, Keep: 1000}, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; ; i++ {
		a.put(&record{Outcome: "ok", Name: strings.Repeat("x", i%500)}, nowhere)
	}
}

// TestKilled holds that a process that is killed leaves whole lines, but for the very last: the system may stop a write between
// two pages. That half spoils nothing that comes after it.
func TestKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	child := exec.Command(os.Args[0], "-test.run=^TestKilledChild$")
	child.Env = append(os.Environ(), childFile+"="+path)
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	// Three full files are there from the fourth rotation on: a kill in the middle of one leaves a number out.
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(path + ".4"); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Error("nothing is written")
			break
		}
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // it was killed
	files, err := filepath.Glob(path + ".*")
	if err != nil || len(files) < 3 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, f := range files {
		for i, line := range linesIn(t, f) {
			if !whole(line) {
				t.Errorf("%s, line %d: %.80q", filepath.Base(f), i+1, line)
			}
		}
	}

	a, err := OpenAudit(AuditOptions{File: path}, func(text string) { t.Error(text) })
	if err != nil {
		t.Fatal(err)
	}
	half := len(linesIn(t, path)) - 1
	a.put(&record{Outcome: "ok", Name: "after"}, nowhere)
	a.Close()
	lines := linesIn(t, path)
	for i, line := range lines {
		if !whole(line) && i != half {
			t.Errorf("line %d of %d: %.80q", i+1, len(lines), line)
		}
	}
	if last := lines[len(lines)-1]; !strings.Contains(last, `"after"`) || !whole(last) {
		t.Errorf("the last line is %.80q", last)
	}
}

func linesIn(t *testing.T, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Collect(strings.Lines(string(data)))
}

func whole(line string) bool { return strings.HasSuffix(line, "\n") && json.Valid([]byte(line)) }
