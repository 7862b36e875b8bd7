package examples

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// build compiles the programs into a folder of the test's own.
func build(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", folder, "./hello", "./weather", "./ask")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return folder
}

const weatherOffers = `weather 1.0.0 speaks 2026-07-28
  tool forecast: Weather of the next days in a city
  template weather://{city}/now: How the weather is now
  prompt pack: Asks what to pack for a journey
`

// TestPrograms runs ask as a person would, against weather over HTTP and against weather and hello as its children.
func TestPrograms(t *testing.T) {
	bin := build(t)
	url := startWeather(t, filepath.Join(bin, "weather"))
	for _, c := range []struct {
		name string
		args []string // HTTP, STDIO and HELLO stand for the servers
		out  string
		err  string // "" when it goes well
	}{
		{"offers over HTTP", []string{"HTTP"}, weatherOffers, ""},
		{"offers over stdio", []string{"STDIO"}, weatherOffers, ""},
		{"call with progress", []string{"-tool", "forecast", "-args", `{"city":"bergen","days":2}`, "HTTP"}, weatherOffers +
			"... day 1 of 2\n... day 2 of 2\n" + `{"city":"Bergen","days":[{"sky":"Rain","high":9},{"sky":"Rain","high":10}]}` + "\n", ""},
		{"read", []string{"-read", "weather://lisbon/now", "HTTP"}, weatherOffers + "Sun in Lisbon, 24 degrees\n", ""},
		{"call and read over stdio", []string{"-tool", "forecast", "-args", `{"city":"Nairobi","days":1}`, "-read", "weather://Bergen/now", "STDIO"},
			weatherOffers + "... day 1 of 1\n" + `{"city":"Nairobi","days":[{"sky":"Clouds","high":22}]}` + "\nRain in Bergen, 9 degrees\n", ""},
		{"hello", []string{"-tool", "greet", "-args", `{"name":"Ada"}`, "HELLO"},
			"hello 1.0.0 speaks 2026-07-28\n  tool greet: Greets somebody by name\nHello, Ada!\n", ""},
		{"tool that fails", []string{"-tool", "forecast", "-args", `{"city":"Atlantis"}`, "HTTP"}, weatherOffers,
			"ask: forecast: there is no station in \"Atlantis\"; try one of Bergen, Lisbon, Nairobi\n"},
		{"days out of range", []string{"-tool", "forecast", "-args", `{"city":"Bergen","days":9}`, "HTTP"}, weatherOffers,
			"ask: forecast: days is 9; ask for 1 to 7\n"},
		{"missing resource over HTTP", []string{"-read", "weather://Atlantis/now", "HTTP"}, weatherOffers, "ask: there is no such resource\n"},
		{"missing resource over stdio", []string{"-read", "weather://Atlantis/now", "STDIO"}, weatherOffers, "ask: there is no such resource\n"},
		{"no server", nil, "", "ask: which server? Give a URL, or -- and a command that starts one\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := c.args
			if n := len(args); n > 0 {
				args = append(args[:n-1:n-1], map[string][]string{
					"HTTP": {url}, "STDIO": {"--", filepath.Join(bin, "weather"), "-stdio"}, "HELLO": {"--", filepath.Join(bin, "hello")},
				}[args[n-1]]...)
			}
			cmd := exec.CommandContext(t.Context(), filepath.Join(bin, "ask"), args...)
			var out, complaint bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &complaint
			err := cmd.Run()
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			if out.String() != c.out || complaint.String() != c.err || (err != nil) != (c.err != "") {
				t.Errorf("%v, printed\n%s%s\nwant\n%s%s", err, out.String(), complaint.String(), c.out, c.err)
			}
		})
	}
}

// startWeather starts the server over HTTP on a free port and answers its URL. With the test it is stopped, and must end
// well.
func startWeather(t *testing.T, program string) (url string) {
	t.Helper()
	cmd := exec.Command(program, "-addr", "127.0.0.1:0")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	if lines.Scan() {
		url = strings.TrimPrefix(lines.Text(), "listening on ")
	}
	t.Cleanup(func() { stopProgram(t, cmd) })
	if !strings.HasPrefix(url, "http://") {
		t.Fatalf("weather printed %q", url)
	}
	return url
}

// stopProgram asks a program to end and waits for it.
func stopProgram(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	late := time.AfterFunc(10*time.Second, func() { cmd.Process.Kill() })
	defer late.Stop()
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Error("interrupt:", err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error("weather ended badly:", err)
	}
}
