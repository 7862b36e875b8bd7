// Command weather is a server with one of everything: a tool with checked arguments, structured output and progress, a
// family of resources, and a prompt whose argument can be completed.
//
// Usage: go run ./examples/weather [-addr HOST:PORT | -stdio]
//
// Over HTTP the endpoint is /mcp; its URL is printed on standard error. An interrupt or TERM ends the program. The weather
// is made up.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/rialto-mcp/rialto/server"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to listen, as `HOST:PORT`")
	stdio := flag.Bool("stdio", false, "serve standard input and output instead of HTTP")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	s := newServer(server.Options{})
	run := func() error { return serveHTTP(ctx, s, *addr, os.Stderr) }
	if *stdio {
		run = func() error { return s.RunStdio(ctx) }
	}
	if err := run(); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "weather:", err)
		os.Exit(1)
	}
}

// serveHTTP serves until ctx ends. The URL goes to out.
func serveHTTP(ctx context.Context, s *server.Server, addr string, out io.Writer) error {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", s.Handler())
	web := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	fmt.Fprintf(out, "listening on http://%s/mcp\n", listener.Addr())

	served := make(chan error, 1)
	go func() { served <- web.Serve(listener) }() // ended by Shutdown
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	err = s.Shutdown(grace) // streams first: they would keep the web server waiting
	if web.Shutdown(grace) != nil {
		err = errors.Join(err, web.Close()) // somebody has not sent all of a request yet
	}
	return err
}
