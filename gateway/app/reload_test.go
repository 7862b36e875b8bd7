package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/config"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/transport"
)

// followed is a gateway that follows a file.
type followed struct {
	*running
	file  string
	again chan struct{}
}

// follow starts a gateway that looks at a file all the time. The file holds what edit makes of it.
func follow(t *testing.T, text string) *followed {
	t.Helper()
	return followWith(t, text, func(*Options) {})
}

// followWith is follow with other options.
func followWith(t *testing.T, text string, change func(*Options)) *followed {
	t.Helper()
	return followBy(t, text, func(opts Options) *running {
		change(&opts)
		return launch(t, opts)
	})
}

// followBy is follow for a gateway that run starts.
func followBy(t *testing.T, text string, run func(Options) *running) *followed {
	t.Helper()
	f := &followed{file: filepath.Join(t.TempDir(), "mcp.json"), again: make(chan struct{})}
	put(t, f.file, text)
	conf, err := config.ReadFile(f.file, config.Options{Lookup: os.LookupEnv})
	check(t, err)
	opts := Options{Config: conf, Source: &Source{
		File: f.file, Watch: 5 * time.Millisecond, Again: f.again,
		Read: func(context.Context) (*config.Config, error, error) {
			conf, err := config.ReadFile(f.file, config.Options{Lookup: os.LookupEnv})
			return conf, nil, err
		},
	}}
	f.running = run(opts)
	return f
}

// save replaces a file in one step.
func save(t *testing.T, path, text string) {
	t.Helper()
	put(t, path+".new", text)
	check(t, os.Rename(path+".new", path))
}

// anew counts the times that the file was read anew.
func (f *followed) anew() int { return strings.Count(f.err.String(), "was read anew") }

// gated serves the tools name and wait. wait says on entered that it runs, and ends with release.
func gated(t *testing.T, name string) (url string, entered chan struct{}, release chan struct{}) {
	t.Helper()
	entered, release = make(chan struct{}, 10), make(chan struct{})
	s := server.New(mcp.Implementation{Name: name, Version: "1"}, server.Options{})
	server.AddTool(s, mcp.Tool{Name: name}, func(context.Context, *server.Request, struct{}) (string, error) { return name, nil })
	server.AddTool(s, mcp.Tool{Name: name + "_wait"}, func(ctx context.Context, _ *server.Request, _ struct{}) (string, error) {
		entered <- struct{}{}
		select {
		case <-release:
			return "done", nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	})
	ts := httptest.NewServer(s.Handler())
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		check(t, s.Shutdown(ctx))
		ts.Close()
	})
	return ts.URL, entered, release
}

// file is a configuration with these servers, name and address by turns.
func file(section string, servers ...string) string {
	var entries []string
	for i := 0; i < len(servers); i += 2 {
		entries = append(entries, fmt.Sprintf("%q: {\"url\": %q}", servers[i], servers[i+1]))
	}
	return "{\n\"gateway\": {" + section + "},\n\"mcpServers\": {" + strings.Join(entries, ", ") + "}\n}"
}

// listener is a client that hears of changes of the tools.
type listener struct {
	*client.Client
	heard chan struct{}
}

func listen(t *testing.T, url string, mode client.Mode) *listener {
	t.Helper()
	c, err := client.DialHTTP(t.Context(), url, client.Options{Mode: mode})
	check(t, err)
	l := &listener{c, make(chan struct{}, 100)}
	s, err := c.Subscribe(t.Context(), client.Filter{ToolsListChanged: true})
	check(t, err)
	go func() { // ends with the client
		for {
			if _, err := s.Next(context.Background()); err != nil {
				return
			}
			l.heard <- struct{}{}
		}
	}()
	t.Cleanup(func() { _ = c.Close() }) // the gateway may be gone by then
	return l
}

// until waits for news until the tools are these.
func (l *listener) until(t *testing.T, want ...string) {
	t.Helper()
	late := time.After(10 * time.Second)
	for {
		select {
		case <-l.heard:
		case <-late:
			t.Fatalf("the tools are not %q; they are %q", want, l.tools(t))
		}
		if slices.Equal(l.tools(t), want) {
			return
		}
	}
}

func (l *listener) tools(t *testing.T) (names []string) {
	t.Helper()
	for tool, err := range l.Tools(t.Context()) {
		check(t, err)
		names = append(names, tool.Name)
	}
	return names
}

// TestReload_C046 takes a server out and another in while calls run: those of the server that stays and of the one that goes
// are finished, and clients of both eras hear of the tools that come and go.
func TestReload_C046(t *testing.T) {
	for name, mode := range map[string]client.Mode{"legacy": client.Legacy, "modern": client.Modern} {
		t.Run(name, func(t *testing.T) {
			a, enteredA, releaseA := gated(t, "a")
			b, enteredB, releaseB := gated(t, "b")
			c, _, _ := gated(t, "c")
			f := follow(t, file("", "a", a, "b", b))
			f.err.wait(t, "a: ready")
			f.err.wait(t, "b: ready")
			l := listen(t, f.url, mode)
			results := make(chan string, 2)
			for _, tool := range []string{"a_wait", "b_wait"} {
				go func() { // ends with its release
					result, err := l.CallTool(context.Background(), tool, nil)
					if err != nil {
						results <- err.Error()
						return
					}
					results <- result.Text()
				}()
			}
			<-enteredA
			<-enteredB
			save(t, f.file, file("", "a", a, "c", c))
			f.err.wait(t, "was read anew: added c; removed b")
			l.until(t, "a", "a_wait", "c", "c_wait")
			if _, err := l.CallTool(t.Context(), "b", nil); !errors.Is(err, mcp.CodeInvalidParams) {
				t.Errorf("a tool that is gone: %v", err)
			}
			close(releaseA)
			close(releaseB)
			if first, second := <-results, <-results; first != "done" || second != "done" {
				t.Errorf("the calls end with %q and %q", first, second)
			}
			if strings.Count(f.err.String(), "a: ready") != 1 {
				t.Errorf("a was connected again:\n%s", f.err)
			}
			f.end(t)
		})
	}
}

// TestReloadRefusesABrokenFile_C046 holds that a mistake anywhere changes nothing, and is told once, with its line.
func TestReloadRefusesABrokenFile_C046(t *testing.T) {
	a, _, _ := gated(t, "a")
	c, _, _ := gated(t, "c")
	for name, broken := range map[string]struct{ text, mistake string }{
		"syntax":          {"{\n\"mcpServers\": {", "mcp.json:2:"},
		"empty":           {"", "mcp.json"},
		"a setting":       {file(`"prefx": "always"`, "c", c), "mcp.json:2:22: gateway.prefx: this key is not known; did you mean prefix?"},
		"another setting": {file(`"callTimeout": "never"`, "c", c), "mcp.json:2:"},
		"an entry":        {file("", "c", c, "d", ""), "mcp.json:3:"},
	} {
		t.Run(name, func(t *testing.T) {
			f := follow(t, file("", "a", a))
			f.err.wait(t, "a: ready")
			l := listen(t, f.url, client.Auto)
			save(t, f.file, broken.text)
			f.err.wait(t, broken.mistake)
			f.err.wait(t, "mcp.json was not taken into use; what was read before stays")
			if got := l.tools(t); !slices.Equal(got, []string{"a", "a_wait"}) {
				t.Errorf("the tools are %q", got)
			}
			save(t, f.file, file("", "a", a, "c", c))
			f.err.wait(t, "was read anew: added c")
			if n := strings.Count(f.err.String(), "was not taken into use"); n != 1 {
				t.Errorf("told %d times:\n%s", n, f.err)
			}
			f.end(t)
		})
	}
}

// TestReloadAsEditorsSave replaces the file by rename, in both ways that editors have, and takes it away.
func TestReloadAsEditorsSave(t *testing.T) {
	a, _, _ := gated(t, "a")
	b, _, _ := gated(t, "b")
	c, _, _ := gated(t, "c")
	f := follow(t, file("", "a", a))
	save(t, f.file, file("", "b", b))
	f.err.wait(t, "was read anew: added b; removed a")
	check(t, os.Rename(f.file, f.file+"~"))
	put(t, f.file, file("", "b", b, "c", c))
	f.err.wait(t, "was read anew: added c")
	check(t, os.Remove(f.file))
	f.err.wait(t, "mcp.json is not there any more; what was read before stays in use")
	save(t, f.file, file("", "c", c))
	f.err.wait(t, "was read anew: removed b")
	f.end(t)
}

// TestReloadOfAStorm writes the file a hundred times, between any two looks at it: it is read when that is over, and once.
func TestReloadOfAStorm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "mcp.json")
		put(t, path, file(""))
		conf, err := config.ReadFile(path, config.Options{})
		check(t, err)
		near, far := transport.Pair(0)
		var out lines
		done := make(chan error, 1)
		go func() { // ends with near
			done <- Run(context.Background(), Options{Config: conf, Stdio: far, Stderr: &out, Source: &Source{
				File: path, Watch: lookEvery,
				Read: func(context.Context) (*config.Config, error, error) {
					conf, err := config.ReadFile(path, config.Options{})
					return conf, nil, err
				},
			}})
		}()
		time.Sleep(lookEvery / 2)
		for i := range 100 {
			put(t, path, file(fmt.Sprintf(`"callTimeout": "%ds"`, i+1)))
			time.Sleep(lookEvery)
		}
		if said := out.String(); strings.Contains(said, "anew") {
			t.Errorf("while it is written:\n%s", said)
		}
		put(t, path, file(`"prefix": "always"`))
		time.Sleep(3 * lookEvery)
		synctest.Wait()
		if said := out.String(); strings.Count(said, "was read anew") != 1 || !strings.Contains(said, "was read anew: settings prefix\n") {
			t.Errorf("after that:\n%s", said)
		}
		check(t, near.Close())
		check(t, <-done)
	})
}

// TestReloadOfSettings changes what the gateway's section says.
func TestReloadOfSettings(t *testing.T) {
	a, _, _ := gated(t, "a")
	f := follow(t, file("", "a", a))
	f.err.wait(t, "a: ready")
	l := listen(t, f.url, client.Auto)
	if got := initialize(t, f.url, "mcp.example", "https://app.example"); got != http.StatusForbidden {
		t.Errorf("a host that is not listed: status %d", got)
	}
	save(t, f.file, file(`"prefix": "always", "allowedHosts": ["mcp.example"], "allowedOrigins": ["https://app.example"], "servers": {"a": {"alias": "z"}},
		"listen": "127.0.0.1:1", "pageSize": 1, "requireAll": true`, "a", a))
	f.err.wait(t, "was read anew: settings allowedHosts, allowedOrigins, prefix, alias, pageSize")
	f.err.wait(t, "requireAll in "+f.file+" waits for the next start")
	f.err.wait(t, "listen in "+f.file+" is not used, since --listen 127.0.0.1:0 stands on the command line")
	l.until(t, "z__a", "z__a_wait")
	if page, err := l.ListTools(t.Context(), nil); err != nil || len(page.Tools) != 1 || page.NextCursor == nil {
		t.Errorf("a page of one: %+v, %v", page, err)
	}
	f.err.wait(t, `tool "a" of server "a" is shown as "z__a"`)
	if said := f.err.String(); strings.Index(said, "was read anew") > strings.Index(said, "is shown as") {
		t.Errorf("names are told before what was done:\n%s", said)
	}
	if got := initialize(t, f.url, "mcp.example", "https://app.example"); got != http.StatusOK {
		t.Errorf("a host that is listed now: status %d", got)
	}
	f.end(t)
}

// TestReloadOnDemand reads the file when somebody asks, and says so where nothing is different.
func TestReloadOnDemand(t *testing.T) {
	a, _, _ := gated(t, "a")
	f := follow(t, file("", "a", a))
	f.again <- struct{}{}
	f.err.wait(t, "was read anew: nothing that the gateway uses is different")
	save(t, f.file, file("", "b", a))
	f.again <- struct{}{}
	f.err.wait(t, "was read anew: added b; removed a")
	f.err.wait(t, "b: ready")
	f.again <- struct{}{}
	if n := f.anew(); n > 3 {
		t.Errorf("read anew %d times", n)
	}
	f.end(t)
}

// TestReloadWarnsWhenThereIsNoServer, as at the start.
func TestReloadWarnsWhenThereIsNoServer(t *testing.T) {
	a, _, _ := gated(t, "a")
	f := follow(t, file("", "a", a))
	save(t, f.file, file(""))
	f.err.wait(t, "no server to connect to")
	f.end(t)
}

// TestAliasOfADisabledServer holds that a server may be switched off and keep its alias.
func TestAliasOfADisabledServer(t *testing.T) {
	text := `{"gateway": {"servers": {"off": {"alias": "o"}}}, "mcpServers": {"off": {"command": "x", "disabled": true}}}`
	f := follow(t, text)
	save(t, f.file, strings.Replace(text, "true", "false", 1))
	f.err.wait(t, "was read anew: added off")
	save(t, f.file, text)
	f.err.wait(t, "was read anew: removed off")
	f.end(t)
}

// TestReloadLeavesNothing holds that no goroutine is left of servers that came and went.
func TestReloadLeavesNothing(t *testing.T) {
	a, _, _ := gated(t, "a")
	before := runtime.NumGoroutine()
	f := follow(t, file("", "a", a))
	for i := range 5 {
		save(t, f.file, file("", fmt.Sprintf("s%d", i), a))
		f.err.wait(t, fmt.Sprintf("added s%d", i))
	}
	f.end(t)
	http.DefaultClient.CloseIdleConnections()
	for end := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before+4; time.Sleep(10 * time.Millisecond) { // connections of the test's own server go by and by
		if time.Now().After(end) {
			buf := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
		}
	}
}
