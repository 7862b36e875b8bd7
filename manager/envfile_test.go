package manager

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestEnvFile(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"plain", "A=1\nB=2", "A=1|B=2"},
		{"line breaks of Windows, and a byte order mark", "\ufeffA=1\r\n\r\nB=\"x\ny\"\r\n", "A=1|B=x\ny"},
		{"comments", "# A=0\n  # too\nA=1 # one\nB=a#b\nC=#fff\nD= # none\nE=x\t# y", "A=1|B=a#b|C=#fff|D=|E=x"},
		{"export", "export A=1\nexport\tB=2\nexported=3", "A=1|B=2|exported=3"},
		{"space", "  A = 1 2 \n", "A=1 2"},
		{"quotes", "A=\"a # b\" # c\nB='a \\n b'\nC=`it's \"x\"`\nD=\"it's\"", `A=a # b|B=a \n b|C=it's "x"|D=it's`},
		{"escapes in double quotes", `A="a\nb\"c" ` + "\n" + `B="C:\temp\\new"`, "A=a\nb\"c|B=C:\\temp\\\\new"},
		{"several lines", "KEY=\"-----BEGIN\r\nabc=\r\n-----END\"\nB='x\ny'\nC=3", "KEY=-----BEGIN\nabc=\n-----END|B=x\ny|C=3"},
		{"quotes that are none", "A=\"a\" and \"b\"\nB=it's", `A="a" and "b"|B=it's`},
		{"equals", "A=b=c==", "A=b=c=="},
		{"twice", "A=1\nA=2", "A=1|A=2"},
		{"empty", "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), ".env")
			if err := os.WriteFile(path, []byte(tc.in), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := readEnvFile(path)
			if err != nil || strings.Join(got, "|") != tc.want {
				t.Errorf("got %q, %v; want %q", got, err, tc.want)
			}
		})
	}
}

// What is wrong is told with the line, and without what stands there.
func TestEnvFileErrors(t *testing.T) {
	for in, want := range map[string]string{
		"A=1\n\ntopsecret":          ".env:3: not of the form NAME=value",
		"A B=topsecret":             ".env:1: not of the form NAME=value",
		"=topsecret":                ".env:1: not of the form NAME=value",
		"A='x\ny'\nB=\"topsecret\n": ".env:3: the quote is never closed",
		"A=1\x00topsecret":          "holds a NUL character",
		strings.Repeat("A=topsecret\n", maxEnvFile/12+1): "is larger than 1 MiB",
	} {
		path := filepath.Join(t.TempDir(), ".env")
		if err := os.WriteFile(path, []byte(in), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := readEnvFile(path)
		if err == nil || got != nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "topsecret") {
			t.Errorf("%.40q: got %.100q and %v, want %q", in, got, err, want)
		}
	}
}

// A file that is not there, or is no file, is an error at once. A link to a file is as good as the file.
func TestEnvFileThatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "real"), []byte("A=1"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", filepath.Join(dir, "link")); err != nil {
		t.Skipf("links cannot be made here: %v", err)
	}
	if got, err := readEnvFile(filepath.Join(dir, "link")); err != nil || !slices.Equal(got, []string{"A=1"}) {
		t.Errorf("a link: %q, %v", got, err)
	}
	if err := os.Symlink("loop", filepath.Join(dir, "loop")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"none", "loop", ""} {
		command, err := Command(Server{Name: "s", Transport: Stdio, Command: "x", EnvFile: filepath.Join(dir, name)})
		if err == nil || !strings.Contains(err.Error(), "envFile") {
			t.Errorf("%q: got %v, %v", name, command, err)
		}
	}
}
