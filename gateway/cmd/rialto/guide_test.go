package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// tree is the root of the project, seen from here.
var tree = filepath.Join("..", "..", "..")

// pageAddress is where the gateway listens on the pages. The tests take a free port instead.
const pageAddress = "127.0.0.1:8421"

// TestGuide does what the pages for operators say: it starts the gateway with the example's file, types every command of
// every page of the guide, and compares what comes with what the page shows.
func TestGuide(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(tree, "docs", "guide", "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatal("there is no page of the guide:", err)
	}
	var starts, commands []typed
	for _, file := range pages {
		page := readPage(t, filepath.Join("docs", "guide", filepath.Base(file)))
		starts = append(starts, marked(page, "<!-- run: gateway -->")...)
		commands = append(commands, marked(page, "<!-- run -->")...)
	}
	if len(starts) != 1 {
		t.Fatalf("the pages start the gateway %d times; this test knows one", len(starts))
	}
	w := newWorkshop(t)
	address := w.gateway(starts[0].line, "hello: ready", "weather: ready")
	for _, c := range commands {
		w.try(c, address)
	}
}

// TestReadme does what the first page says: the command of the main job, and the call of the first server.
func TestReadme(t *testing.T) {
	page := readPage(t, "README.md")
	_, block, ok := strings.Cut(page, "<!-- main-command -->\n```sh\n")
	command, _, _ := strings.Cut(block, "\n")
	if !ok || command == "" {
		t.Fatal("README.md has no block of one command below <!-- main-command -->")
	}
	w := newWorkshop(t)
	address := w.gateway(command, "rialto call")
	w.try(typed{"rialto call http://" + pageAddress + "/mcp add a=2 b=3", "{\"sum\":5}\n"}, address) // as the gateway says
	for _, c := range marked(page, "<!-- run -->") {
		w.try(c, address)
	}
}

func readPage(t *testing.T, name string) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(tree, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// typed is a command of a page, and what the page shows below it.
type typed struct{ line, shown string }

// marked lists the commands of all blocks below a mark: lines that begin with "$ ".
func marked(page, mark string) (all []typed) {
	for _, part := range strings.Split(page, mark+"\n```console\n")[1:] {
		block, _, _ := strings.Cut(part, "```")
		for _, command := range strings.Split("\n"+block, "\n$ ")[1:] {
			line, shown, _ := strings.Cut(command, "\n")
			if shown != "" && !strings.HasSuffix(shown, "\n") {
				shown += "\n"
			}
			all = append(all, typed{line, shown})
		}
	}
	return all
}

// workshop runs commands of pages in the root of the tree, with rialto in the path.
type workshop struct {
	t   *testing.T
	bin string // folder
}

func newWorkshop(t *testing.T) *workshop {
	t.Helper()
	for _, tool := range []string{"sh", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("the commands of the pages need it:", err)
		}
	}
	w := &workshop{t, t.TempDir()}
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", w.bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return w
}

// command prepares a line of a page. What "go run" would build is there already.
func (w *workshop) command(line string) *exec.Cmd {
	cmd := exec.Command("sh", "-c", strings.ReplaceAll(line, "go run ./gateway/cmd/rialto", "rialto"))
	cmd.Dir = tree
	cmd.Env = append(os.Environ(), "PATH="+w.bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	return cmd
}

var listening = regexp.MustCompile(`listening on http://([\d.:]+)/mcp`)

// gateway starts the gateway on a free port and waits until it has said where it listens and all of words. With the test
// it is stopped, and must end well.
func (w *workshop) gateway(line string, words ...string) (address string) {
	w.t.Helper()
	cmd := w.command("exec " + strings.Replace(line, "go run ./gateway/cmd/rialto", "rialto", 1) + " --listen 127.0.0.1:0")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	late := time.AfterFunc(2*time.Minute, func() { cmd.Process.Kill() }) // "go run" compiles the servers first
	var said strings.Builder
	lines := bufio.NewScanner(stderr)
	for !saidAll(said.String(), words) || !listening.MatchString(said.String()) {
		if !lines.Scan() {
			w.t.Fatalf("%s: it ended without saying %q and where it listens; it said\n%s", line, words, said.String())
		}
		said.WriteString(lines.Text() + "\n")
	}
	late.Stop()
	drained := make(chan struct{})
	go func() { // ends with the program
		defer close(drained)
		for lines.Scan() {
		}
	}()
	w.t.Cleanup(func() {
		late := time.AfterFunc(20*time.Second, func() { cmd.Process.Kill() })
		defer late.Stop()
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			w.t.Error("interrupt:", err)
		}
		<-drained
		if err := cmd.Wait(); err != nil {
			w.t.Errorf("%s: it ended badly: %v", line, err)
		}
	})
	return listening.FindStringSubmatch(said.String())[1]
}

func saidAll(text string, words []string) bool {
	for _, word := range words {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// try types a command and compares what it prints, and its exit code, with what the page shows.
func (w *workshop) try(c typed, address string) {
	w.t.Helper()
	cmd := w.command(strings.ReplaceAll(c.line, pageAddress, address))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		fmt.Fprintf(&out, "[exit code %d]\n", exit.ExitCode())
	} else if err != nil {
		w.t.Fatal(err)
	}
	if got := strings.ReplaceAll(out.String(), address, pageAddress); got != c.shown {
		w.t.Errorf("$ %s\nprinted\n%s\nand the page shows\n%s", c.line, got, c.shown)
	}
}

func TestMarked(t *testing.T) {
	page := "<!-- run -->\n```console\n$ a b\nx\ny\n$ c\n```\ntext\n```console\n$ not this\n```\n<!-- run -->\n```console\n$ d\nz\n```\n"
	want := []typed{{"a b", "x\ny\n"}, {"c", ""}, {"d", "z\n"}}
	got := marked(page, "<!-- run -->")
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
