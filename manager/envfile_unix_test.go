//go:build unix

package manager

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Nobody may ever write into a pipe, so it is not opened.
func TestEnvFilePipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{path, "/dev/zero"} {
		if got, err := readEnvFile(path); err == nil || !strings.Contains(err.Error(), "is no regular file") {
			t.Errorf("%s: got %q, %v", path, got, err)
		}
	}
}
