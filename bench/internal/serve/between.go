package serve

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"syscall"
)

// Between runs what stands in front of another server, as the flags say, until it is told to stop. It is the whole main of such
// a program.
func Between(front func(ctx context.Context, upstream string) (http.Handler, error)) {
	flags := flag.NewFlagSet("front", flag.ExitOnError)
	addr := flags.String("addr", "127.0.0.1:0", "HOST:PORT to serve HTTP on")
	upstream := flags.String("upstream", "", "URL of the server behind")
	_ = flags.Parse(os.Args[1:]) // it exits where it fails
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	handler, err := front(ctx, *upstream)
	if err == nil {
		err = listen(ctx, *addr, handler)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
