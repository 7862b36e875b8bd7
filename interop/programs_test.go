package interop

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"sync"
	"testing"

	mcpgoserver "github.com/mark3labs/mcp-go/server"
	gosdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/rialto-mcp/rialto/server"
)

// memoVariable makes the test program a memo server on standard input and output; its value says of which library.
const memoVariable = "RIALTO_INTEROP_MEMO"

var memos = map[string]func(ctx context.Context) error{
	"rialto": func(ctx context.Context) error { return ownMemo(server.Options{}).RunStdio(ctx) },
	"go-sdk": func(ctx context.Context) error { return goSDKMemo().Run(ctx, &gosdk.StdioTransport{}) },
	"mcp-go": func(context.Context) error { return mcpgoserver.ServeStdio(mcpGoMemo()) },
}

// scratch holds what all tests share: the programs of ours that they run, and what the race detector has found in these. It goes
// when the tests have run.
var scratch string

func TestMain(m *testing.M) {
	code, err := 0, error(nil)
	if serve := memos[os.Getenv(memoVariable)]; serve != nil {
		err = serve(context.Background())
	} else {
		code, err = withScratch(m.Run)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// raceVariable tells programs that were built with the race detector where its reports go. Their standard error is read by few.
const raceVariable = "GORACE"

// withScratch runs the tests with the folder. It fails where the race detector has found something in a program they have run.
func withScratch(tests func() int) (code int, err error) {
	if scratch, err = os.MkdirTemp("", "rialto-interop-"); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	reports := filepath.Join(scratch, "race")
	if err := os.Setenv(raceVariable, os.Getenv(raceVariable)+" log_path="+reports); err != nil {
		return 0, err
	}
	code = tests()
	files, err := filepath.Glob(reports + ".*")
	for _, file := range files {
		report, failed := os.ReadFile(file)
		err = errors.Join(err, failed, fmt.Errorf("a program that the tests have run has a data race:\n%s", report))
	}
	return code, err
}

// reporting is a command whose races are heard of, also where a client library keeps the environment from its servers.
func reporting(command ...string) []string {
	return append([]string{"env", raceVariable + "=" + os.Getenv(raceVariable)}, command...)
}

// memoCommand is the command of the memo server of one library over stdio.
func memoCommand(t testing.TB, library string) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return reporting(memoVariable+"="+library, self)
}

// ownCommand is the command of our own memo server over stdio.
func ownCommand(t testing.TB) []string {
	t.Helper()
	return memoCommand(t, "rialto")
}

// programs are the main packages that were built. Linking one takes seconds, so each is built once for all tests, with the flags
// that GOFLAGS gives to the tests as well.
var programs struct {
	mu    sync.Mutex
	built map[string]error // by import path
}

// program builds a main package and returns the file. A build that has failed is not tried again.
func program(t testing.TB, importPath string) string {
	t.Helper()
	programs.mu.Lock()
	defer programs.mu.Unlock()
	file := filepath.Join(scratch, path.Base(importPath))
	err, done := programs.built[importPath]
	if !done {
		if out, failed := exec.Command("go", "build", "-o", file, importPath).CombinedOutput(); failed != nil {
			err = fmt.Errorf("go build %s: %w\n%s", importPath, failed, out)
		}
		if programs.built == nil {
			programs.built = make(map[string]error)
		}
		programs.built[importPath] = err
	}
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// buildGateway compiles the command line.
func buildGateway(t testing.TB) string {
	t.Helper()
	return program(t, "github.com/rialto-mcp/rialto/gateway/cmd/rialto")
}
