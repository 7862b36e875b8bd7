// Package serve is the command line that all servers of the bench share: an address, or standard input and output.
package serve

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// Ready starts the line on standard error that names the address a server listens on.
const Ready = "listening on "

// Server is one echo server under measure.
type Server struct {
	HTTP  func(stateful bool) (http.Handler, error) // stateful: legacy requests run in sessions
	Stdio func(ctx context.Context) error           // serves standard input until its end
}

// Main runs s as the flags say and returns when it has been told to stop. It is the whole main of a server.
func Main(s Server) {
	if err := run(s, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(s Server, args []string) error {
	flags := flag.NewFlagSet("server", flag.ContinueOnError)
	addr := flags.String("addr", "", "HOST:PORT to serve HTTP on; empty means standard input and output")
	stateful := flags.Bool("stateful", false, "serve legacy requests in sessions")
	if err := flags.Parse(args); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if *addr == "" {
		return s.Stdio(ctx)
	}
	handler, err := s.HTTP(*stateful)
	if err != nil {
		return err
	}
	return listen(ctx, *addr, handler)
}

// listen serves handler on the path /mcp until ctx ends. Open streams are cut: nobody waits for a bench.
func listen(ctx context.Context, addr string, handler http.Handler) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", handler)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { server.Close() })()
	fmt.Fprintln(os.Stderr, Ready+l.Addr().String())
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
