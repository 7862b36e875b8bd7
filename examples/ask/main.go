// Command ask is a client: it says what a server offers, calls a tool and reads a resource.
//
// Usage:
//
//	go run ./examples/ask [-tool NAME [-args JSON]] [-read URI] URL
//	go run ./examples/ask [-tool NAME [-args JSON]] [-read URI] -- COMMAND ARGUMENTS
//
// Results go to standard output. The exit code is 1 when something failed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "ask:", explain(err))
		os.Exit(1)
	}
}

// wish is what the command line asks for.
type wish struct {
	tool, args, read string
	timeout          time.Duration
	server           []string // a URL, or a command and its arguments
}

func parse(args []string) (wish, error) {
	var w wish
	flags := flag.NewFlagSet("ask", flag.ContinueOnError)
	flags.StringVar(&w.tool, "tool", "", "call the tool `NAME`")
	flags.StringVar(&w.args, "args", "{}", "arguments of the tool, as a `JSON` object")
	flags.StringVar(&w.read, "read", "", "read the resource `URI`")
	flags.DurationVar(&w.timeout, "timeout", 0, "how long to wait without a sign of life, such as 30s")
	if err := flags.Parse(args); err != nil {
		return w, err
	}
	if w.server = flags.Args(); len(w.server) == 0 {
		return w, errors.New("which server? Give a URL, or -- and a command that starts one")
	}
	return w, nil
}

// run does what the command line asks for.
func run(ctx context.Context, args []string, out io.Writer) error {
	w, err := parse(args)
	if err != nil {
		return err
	}
	c, err := dial(ctx, w.server, max(w.timeout, time.Minute)) // "go run" compiles before it serves
	if err != nil {
		return err
	}
	err = w.ask(ctx, c, out)
	return errors.Join(err, c.Close())
}

// dial connects to a URL, or starts a command. Which era the server speaks is found out on the way.
func dial(ctx context.Context, server []string, wait time.Duration) (*client.Client, error) {
	opts := client.Options{Info: mcp.Implementation{Name: "ask", Version: "1.0.0"}, ConnectTimeout: wait}
	if strings.Contains(server[0], "://") {
		return client.DialHTTP(ctx, server[0], opts)
	}
	return client.DialStdio(ctx, client.Command{Path: server[0], Args: server[1:], Stderr: os.Stderr}, opts)
}

func (w wish) ask(ctx context.Context, c *client.Client, out io.Writer) error {
	if err := offers(ctx, c, out); err != nil {
		return err
	}
	if w.tool != "" {
		if err := call(ctx, c, w, out); err != nil {
			return err
		}
	}
	if w.read != "" {
		return read(ctx, c, w.read, out)
	}
	return nil
}
