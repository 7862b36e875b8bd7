package secret

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestMain lets the test program be a helper: helper MODE REF.
func TestMain(m *testing.M) {
	if len(os.Args) != 4 || os.Args[1] != "helper" {
		os.Exit(m.Run())
	}
	code := 0
	switch ref := os.Args[3]; os.Args[2] {
	case "print":
		fmt.Printf("<%s>\n", ref)
	case "read": // what standard input holds
		text, _ := io.ReadAll(os.Stdin)
		fmt.Printf("read %q", text)
	case "fail":
		fmt.Println("hush-hush")
		fmt.Fprintf(os.Stderr, "signed out\n\x1b[31mnot hush-hush, but %s", strings.Repeat("x", 400))
		code = 3
	case "flood":
		for range 10_000 {
			if _, err := fmt.Println(strings.Repeat("hush", 1000)); err != nil {
				os.Exit(0)
			}
		}
	case "nothing":
		fmt.Println()
	case "bytes":
		fmt.Print("a\xffb")
	case "hang":
		fmt.Fprintln(os.Stderr, "PIN:")
		fmt.Println("hush-hush")
		select {}
	case "leave": // behind a program that keeps the output open
		self, _ := os.Executable()
		left := exec.Command(self, "helper", "wait", ref)
		left.Stdout = os.Stdout
		if err := left.Start(); err != nil {
			code = 4
		}
		fmt.Println("hush")
	case "wait": // until the test ends
		if conn, err := net.Dial("tcp", ref); err == nil {
			_, _ = io.Copy(io.Discard, conn)
		}
	}
	os.Exit(code)
}

func self(t *testing.T, mode string) []string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{path, "helper", mode, Placeholder}
}

// held gives an address where those who call are held until the test ends.
func held(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done, over := make(chan struct{}), make(chan struct{})
	go func() { // ends with the listener
		defer close(over)
		var conns []net.Conn
		for {
			conn, err := l.Accept()
			if err != nil {
				<-done
				for _, conn := range conns {
					_ = conn.Close()
				}
				return
			}
			conns = append(conns, conn)
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		close(done)
		<-over
	})
	return l.Addr().String()
}

func TestHelpers(t *testing.T) {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	quoted := fmt.Sprintf("%q", path)
	for _, tc := range []struct{ mode, ref, want, fault string }{
		{"print", "dev/github/token", "<dev/github/token>", ""},
		{"print", "$(id); `id` | \"x\" * > y", "<$(id); `id` | \"x\" * > y>", ""}, // no shell sees it
		{"print", "{ref}", "<{ref}>", ""},
		{"read", "x", `read ""`, ""},
		{"flood", "x", "", quoted + " has printed more than 64 KiB; it should print the secret and nothing else"},
		{"nothing", "x", "", quoted + " has printed nothing"},
		{"bytes", "x", "", quoted + " has printed what is not UTF-8 text; have it print the secret as text"},
		{"leave", held(t), "", quoted + " has left a program behind that holds its output open; have it wait for that"},
	} {
		get := Stores(Options{Helpers: map[string][]string{"h": self(t, tc.mode)}})["h"]
		if got, err := get(t.Context(), tc.ref); got != tc.want || fmt.Sprint(err) != fault(tc.fault) {
			t.Errorf("%s: got %.40q, %v", tc.mode, got, err)
		}
	}
}

// TestHelperThatFails tells what the program has said, and nothing of what it has printed.
func TestHelperThatFails(t *testing.T) {
	get := Stores(Options{Helpers: map[string][]string{"h": self(t, "fail")}})["h"]
	got, err := get(t.Context(), "x")
	if err == nil || got != "" || !strings.Contains(err.Error(), "has failed (exit status 3), and said: ...xxx") || strings.Contains(err.Error(), "hush") || len(err.Error()) > 600 {
		t.Errorf("got %q, %v", got, err)
	}
	tail := &ending{}
	fmt.Fprintf(tail, "signed out of\nhush-hush")
	if said := tail.without("hush-hush\n"); said != "signed out of ***" {
		t.Errorf("got %q", said)
	}
}

// TestHelperThatHangs ends with its reader.
func TestHelperThatHangs(t *testing.T) {
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, fmt.Errorf("it is late"))
	defer cancel()
	get := Stores(Options{Helpers: map[string][]string{"h": self(t, "hang")}})["h"]
	_, err := get(ctx, "x")
	if err == nil || !strings.Contains(err.Error(), "was stopped (it is late)") || !strings.Contains(err.Error(), "; it must need no answer from a terminal") || strings.Contains(err.Error(), "hush") {
		t.Errorf("got %v", err)
	}
}

func TestWhereHelpersAre(t *testing.T) {
	get := Stores(Options{Helpers: map[string][]string{"h": {"no-such-program-anywhere", Placeholder}}})["h"]
	if _, err := get(t.Context(), "x"); fmt.Sprint(err) != `the program "no-such-program-anywhere" was not found; install it, or write its whole path under gateway.secrets` {
		t.Errorf("got %v", err)
	}
	command := self(t, "print")
	folder := filepath.Dir(command[0])
	command[0] = "." + string(filepath.Separator) + filepath.Base(command[0])
	get = Stores(Options{Folder: folder, Helpers: map[string][]string{"h": command}})["h"]
	if got, err := get(t.Context(), "x"); got != "<x>" || err != nil {
		t.Errorf("beside the configuration: got %q, %v", got, err)
	}
}

func TestCheckHelper(t *testing.T) {
	good := []string{"op", "read", "op://{ref}"}
	const name = "the name of a helper is of 1 to 32 small letters, digits and '-', and begins with a letter; rename it"
	for _, tc := range []struct {
		name    string
		command []string
		want    string
	}{
		{"op", good, ""}, {"my-store-2", []string{"x", "{ref}"}, ""},
		{"file", good, "${file:...} has a meaning already; choose another name"},
		{"env", good, "${env:...} has a meaning already; choose another name"},
		{"keychain", good, "${keychain:...} has a meaning already; choose another name"},
		{"", good, name}, {"Op", good, name}, {"2op", good, name}, {"a_b", good, name}, {strings.Repeat("x", 33), good, name},
		{"op", nil, `this names no program; write a list such as ["op", "read", "op://{ref}"]`},
		{"op", []string{"", "{ref}"}, `this names no program; write a list such as ["op", "read", "op://{ref}"]`},
		{"op", []string{"{ref}"}, "a reference must not choose the program; write {ref} into an argument"},
		{"op", []string{"op", "read"}, `the program is not told what is asked for; write {ref} into an argument, as in ["op", "read", "op://{ref}"]`},
		{"op", make([]string, 65), "this names no program"},
		{"op", append([]string{"op"}, make([]string, 64)...), "a helper has at most 64 words; put the command into a script"},
		{"op", []string{"op", "{ref}", "\x00"}, "the command holds a NUL character; remove it"},
	} {
		if err := CheckHelper(tc.name, tc.command); !strings.HasPrefix(fmt.Sprint(err), fault(tc.want)) {
			t.Errorf("%s %q: got %v", tc.name, tc.command, err)
		}
	}
}
