package secret

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestFiles(t *testing.T) {
	folder := t.TempDir()
	put := func(name, text string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Join(folder, name), mode); err != nil { // whatever the umask
			t.Fatal(err)
		}
	}
	put("plain", "hush", 0o600)
	put("line", "hush\n", 0o600)
	put("windows", "hush\r\n", 0o600)
	put("lines", "one\ntwo\n\n", 0o600)
	put("spaces", " hush ", 0o600)
	put("most", strings.Repeat("x", maxValue), 0o600)
	put("large", strings.Repeat("x", maxValue+1), 0o600)
	put("empty", "\n", 0o600)
	put("bytes", "a\xffb", 0o600)
	put("zero", "a\x00b", 0o600)
	put("open", "hush", 0o644)
	if err := os.Symlink("plain", filepath.Join(folder, "link")); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ ref, want, fault, warning string }{
		{"plain", "hush", "", ""}, {"line", "hush", "", ""}, {"windows", "hush", "", ""}, {"lines", "one\ntwo\n", "", ""}, {"spaces", " hush ", "", ""},
		{filepath.Join(folder, "plain"), "hush", "", ""}, {"./sub/../plain", "hush", "", ""}, {"link", "hush", "", ""}, // as containers are given them
		{"most", strings.Repeat("x", maxValue), "", ""},
		{"large", "", "the file is larger than 64 KiB; it should hold the secret and nothing else", ""},
		{"empty", "", "the file is empty; write the secret into it", ""},
		{"bytes", "", "the file is not UTF-8 text; save it as that", ""},
		{"zero", "", "the file is not UTF-8 text; save it as that", ""},
		{"gone", "", "there is no such file; a relative path begins where the configuration is", ""},
		{".", "", "it is no regular file; name one that holds the secret and nothing else", ""},
		{"open", "hush", "", "every user of this machine can read " + filepath.Join(folder, "open") + "; chmod o-r takes that away"},
	} {
		if tc.warning != "" && runtime.GOOS == "windows" {
			continue // where modes say nothing
		}
		warned := ""
		get := Stores(Options{Folder: folder, Warn: func(text string) { warned += text }})["file"]
		got, err := get(t.Context(), tc.ref)
		if got != tc.want || fmt.Sprint(err) != fault(tc.fault) || warned != tc.warning {
			t.Errorf("%s: got %.20q, %v, and was warned %q", tc.ref, got, err, warned)
		}
	}
}

// fault is how a test shows an error; empty for none.
func fault(text string) string {
	if text == "" {
		return "<nil>"
	}
	return text
}
