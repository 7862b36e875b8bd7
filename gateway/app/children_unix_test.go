//go:build unix

package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

const childVariable = "RIALTO_TEST_CHILD"

// TestMain lets the test program be a server that the gateway starts.
func TestMain(m *testing.M) {
	name := os.Getenv(childVariable)
	if name == "" {
		os.Exit(m.Run())
	}
	s := server.New(mcp.Implementation{Name: name, Version: "1"}, server.Options{})
	server.AddTool(s, mcp.Tool{Name: name}, func(context.Context, *server.Request, struct{}) (string, error) {
		return strconv.Itoa(os.Getpid()), nil
	})
	if err := s.RunStdio(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// TestReloadLeavesNoChild holds that a program whose entry is gone, or says something else, ends while the gateway runs on, that
// one whose entry stays is not started again, and that the rest ends with the gateway.
func TestReloadLeavesNoChild(t *testing.T) {
	self, err := os.Executable()
	check(t, err)
	text := func(names ...string) string {
		servers := ""
		for i, name := range names {
			if i > 0 {
				servers += ","
			}
			servers += fmt.Sprintf(`"s%d": {"command": %q, "env": {%q: %q}}`, i, self, childVariable, name)
		}
		return `{"mcpServers": {` + servers + `}}`
	}
	f := follow(t, text("a", "b", "c"))
	for _, name := range []string{"s0", "s1", "s2"} {
		f.err.wait(t, name+": ready")
	}
	l := listen(t, f.url, client.Auto)
	pid := func(tool string) int {
		t.Helper()
		result, err := l.CallTool(t.Context(), tool, nil)
		check(t, err)
		n, err := strconv.Atoi(result.Text())
		check(t, err)
		return n
	}
	gone := func(name string, pid int) {
		t.Helper()
		for end := time.Now().Add(10 * time.Second); !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s still runs", name)
			}
		}
	}
	a, b, c := pid("a"), pid("b"), pid("c")
	save(t, f.file, text("a", "d"))
	f.err.wait(t, "was read anew: removed s2; changed s1")
	gone("the one that was replaced", b)
	gone("the one that was taken out", c)
	l.until(t, "a", "d")
	if again := pid("a"); again != a {
		t.Errorf("the one that stays was %d and is %d", a, again)
	}
	d := pid("d")
	f.end(t)
	gone("the one that stayed", a)
	gone("the new one", d)
}
