package interop

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
)

// TestGatewayRoots puts npm reference servers behind the gateway that ask for roots when they are connected and when these
// change: "filesystem", which has no folder beside them, and "everything", as a program and over HTTP. They get those of the
// configuration, and the others as soon as the file names others.
func TestGatewayRoots(t *testing.T) {
	bin, home := buildGateway(t), t.TempDir()
	for _, folder := range []string{"one", "two"} {
		if err := os.Mkdir(filepath.Join(home, folder), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, folder, "hello.txt"), []byte("hello from "+folder), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files, web := Filesystem(t, home), StartEverything(t)
	file := filepath.Join(t.TempDir(), "mcp.json")
	write := func(folder string) {
		t.Helper()
		writeSettings(t, file, map[string]any{"roots": []string{"file://" + filepath.ToSlash(filepath.Join(home, folder))}}, map[string]any{
			"files": commandEntry(files[:len(files)-1]), "child": commandEntry(Everything(t)), "web": map[string]any{"url": web},
		})
	}
	write("one")
	url, told := startGateway(t, bin, file, 3)
	if strings.Contains(told, "failed") {
		t.Fatalf("not all servers are ready:\n%s", told)
	}
	modern := dialed(t, Target{URL: url}, client.Options{Mode: client.Modern})
	legacy := dialed(t, Target{URL: url}, client.Options{Mode: client.Legacy})
	for _, folder := range []string{"one", "two"} {
		write(folder)
		for _, c := range []*client.Client{modern, legacy} {
			says(t, c, "list_allowed_directories", filepath.Join(home, folder))
			called(t, c, "read_text_file", map[string]any{"path": filepath.Join(home, folder, "hello.txt")}, "hello from "+folder)
			says(t, c, "child__get-roots-list", "/"+folder)
			says(t, c, "web__get-roots-list", "/"+folder)
		}
	}
}

// TestGatewayRootsOfClients puts servers behind the gateway that ask for roots within a call, beside other things: one of the
// official TypeScript SDK 2.x, of the modern era, and one of 1.x, of the legacy one. They get those of the client.
func TestGatewayRootsOfClients(t *testing.T) {
	file := saveSettings(t, map[string]any{"roots": []string{}}, map[string]any{
		"modern": commandEntry([]string{NodePath(t), nodeScript(t, "asking2.mjs")}),
		"legacy": commandEntry([]string{NodePath(t), nodeScript(t, "roots1.mjs")}),
	})
	url, told := startGateway(t, buildGateway(t), file, 2)
	if strings.Contains(told, "failed") {
		t.Fatalf("not all servers are ready:\n%s", told)
	}
	for _, mode := range []client.Mode{client.Modern, client.Legacy} {
		opts, _ := answering()
		opts.Mode = mode
		c := dialed(t, Target{URL: url}, opts)
		called(t, c, "ask", nil, `"roots":["file:///work"]`)
		called(t, c, "roots", nil, "file:///work")
	}
}

// says calls a tool until its answer holds a text: the server learns in its own time what it is to say.
func says(t *testing.T, c *client.Client, tool, want string) {
	t.Helper()
	last := ""
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		out, err := c.CallTool(t.Context(), tool, nil)
		switch {
		case err != nil:
			last = err.Error()
		case strings.Contains(out.Text(), want):
			return
		default:
			last = out.Text()
		}
	}
	t.Errorf("%s says %s, want %q in it", tool, last, want)
}
