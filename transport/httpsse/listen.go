package httpsse

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"strings"
	"time"
)

// DefaultAddr is where ListenAndServe listens when it is told nothing else.
const DefaultAddr = "127.0.0.1:8421"

// ListenAndServe listens on a TCP address and serves the handler there, as [Handler.Serve] does. An empty address means
// DefaultAddr, and one without a host (":8080") a loopback address: name a host, such as 0.0.0.0, to be reached from
// other machines.
func (h *Handler) ListenAndServe(ctx context.Context, addr string) error {
	switch {
	case addr == "":
		addr = DefaultAddr
	case strings.HasPrefix(addr, ":"):
		addr = "127.0.0.1" + addr
	}
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("listen for HTTP+SSE: %w", err)
	}
	return h.Serve(ctx, listener)
}

// grace is how long Serve waits for what runs when it is stopped.
const grace = 5 * time.Second

// Serve serves the handler on a listener until ctx ends or the handler is closed, and closes both. It first waits a few
// seconds for calls that run. It returns nil when it was stopped so, and the listener's error otherwise. Nothing it has
// started is left then.
func (h *Handler) Serve(ctx context.Context, listener net.Listener) error {
	h.warn(listener.Addr())
	web := &http.Server{
		Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		ErrorLog: log.New(reporter(h.opts.OnError), "", 0),
	}
	served := make(chan error, 1)
	go func() { served <- web.Serve(listener) }() // ends with web, which is closed below
	var err error
	select {
	case err = <-served:
	case <-ctx.Done():
	case <-h.closed:
	}
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if stop := h.Shutdown(limit); stop != nil {
		h.opts.OnError(fmt.Errorf("calls that ran when the server stopped were cancelled: %w", stop))
	}
	if web.Shutdown(limit) != nil {
		return errors.Join(err, web.Close())
	}
	return err
}

// reporter hands what net/http has to complain about to a function.
type reporter func(error)

func (r reporter) Write(line []byte) (int, error) {
	r(errors.New(strings.TrimSpace(string(line))))
	return len(line), nil
}

// warn tells of an address that others can reach while any Host is taken.
func (h *Handler) warn(addr net.Addr) {
	tcp, ok := addr.(*net.TCPAddr)
	if ok && !tcp.IP.IsLoopback() && h.guard.AnyHost() {
		h.opts.OnError(fmt.Errorf("listening on %s, which other machines can reach, for any Host; list the names it is known by in the option AllowedHosts", addr))
	}
}
