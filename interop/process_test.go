package interop

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestProcessReportsWhatItPrintedWhenItEndsEarly(t *testing.T) {
	url, output, err := Process{
		Command: []string{"sh", "-c", "echo starting; echo the port is taken >&2; exit 3"},
		Ready:   jsonAddress,
	}.start(t)
	if err == nil || url != "" {
		t.Fatalf("got address %q, error %v", url, err)
	}
	for _, want := range []string{"starting", "the port is taken"} {
		if !strings.Contains(output, want) {
			t.Errorf("output %q lacks %q", output, want)
		}
	}
}

// A server that starts another one and a group that ignores SIGTERM must both be gone when the test is over.
func TestProcessEndsItsGroup(t *testing.T) {
	pidFile := filepath.Join(t.TempDir(), "pid")
	t.Run("server", func(t *testing.T) {
		url := Process{
			Command: []string{"sh", "-c", `trap '' TERM; sleep 600 & echo $! > "$PID_FILE"; echo '{"url":"http://here"}'; wait`},
			Env:     []string{"PID_FILE=" + pidFile},
			Ready:   jsonAddress,
		}.Start(t)
		if url != "http://here" {
			t.Errorf("address %q", url)
		}
	})
	text, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	// The grandchild becomes a zombie of init for a moment; signal 0 tells when it is gone or reaped.
	for end := time.Now().Add(5 * time.Second); running(pid); {
		if time.Now().After(end) {
			t.Fatalf("process %d is still there", pid)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// running tells a living process from one that is gone or only waits to be reaped.
func running(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(after, "Z")
}

func TestJSONAddress(t *testing.T) {
	for line, want := range map[string]string{
		`{"url":"http://127.0.0.1:4711/mcp"}`: "http://127.0.0.1:4711/mcp",
		`{"url":""}`:                          "",
		`{"port":4711}`:                       "",
		`listening on 4711`:                   "",
		``:                                    "",
	} {
		url, ok := jsonAddress(line)
		if url != want || ok != (want != "") {
			t.Errorf("%q: got %q, %v", line, url, ok)
		}
	}
}

func TestCheckNode(t *testing.T) {
	for _, c := range []struct {
		version string
		message string // empty: good enough
	}{
		{"v20.20.2\n", ""},
		{"v24.21.0", ""},
		{"v18.19.0\n", "node is v18.19.0; Node 20 or newer is needed"},
		{"bash: node", `node --version answers "bash: node", which is no version`},
	} {
		message := ""
		if err := checkNode(c.version); err != nil {
			message = err.Error()
		}
		if message != c.message {
			t.Errorf("%q: got %q, want %q", c.version, message, c.message)
		}
	}
}
