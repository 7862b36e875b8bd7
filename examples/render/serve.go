package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/tasks"
	"github.com/rialto-mcp/rialto/tasks/boltstore"
)

type film struct {
	Title   string  `json:"title"`
	Seconds float64 `json:"seconds" jsonschema:"How long it takes"`
}

// newServer builds a server whose tool takes its time.
func newServer(store tasks.Store) *server.Server {
	s := server.New(mcp.Implementation{Name: "render", Version: "1.0.0"}, server.Options{
		Tasks: tasks.New(tasks.Options{
			Store: store, TTL: 24 * time.Hour,
			OnError: func(err error) { slog.Error("tasks", "error", err) }, // a full disk, say; clients are not told the detail
		}),
	})
	server.AddTool(s, mcp.Tool{Name: "render", Description: "Renders a film", Execution: tasks.May()}, render)
	return s
}

// render moves its work into a task, where the client takes one. What is wrong is said before.
func render(ctx context.Context, req *server.Request, in film) (string, error) {
	if in.Title == "" {
		return "", errors.New("a film needs a title")
	}
	return tasks.Run(ctx, req, func(ctx context.Context, req *server.Request) (string, error) {
		const scenes = 10
		for scene := range scenes {
			req.Progress(ctx, float64(scene), scenes, fmt.Sprintf("scene %d of %d", scene+1, scenes))
			select {
			case <-time.After(time.Duration(in.Seconds * float64(time.Second) / scenes)):
			case <-ctx.Done(): // cancelled, out of time, or shut down
				return "", context.Cause(ctx)
			}
		}
		return in.Title + " is ready", nil
	}, tasks.RunOptions{PollInterval: 200 * time.Millisecond})
}

// serve serves until ctx ends.
func serve(ctx context.Context, args []string) (err error) {
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	addr := flags.String("addr", "127.0.0.1:8080", "where to listen, as `HOST:PORT`")
	file := flags.String("file", "tasks.db", "the `FILE` that keeps the tasks")
	if err := flags.Parse(args); err != nil {
		return err
	}
	store, err := boltstore.Open(*file, boltstore.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	s := newServer(store)
	listener, err := net.Listen("tcp", *addr)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "listening on http://%s/mcp\n", listener.Addr())
	mux := http.NewServeMux()
	mux.Handle("/mcp", s.Handler())
	web := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- web.Serve(listener) }() // ended by Shutdown, awaited below
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	err = errors.Join(s.Shutdown(grace), web.Shutdown(grace))
	if end := <-served; !errors.Is(end, http.ErrServerClosed) {
		err = errors.Join(err, end)
	}
	return err
}
