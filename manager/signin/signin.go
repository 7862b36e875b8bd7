package signin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/rialto-mcp/rialto/auth/oauth"
	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/manager"
)

// Options configures Tokens. The zero value is ready to use.
type Options struct {
	// Store keeps the tokens and registrations of all servers. Nil means in memory.
	Store oauth.Store

	// All takes in servers whose entries say nothing about signing in, too: one that answers 401 then needs a login like the
	// others. An entry with "oauth": false, or with an Authorization header of its own, is never taken in.
	All bool

	// Open shows the page of a login. Nil means oauth.OpenBrowser.
	Open func(ctx context.Context, page string) error

	// Flow gives another way to sign in at a server than a browser on this machine. Nil, and a nil flow, mean the browser. A
	// flow that needs no person, such as oauth.ClientCredentials, is used in the background as well.
	Flow func(s manager.Server) oauth.Flow

	// OAuth is the pattern of all the rest: the name of the client, a document of its own, the logger. What an entry says is
	// added or wins. Flow, Store and Pause of it are not used.
	OAuth oauth.Options
}

// Tokens signs in at servers. Its methods may be called concurrently. Close it after the manager that it configures.
type Tokens struct {
	opts Options

	mu      sync.Mutex
	byName  map[string]*desk
	retired []*desk // of entries that say something else now; their connections may still be at work
}

// desk is where one server's tokens are got.
type desk struct {
	url   string
	oauth *manager.OAuth
	auth  *oauth.Authorizer // nil where err is not
	err   error
}

// New makes Tokens. It touches nothing.
func New(opts Options) *Tokens {
	if opts.Store == nil {
		opts.Store = oauth.NewMemoryStore(0)
	}
	return &Tokens{opts: opts, byName: make(map[string]*desk)}
}

// Handles tells whether a server is one to sign in at: it is spoken to over HTTP, and its entry says so or Options.All is set.
func (t *Tokens) Handles(s manager.Server) bool {
	if s.Transport != manager.HTTP && s.Transport != manager.SSE || !strings.HasPrefix(s.URL, "http") {
		return false
	}
	if s.HasAuthorization() {
		return false
	}
	if s.OAuth == nil {
		return t.opts.All
	}
	return !s.OAuth.Off
}

// Configure is for manager.Options.Configure: it puts the authorization under the connections of the servers that Handles
// tells of, and leaves the others as they are. An entry that cannot be used makes the connection fail with the reason.
func (t *Tokens) Configure(s manager.Server, o *client.Options) {
	if !t.Handles(s) {
		return
	}
	var web http.Client
	if o.HTTPClient != nil {
		web = *o.HTTPClient
	}
	d := t.desk(s, web.Transport)
	if d.err != nil {
		web.Transport = refusal{d.err}
	} else {
		web.Transport = d.auth
	}
	o.HTTPClient = &web
}

// Login lets the user sign in at a server, and waits as long as ctx allows; nothing is asked where the server is content with
// what is stored. The manager's Hurry then tries the server again.
func (t *Tokens) Login(ctx context.Context, s manager.Server) error {
	if !t.Handles(s) {
		return fmt.Errorf("sign in at %q: its entry does not ask for it; add \"oauth\": {}", s.Name)
	}
	auth, err := t.authorizer(s, nil, t.flow(s))
	if err != nil {
		return fmt.Errorf("sign in at %q: %w", s.Name, err)
	}
	err = auth.Login(ctx)
	return errors.Join(err, auth.Close())
}

// Logout forgets the tokens of a server, and tells its authorization server.
func (t *Tokens) Logout(ctx context.Context, s manager.Server) error {
	d := t.desk(s, nil)
	if d.err != nil {
		return fmt.Errorf("sign out at %q: %w", s.Name, d.err)
	}
	return d.auth.Logout(ctx)
}

// Close ends what is under way. It may be called twice.
func (t *Tokens) Close() error {
	t.mu.Lock()
	all := t.retired
	for _, d := range t.byName {
		all = append(all, d)
	}
	t.byName, t.retired = make(map[string]*desk), nil
	t.mu.Unlock()
	var errs []error
	for _, d := range all {
		if d.auth != nil {
			errs = append(errs, d.auth.Close())
		}
	}
	return errors.Join(errs...)
}

// desk gives the desk of a server, a new one where its entry says something else now.
func (t *Tokens) desk(s manager.Server, base http.RoundTripper) *desk {
	t.mu.Lock()
	defer t.mu.Unlock()
	had := t.byName[s.Name]
	if had != nil && had.url == s.URL && reflect.DeepEqual(had.oauth, s.OAuth) {
		return had
	}
	if had != nil {
		t.retired = append(t.retired, had)
	}
	d := &desk{url: s.URL, oauth: s.OAuth}
	d.auth, d.err = t.authorizer(s, base, unattended(t.flow(s)))
	t.byName[s.Name] = d
	return d
}

// unattended is what a flow becomes while no person has asked for a login.
func unattended(flow oauth.Flow) oauth.Flow {
	switch flow.(type) {
	case oauth.Browser, oauth.Redirect, oauth.Device:
		return oauth.Stored{}
	}
	return flow
}

func (t *Tokens) flow(s manager.Server) oauth.Flow {
	if t.opts.Flow != nil {
		if flow := t.opts.Flow(s); flow != nil {
			return flow
		}
	}
	if s.OAuth != nil && s.OAuth.CallbackHost == "localhost" {
		return localhost{open: t.open, port: s.OAuth.CallbackPort, path: s.OAuth.CallbackPath}.flow()
	}
	browser := oauth.Browser{Open: t.opts.Open}
	if s.OAuth != nil {
		browser.Port, browser.Path = s.OAuth.CallbackPort, s.OAuth.CallbackPath
	}
	return browser
}

func (t *Tokens) open(ctx context.Context, page string) error {
	if t.opts.Open != nil {
		return t.opts.Open(ctx, page)
	}
	return oauth.OpenBrowser(ctx, page)
}

// authorizer makes an authorizer as the entry says it.
func (t *Tokens) authorizer(s manager.Server, base http.RoundTripper, flow oauth.Flow) (*oauth.Authorizer, error) {
	o := t.opts.OAuth
	o.Flow, o.Store, o.Pause = flow, t.opts.Store, 0
	if _, stored := flow.(oauth.Stored); stored {
		o.Pause = -1 // a login elsewhere counts at once
	}
	if o.Base == nil {
		o.Base = base
	}
	if len(s.Headers) > 0 { // Login has no client that sends them
		o.Base = headers{s.Headers, o.Base}
	}
	if e := s.OAuth; e != nil {
		issuer, err := issuerOf(e)
		if err != nil {
			return nil, err
		}
		if issuer != "" {
			o.Issuer, o.Choose = issuer, only(issuer)
		}
		if e.ClientID != "" {
			o.Credentials = []oauth.Credentials{{Issuer: issuer, ClientID: e.ClientID, Secret: e.ClientSecret}}
		}
		if e.ClientMetadataURL != "" {
			o.ClientMetadataURL = e.ClientMetadataURL
		}
		o.Scopes = append(slices.Clone(o.Scopes), e.Scopes...)
	}
	auth, err := oauth.New(s.URL, o)
	if err != nil {
		return nil, &manager.UnsupportedError{Text: err.Error()}
	}
	return auth, nil
}

// only chooses one authorization server and no other.
func only(issuer string) func(context.Context, []string) (string, error) {
	return func(_ context.Context, offered []string) (string, error) {
		if slices.Contains(offered, issuer) {
			return issuer, nil
		}
		return "", errors.New("the server names other authorization servers than the one of its entry")
	}
}

// issuerOf gives the authorization server that an entry names: by its name, or by one of the usual addresses of its metadata
// (RFC 8414, section 3.1, and OpenID Connect Discovery, section 4.1), which hold the name.
func issuerOf(e *manager.OAuth) (string, error) {
	if e.Issuer != "" || e.MetadataURL == "" {
		return e.Issuer, nil
	}
	u, err := url.Parse(e.MetadataURL)
	if err == nil {
		for _, usual := range []string{"/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"} {
			before, behind, ok := strings.Cut(u.Path, usual)
			if ok && (behind == "" || before == "" && behind[0] == '/') {
				return u.Scheme + "://" + u.Host + before + behind, nil
			}
		}
	}
	return "", &manager.UnsupportedError{Text: "the address of the metadata in oauth is none of the usual ones, which hold \"/.well-known/\"; give the issuer instead"}
}

// refusal answers every request with one error.
type refusal struct{ err error }

func (r refusal) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		_ = req.Body.Close() // nothing of it was read
	}
	return nil, r.err
}

// headers sends those of an entry, where the request has none of that name.
type headers struct {
	values map[string]string
	base   http.RoundTripper
}

func (h headers) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	for name, value := range h.values {
		if req.Header.Get(name) == "" {
			req.Header.Set(name, value)
		}
	}
	if h.base == nil {
		return http.DefaultTransport.RoundTrip(req)
	}
	return h.base.RoundTrip(req)
}
