package main

import (
	"bufio"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// studio is the program, built, and one server of it.
type studio struct {
	t       *testing.T
	program string
	file    string
	server  *exec.Cmd
	url     string
}

// open starts a server on the file. The address is a new one each time.
func (s *studio) open() {
	s.t.Helper()
	s.server = exec.CommandContext(s.t.Context(), s.program, "serve", "-addr", "127.0.0.1:0", "-file", s.file)
	out, err := s.server.StderrPipe()
	if err == nil {
		err = s.server.Start()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if err != nil || !ok {
		s.t.Fatalf("the server said %q, %v", line, err)
	}
	s.url = url
}

// kill ends the server without a chance to say anything.
func (s *studio) kill() {
	s.t.Helper()
	if err := s.server.Process.Kill(); err != nil {
		s.t.Fatal(err)
	}
	_ = s.server.Wait() // it says that the process was killed
}

// do runs the program as a client, to its end.
func (s *studio) do(verb string, args ...string) string {
	s.t.Helper()
	out, _ := exec.CommandContext(s.t.Context(), s.program, append([]string{verb, s.url}, args...)...).CombinedOutput() // the text tells
	return strings.TrimSpace(string(out))
}

// TestFilmsSurvive starts films, ends the clients that did, and kills the server: who comes later with an id gets the film, or
// hears why there is none.
func TestFilmsSurvive(t *testing.T) {
	folder := t.TempDir()
	s := &studio{t: t, program: filepath.Join(folder, "render"), file: filepath.Join(folder, "tasks.db")}
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", s.program, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	s.open()
	short, long, dropped := s.do("start", "Short", "0.5"), s.do("start", "Long", "600"), s.do("start", "Dropped", "600")
	if got := s.do("wait", short); got != "Short is ready" {
		t.Fatalf("a film of a client that has ended: %s", got)
	}
	if got := s.do("cancel", dropped); got != "" {
		t.Errorf("cancel: %s", got)
	}
	s.kill()
	s.open()
	if got := s.do("wait", short); got != "Short is ready" {
		t.Errorf("a film of a server that was killed since: %s", got)
	}
	if got := s.do("wait", long); !strings.Contains(got, "the server was started anew while the task ran") {
		t.Errorf("a film that was not ready: %s", got)
	}
	if got := s.do("wait", dropped); !strings.Contains(got, "the task was cancelled") {
		t.Errorf("a film given up: %s", got)
	}
	if got := s.do("start", "", "1"); !strings.Contains(got, "a film needs a title") {
		t.Errorf("a film without a title: %s", got)
	}
	s.kill()
}
