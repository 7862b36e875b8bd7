package observe

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
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

// TestKilled holds that a process that is killed leaves whole lines.
func TestKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	child := exec.Command(os.Args[0], "-test.run=^TestKilledChild$")
	child.Env = append(os.Environ(), childFile+"="+path)
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(path + ".3"); err == nil {
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
	files, err := filepath.Glob(path + "*")
	if err != nil || len(files) < 4 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			if !strings.HasSuffix(line, "\n") || !json.Valid([]byte(line)) {
				t.Errorf("%s has %.80q", filepath.Base(f), line)
			}
		}
	}
}
