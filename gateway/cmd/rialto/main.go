package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/rialto-mcp/rialto/auth/oauth"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	e := &environment{
		stdout: os.Stdout, stderr: os.Stderr, lookup: os.LookupEnv, terminal: isTerminal(os.Stderr),
		console: openConsole(os.Stdin, os.Stderr), open: oauth.OpenBrowser, hangups: hangups,
	}
	seats := terminals(os.Stdin, os.Stdout, os.Stderr)
	e.deserted = func() bool { return len(terminals(seats...)) < len(seats) }
	os.Exit(run(ctx, os.Args[1:], e))
}

// environment is what the program touches of the world.
type environment struct {
	stdout, stderr io.Writer
	lookup         func(string) (string, bool)
	terminal       bool                                         // stderr is one: progress is shown
	folder         string                                       // where mcp.json is looked for; empty means the current one
	console        *console                                     // nil where nobody can be asked
	open           func(ctx context.Context, page string) error // shows a page in the user's browser

	hangups  func() (heard <-chan os.Signal, stop func()) // SIGHUP; nil hears none
	deserted func() bool                                  // the terminal that the program was started on has gone
}
