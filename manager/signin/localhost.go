package signin

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/rialto-mcp/rialto/auth/oauth"
)

// localhost is a login whose browser is sent back to http://localhost, by that name: clients of hosts with a fixed port are
// registered so, and authorization servers compare the text.
type localhost struct {
	open func(ctx context.Context, page string) error
	port int // zero means 80, as in the address
	path string
}

func (l localhost) flow() oauth.Flow { return oauth.Redirect{URL: l.address(), Visit: l.visit} }

// address is where the browser is sent back to.
func (l localhost) address() string {
	u := url.URL{Scheme: "http", Host: "localhost", Path: l.path}
	if l.port != 0 {
		u.Host += ":" + strconv.Itoa(l.port)
	}
	if l.path == "" {
		u.Path = "/callback"
	}
	return u.String()
}

// visit shows a page and waits for the browser to come back.
func (l localhost) visit(ctx context.Context, page string) (back string, err error) {
	port := l.port
	if port == 0 {
		port = 80
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return "", fmt.Errorf("wait for the answer of the browser on port %d: %w", port, err)
	}
	arrived := make(chan string, 1)
	srv := &http.Server{Handler: l.handler(page, arrived), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(listener) }() // ends with Shutdown or Close below
	defer func() {
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		if srv.Shutdown(bounded) != nil { // lets the last page reach the browser
			err = errors.Join(err, srv.Close())
		}
	}()
	if err := l.open(ctx, page); err != nil {
		return "", fmt.Errorf("open the browser: %w", err)
	}
	select {
	case back = <-arrived:
		return back, nil
	case err := <-served:
		return "", fmt.Errorf("wait for the answer of the browser: %w", err)
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// handler takes the first answer with the state of this login; the authorizer judges the rest of it. Others are sent away, since
// any page in any browser can send requests to this port.
func (l localhost) handler(page string, arrived chan<- string) http.Handler {
	state := ""
	if u, err := url.Parse(page); err == nil {
		state = u.Query().Get("state")
	}
	here, err := url.Parse(l.address())
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Referrer-Policy", "no-referrer")
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		if err != nil || r.Method != http.MethodGet || r.Host != here.Host || r.URL.Path != here.Path || state == "" || r.URL.Query().Get("state") != state {
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte("This page belongs to no login that is under way.\n")) // a reader that has gone needs no page
			return
		}
		select {
		case arrived <- r.URL.String():
		default: // reloaded: the first answer counts
		}
		_, _ = w.Write([]byte("The answer has reached your program, which goes on now. You can close this page.\n")) // likewise
	})
}
