package oauth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Authorizer authorizes the requests of one client, or several, to one MCP server. It is an http.RoundTripper. Its methods
// may be called concurrently. Close it at the end.
type Authorizer struct {
	server *url.URL
	where  string // scheme and host, for errors
	opts   Options
	base   http.RoundTripper
	own    *http.Transport // base, where the user gave none
	web    *web
	log    *slog.Logger
	now    func() time.Time

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	work   sync.WaitGroup // of flights

	mu     sync.Mutex
	loaded bool   // the store was asked
	held   *token // what is used now; never changed in place
	at     *place // of the last discovery
	flight *flight
	failed error // of the last flight; nil where it may be tried again
	since  time.Time
	nonces map[string]string // of DPoP, by origin
	closed bool
}

var _ http.RoundTripper = (*Authorizer)(nil)

// New makes an authorizer for the MCP server at an address, the one that is dialled. It does no I/O, and fails when the
// address is none that tokens may be sent to or an option is wrong.
func New(server string, opts Options) (*Authorizer, error) {
	u, err := url.Parse(server)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return nil, errors.New("the address of an MCP server begins with https:// or http://")
	case u.Scheme == "http" && !isLoopbackHost(u.Hostname()) && !opts.PlainHTTP:
		return nil, fmt.Errorf("tokens are sent over https only, and %s is no such address; Options.PlainHTTP allows it in closed networks", plainURL(u))
	}
	u.User, u.Fragment = nil, ""
	opts = opts.withDefaults()
	if err := opts.check(); err != nil {
		return nil, err
	}
	a := &Authorizer{server: u, where: u.Scheme + "://" + u.Host, opts: opts, base: opts.Base, log: opts.Logger,
		now: time.Now, nonces: map[string]string{}}
	a.ctx, a.cancel = context.WithCancel(context.Background())
	a.web = newWeb(newGuard(u, opts.PlainHTTP), opts)
	if a.base == nil {
		a.own = &http.Transport{}
		if standard, ok := http.DefaultTransport.(*http.Transport); ok {
			a.own = standard.Clone()
		}
		a.own.MaxIdleConnsPerHost = 64 // calls run side by side, and each has a connection
		a.base = a.own
	}
	return a, nil
}

func (o Options) check() error {
	if o.Flow == nil {
		return errors.New("oauth: Options.Flow has to say how a token is got, for example Browser{}")
	}
	if u, err := url.Parse(o.ClientMetadataURL); o.ClientMetadataURL != "" &&
		(err != nil || u.Scheme != "https" || u.Host == "" || strings.Trim(u.Path, "/") == "") {
		return errors.New("oauth: Options.ClientMetadataURL has to be an https address with a path")
	}
	for _, c := range o.Credentials {
		if err := c.check(); err != nil {
			return err
		}
	}
	return o.Flow.check(o)
}

// String names the server, and shows nothing of what the authorizer holds; so does GoString.
func (a *Authorizer) String() string { return "oauth.Authorizer of " + a.where }

// GoString is String, for %#v.
func (a *Authorizer) GoString() string { return a.String() }

// Client answers an http.Client that goes through the authorizer, for client.Options.HTTPClient.
func (a *Authorizer) Client() *http.Client { return &http.Client{Transport: a} }

// Login makes sure that the server accepts this client: it sends a ping, and goes through the whole of the authorization
// when the server wants one. It waits as long as ctx allows, and tries again at once what has failed a moment ago. It fails
// with an [*Error] when there is no token, or the server refuses it, and with another one when the server cannot be reached.
func (a *Authorizer) Login(ctx context.Context) error {
	a.mu.Lock()
	a.failed = nil
	a.mu.Unlock()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.server.String(), strings.NewReader(`{"jsonrpc":"2.0","id":"login","method":"ping"}`))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	resp, err := a.RoundTrip(req)
	if err != nil {
		return err
	}
	resp.Body.Close() // unread: it may be a stream without end
	if resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden {
		return &Error{Server: a.where, Doing: "log in", Err: fmt.Errorf("the server still answers with HTTP status %d", resp.StatusCode)}
	}
	return nil
}

// Close ends logins that are under way and waits for them. It may be called twice.
func (a *Authorizer) Close() error {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	a.cancel()
	a.work.Wait()
	a.web.close()
	if a.own != nil {
		a.own.CloseIdleConnections()
	}
	return nil
}

// discard reads the rest of a short answer, so that its connection can be used again.
func discard(resp *http.Response) {
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10) // what is left over costs the connection, nothing else
	resp.Body.Close()
}
