package signon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/rialto-mcp/rialto/auth/oauth"
	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/manager/signin"
	"github.com/rialto-mcp/rialto/mcp"
)

// Options configures a Desk. The zero value is ready to use, and keeps tokens in memory.
type Options struct {
	// Store keeps the tokens of logins. Nil means in memory.
	Store oauth.Store

	// Settings say what is said of a server. It may be called concurrently. Nil means nothing.
	Settings func(server string) Settings

	// Client is the pattern of the connections, and Roots are those of the servers; nil means none.
	Client client.Options
	Roots  *upstream.Roots

	// Back is the public address of the gateway, without a slash at the end, under which [Desk.Pages] are served: where the
	// browsers of callers who sign in come back to. It is asked for each login. Nil, and "", mean that callers cannot sign in.
	Back func() string

	// OnLogin is called after a caller has signed in at a server. It must not block.
	OnLogin func(server string, owner *upstream.Owner)

	// Prepare waits for the connections of a caller, for so long at most. Nil does not wait.
	Prepare func(ctx context.Context, c *upstream.Caller, most time.Duration)

	// Owner and Entry say what is known of the connection of a caller to a server, and of the server. Without them nobody can sign in.
	Owner func(server string, c *upstream.Caller) *upstream.Owner
	Entry func(server string) (manager.Server, bool)

	// Logger gets records of logins, without secrets. Nil means silence.
	Logger *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.Store == nil {
		o.Store = oauth.NewMemoryStore(0)
	}
	if o.Settings == nil {
		o.Settings = func(string) Settings { return Settings{} }
	}
	if o.Back == nil {
		o.Back = func() string { return "" }
	}
	if o.OnLogin == nil {
		o.OnLogin = func(string, *upstream.Owner) {}
	}
	if o.Prepare == nil {
		o.Prepare = func(context.Context, *upstream.Caller, time.Duration) {}
	}
	if o.Owner == nil {
		o.Owner = func(string, *upstream.Caller) *upstream.Owner { return nil }
	}
	if o.Entry == nil {
		o.Entry = func(string) (manager.Server, bool) { return manager.Server{}, false }
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Desk makes connections to servers with the credentials that they want. Its methods may be called concurrently. Close it after
// the upstreams that it has connected.
type Desk struct {
	opts   Options
	dial   func(context.Context, manager.Server, *upstream.Owner) (upstream.Conn, error)
	own    *signin.Tokens // of the gateway itself
	logins logins
}

// New makes a desk. It touches nothing.
func New(opts Options) *Desk {
	d := &Desk{opts: opts.withDefaults()}
	d.dial = upstream.DialingFor(d.opts.Client, d.opts.Roots, d.configure)
	d.own = signin.New(signin.Options{Store: d.opts.Store, OAuth: pattern("", d.opts.Logger)})
	d.logins.desk = d
	return d
}

// pattern is what all clients of authorization servers have in common. user tells whose tokens they are; "" for the gateway's.
func pattern(user string, logger *slog.Logger) oauth.Options {
	return oauth.Options{ClientName: "Rialto gateway", User: user, Logger: logger}
}

// Close ends logins that are under way, and returns when they have ended. It may be called twice.
func (d *Desk) Close() error {
	d.logins.close()
	return d.own.Close()
}

// Dismiss ends the logins under way of callers whom gone says yes to: they may not call any more.
func (d *Desk) Dismiss(gone func(*mcp.Principal) bool) { d.logins.dismiss(gone) }

// Sharing completes what is said of who shares connections to a server.
func (d *Desk) Sharing(server string, share upstream.Share) upstream.Sharing {
	s := d.opts.Settings(server)
	return upstream.Sharing{Share: share, Personal: s.Personal(), ByScopes: s.Exchanges()}
}

// ErrPersonal is why the gateway has no connection of its own to a server.
var ErrPersonal = fmt.Errorf("each caller is called for with credentials of its own, and the gateway has none (%w)", client.ErrUnauthorized)

// Dial is an [upstream.Dialer]: it connects with the credentials of the gateway itself.
func (d *Desk) Dial(ctx context.Context, s manager.Server) (upstream.Conn, error) {
	if d.opts.Settings(s.Name).Personal() {
		return nil, ErrPersonal
	}
	conn, err := d.dial(ctx, s, nil)
	return conn, d.advise(s, err)
}

// DialFor connects with the credentials of one caller, for upstream.Options.DialFor; where callers have none, with those of the
// gateway.
func (d *Desk) DialFor(ctx context.Context, s manager.Server, owner *upstream.Owner) (upstream.Conn, error) {
	set := d.opts.Settings(s.Name)
	conn, err := d.dial(ctx, s, owner)
	switch set.Type {
	case Own:
		return conn, d.advise(s, err)
	case Login:
		d.logins.note(s, owner, errors.Is(err, client.ErrUnauthorized))
	}
	return conn, err
}

// advise says what to do about a login of the gateway itself that is needed.
func (d *Desk) advise(s manager.Server, err error) error {
	var refused *client.AuthError
	switch {
	case err == nil || !errors.Is(err, client.ErrUnauthorized):
		return err
	case d.own.Handles(s):
		return &advised{fmt.Sprintf("%v; sign in with: rialto login %s", err, s.Name)}
	case errors.As(err, &refused) && s.OAuth == nil && !s.HasAuthorization():
		return &advised{fmt.Sprintf("HTTP status %d: the server wants authorization; give it credentials under \"headers\", or, where one signs in at it, "+
			"add \"oauth\": {} to its entry and run: rialto login %s", refused.Status, s.Name)}
	}
	return err
}

// advised is a refusal that says what to do.
type advised struct{ text string }

func (a *advised) Error() string { return a.text }

// Unwrap answers what the state of the server follows from; the rest is in the text.
func (a *advised) Unwrap() error { return client.ErrUnauthorized }

// configure puts credentials under a connection. It is an [upstream.Configure].
func (d *Desk) configure(s manager.Server, owner *upstream.Owner, o *client.Options) (release func() error, err error) {
	set := d.opts.Settings(s.Name)
	if owner == nil || !set.Personal() {
		d.own.Configure(s, o)
		return nil, nil
	}
	if set.Type == Exchange {
		p := pattern("", nil) // what fails is told with the connection
		p.Scopes, p.Flow = set.Scopes, set.exchange(owner)
		auth, err := oauth.New(s.URL, p) // its store is in memory and its own, so what it holds ends with the connection
		if err != nil {
			return nil, &manager.UnsupportedError{Text: err.Error()}
		}
		o.HTTPClient = auth.Client()
		return auth.Close, nil
	}
	t := d.tokensOf(owner, set, nil)
	t.Configure(s, o)
	return t.Close, nil
}

// tokensOf are the tokens of one caller: those it has got by signing in, or by what it shows. way is how it signs in now; nil where
// it is not asked to.
func (d *Desk) tokensOf(owner *upstream.Owner, set Settings, way oauth.Flow) *signin.Tokens {
	o := signin.Options{All: true, OAuth: pattern(owner.Principal.Key(), nil)} // of all its sessions alike
	o.OAuth.Scopes = set.Scopes
	switch {
	case set.Type == Enterprise:
		way = set.enterprise(owner) // in memory, as above
	case way == nil:
		way = oauth.Stored{}
		fallthrough
	default:
		o.Store = d.opts.Store
	}
	o.Flow = func(manager.Server) oauth.Flow { return way }
	return signin.New(o)
}

// Configure puts the tokens of the gateway itself under one connection, for programs beside it. release is called when that is
// closed.
func Configure(s manager.Server, o *client.Options, store oauth.Store) (release func() error) {
	t := signin.New(signin.Options{Store: store, OAuth: pattern("", nil)})
	t.Configure(s, o)
	return t.Close
}

// SignIn signs the gateway itself in at a server; show opens a page. It waits as long as ctx allows.
func SignIn(ctx context.Context, s manager.Server, store oauth.Store, show func(ctx context.Context, page string) error) error {
	t := signin.New(signin.Options{Store: store, Open: show, OAuth: pattern("", nil)})
	return errors.Join(t.Login(ctx, s), t.Close())
}

// SignOut forgets the tokens of one caller for a server, or of the gateway itself where who is nil, and tells its authorization
// server. It does nothing where there are none.
func SignOut(ctx context.Context, s manager.Server, store oauth.Store, who *mcp.Principal) error {
	t := signin.New(signin.Options{Store: store, All: who != nil, OAuth: pattern(who.Key(), nil)})
	return errors.Join(t.Logout(ctx, s), t.Close())
}
