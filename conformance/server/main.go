// Command server is the everything-server for the official conformance suite: both eras on one address.
//
// Usage: go run ./conformance/server [-addr HOST:PORT]
//
// The endpoint is /mcp. Port 0 takes a free one; the URL is printed on standard error once connections are taken. An
// interrupt or TERM ends the program.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/rialto-mcp/rialto/conformance/fixture"
	"github.com/rialto-mcp/rialto/server"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:3000", "where to listen, as `HOST:PORT`")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "server: %q is too much; there are flags only\n", flag.Arg(0))
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *addr, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "server:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends. The URL and the log go to out.
func run(ctx context.Context, addr string, out io.Writer) error {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	mcp := fixture.New(server.Options{Logger: slog.New(slog.NewTextHandler(out, nil))})
	mux := http.NewServeMux()
	mux.Handle("/mcp", mcp.Handler())
	web := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}

	served := make(chan error, 1)
	go func() { served <- web.Serve(listener) }() // ended by Shutdown
	fmt.Fprintf(out, "listening on http://%s/mcp\n", listener.Addr())

	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	err = mcp.Shutdown(grace) // streams first: they would keep the web server waiting
	if web.Shutdown(grace) != nil {
		err = errors.Join(err, web.Close()) // somebody has not sent all of a request yet
	}
	return err
}
