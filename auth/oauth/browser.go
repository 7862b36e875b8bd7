package oauth

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Browser is the login of a person in a browser on this machine. The answer comes to an address of this machine that is
// open during the login alone. RFC 8252, section 7.3.
type Browser struct {
	// Open shows a page. Nil means OpenBrowser. A program without a screen prints the address for its user here.
	Open func(ctx context.Context, page string) error

	// Port is where the answer is waited for. Zero takes the one of the last login where it is free, else any. With another
	// one, a taken port fails the login.
	Port int

	// Path is where the browser is sent back to; "/callback" by default. Set it, and Port where the authorization server
	// insists on one, to what was registered by hand.
	Path string

	// Page is what the person sees in the end, as HTML. Empty means a short text.
	Page string
}

func (b Browser) check(Options) error {
	if b.Port < 0 || b.Port > 65535 {
		return fmt.Errorf("oauth: %d is no port", b.Port)
	}
	if b.Path != "" && (b.Path[0] != '/' || strings.ContainsAny(b.Path, "?# {}")) {
		return errors.New("oauth: Browser.Path has to begin with / and to be a plain path")
	}
	return nil
}

func (Browser) interactive() bool { return true }
func (Browser) grants() []string  { return []string{grantCode, grantRefresh} }

func (b Browser) run(ctx context.Context, v *visit) (*answer, string, error) {
	if b.Path == "" {
		b.Path = "/callback"
	}
	if b.Open == nil {
		b.Open = OpenBrowser
	}
	listener, err := b.listen(ctx, v)
	if err != nil {
		return nil, "", err
	}
	defer listener.Close()
	redirect := "http://" + listener.Addr().String() + b.Path
	return v.byCode(ctx, redirect, func(ctx context.Context, page, state string) (url.Values, error) {
		return b.show(ctx, listener, page, state)
	})
}

// listen opens the port for the answer. The one that the client was registered with is tried first: then the registration
// is good for this login too.
func (b Browser) listen(ctx context.Context, v *visit) (net.Listener, error) {
	const host = "127.0.0.1:" // never a name, which might lead elsewhere, RFC 8252, section 8.3
	var config net.ListenConfig
	if b.Port != 0 {
		listener, err := config.Listen(ctx, "tcp4", host+strconv.Itoa(b.Port))
		if err != nil {
			return nil, fmt.Errorf("wait for the answer of the browser on port %d: %w", b.Port, err)
		}
		return listener, nil
	}
	var had registration
	if ok, err := v.a.readStored(ctx, v.a.registrationKey(v.server.Issuer), &had); err != nil {
		return nil, err
	} else if u, err := url.Parse(had.Redirect); ok && err == nil && u.Path == b.Path && u.Hostname() == "127.0.0.1" {
		if listener, err := config.Listen(ctx, "tcp4", u.Host); err == nil {
			return listener, nil
		}
	}
	listener, err := config.Listen(ctx, "tcp4", host+"0")
	if err != nil {
		return nil, fmt.Errorf("wait for the answer of the browser: %w", err)
	}
	return listener, nil
}

// show opens the page and waits for the one answer that carries the state of this login.
func (b Browser) show(ctx context.Context, listener net.Listener, page, state string) (url.Values, error) {
	answers := make(chan url.Values, 1)
	srv := &http.Server{
		Handler: b.handler(listener.Addr().String(), state, answers), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		WriteTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10,
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(listener) }() // ends with Shutdown or Close below
	defer func() {
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		if srv.Shutdown(bounded) != nil { // lets the last page reach the browser
			srv.Close()
		}
	}()
	if err := b.Open(ctx, page); err != nil {
		return nil, fmt.Errorf("open the browser: %w", err)
	}
	select {
	case back := <-answers:
		return back, nil
	case err := <-served:
		return nil, fmt.Errorf("wait for the answer of the browser: %w", err)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// handler takes the first answer with the right state. Others are told that they are wrong here: any page in any browser
// can send requests to this port.
func (b Browser) handler(host, state string, answers chan<- url.Values) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Referrer-Policy", "no-referrer")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if r.Method != http.MethodGet || r.URL.Path != b.Path || r.Host != host || !same(r.URL.Query().Get("state"), state) {
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(strangePage)) // a reader that has gone needs no page
			return
		}
		select {
		case answers <- r.URL.Query():
		default: // reloaded: the first answer counts
		}
		page := b.Page
		if page == "" {
			page = donePage
		}
		_, _ = w.Write([]byte(page)) // likewise
	})
}

const (
	donePage = `<!doctype html><html lang="en"><title>Back to your program</title>
<body style="font-family:system-ui,sans-serif;max-width:32em;margin:20vh auto;padding:0 1em">
<h1>That is all here</h1><p>The answer has reached your program, which goes on now. You can close this page.</p></body></html>
`
	strangePage = `<!doctype html><html lang="en"><title>Nothing here</title>
<body style="font-family:system-ui,sans-serif;max-width:32em;margin:20vh auto;padding:0 1em">
<h1>Nothing here</h1><p>This page belongs to no login that is under way. Begin again in your program.</p></body></html>
`
)

// OpenBrowser shows a page in the browser of the person at this machine. It does not wait for the browser to end.
func OpenBrowser(ctx context.Context, page string) error {
	u, err := url.Parse(page)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" {
		return errors.New("this is no web page")
	}
	command := map[string][]string{"darwin": {"open"}, "windows": {"rundll32", "url.dll,FileProtocolHandler"}}[runtime.GOOS]
	if command == nil {
		command = []string{"xdg-open"}
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), command[0], append(command[1:], u.String())...)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%w; set Browser.Open to show the address in another way, or use the flow Device", err)
	}
	go func() { _ = cmd.Wait() }() // reaps the starter, which ends by itself; how is of no interest
	return nil
}
