// Command booking is a server whose tool books a room and asks on the way: for the guest and the nights, for a welcome from
// the client's model, and for a last word. Nothing is kept in memory between the questions, so any number of copies can stand
// behind one address; all they share is a key. Legacy clients are served by the copy they have their session with.
//
// Usage:
//
//	go run ./examples/booking -bookings FOLDER [-key FILE] [-used FOLDER] [-addr HOST:PORT]
//
// FOLDER stands for a booking service elsewhere. FILE holds 64 hexadecimal digits, as "openssl rand -hex 32" prints them.
package main

import (
	"context"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/rialto-mcp/rialto/server"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "booking:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("booking", flag.ContinueOnError)
	addr := flags.String("addr", "127.0.0.1:8080", "where to listen, `HOST:PORT`")
	folder := flags.String("bookings", "", "the `FOLDER` of the booking service")
	slow := flags.Duration("slow", 0, "how long the booking service takes to answer, such as 2s")
	keyFile := flags.String("key", "", "the `FILE` with the key that all copies share; without one only this copy goes on with its calls")
	used := flags.String("used", "", "the `FOLDER` in which all copies note which states have been used; without one a state can be sent again")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *folder == "" {
		return errors.New("say with -bookings where the bookings are kept")
	}
	opts, err := options(*keyFile, *used)
	if err != nil {
		return err
	}
	return listen(ctx, *addr, newServer(opts, bookings{*folder, *slow}))
}

// options are what makes several copies one server.
func options(keyFile, used string) (server.Options, error) {
	opts := server.Options{Logger: slog.New(slog.NewTextHandler(os.Stderr, nil))}
	if keyFile != "" {
		text, err := os.ReadFile(keyFile)
		if err != nil {
			return opts, err
		}
		key, err := hex.DecodeString(strings.TrimSpace(string(text)))
		if err != nil {
			return opts, fmt.Errorf("%s holds no key: %w", keyFile, err)
		}
		opts.StateKeys = [][]byte{key}
	}
	if used != "" {
		opts.Consume = usedStates(used)
	}
	return opts, nil
}

func listen(ctx context.Context, addr string, s *server.Server) error {
	socket, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "listening on http://%s/mcp\n", socket.Addr())
	mux := http.NewServeMux()
	mux.Handle("/mcp", s.Handler())
	web := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	stopped := make(chan error, 1)
	go func() { // ends with ctx
		<-ctx.Done()
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		stopped <- errors.Join(s.Shutdown(last), web.Shutdown(last))
	}()
	if err := web.Serve(socket); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-stopped
}
