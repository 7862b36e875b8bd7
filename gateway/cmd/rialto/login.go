package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/rialto-mcp/rialto/auth/oauth"
	"github.com/rialto-mcp/rialto/gateway/app"
	"github.com/rialto-mcp/rialto/gateway/signon"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
)

// entryFlags name a server of a file.
type entryFlags struct {
	Name string `arg:"" help:"Name of a server in the configuration file, with \"oauth\" in its entry."`

	Config string `placeholder:"FILE" help:"Configuration file. Without it mcp.json or .mcp.json in the current folder."`
	fileFlags
}

func (f *entryFlags) target() *targeted { return nil }
func (f *entryFlags) shift()            {}

// entry reads the entry.
func (f *entryFlags) entry(ctx context.Context, e *environment) (manager.Server, error) {
	t := &targeted{Target: f.Name, Config: f.Config, fileFlags: f.fileFlags}
	return t.named(ctx, e)
}

// loginCommand signs the gateway in at a server.
type loginCommand struct {
	entryFlags
	NoBrowser bool `help:"Print the address of the page to open instead of opening it."`
}

func (c *loginCommand) do(ctx context.Context, e *environment) error {
	s, err := c.entry(ctx, e)
	if err != nil {
		return err
	}
	store, err := e.tokens()
	if err != nil {
		return &failure{exit: exitUsage, step: "sign in", kind: "tokens", seen: err.Error()}
	}
	show := func(ctx context.Context, page string) error {
		if _, err := fmt.Fprintf(e.stderr, "Open this page in a browser on this machine, if it does not open by itself:\n%s\n", page); err != nil {
			return err
		}
		if c.NoBrowser {
			return nil
		}
		_ = e.open(ctx, page) // the address stands above
		return nil
	}
	if err := signon.SignIn(ctx, s, store, show); err != nil {
		return interrupted(ctx, unsigned("sign in at "+s.Name, s, err))
	}
	return e.print(fmt.Sprintf("Signed in at %s. A gateway that runs uses it within a few seconds.\n", clean(s.Name)))
}

// logoutCommand forgets what a login has brought.
type logoutCommand struct {
	entryFlags
	Caller string `placeholder:"NAME" help:"Forget the tokens of this caller, who signed in at the server by name, in place of the gateway's own. The name is that in gateway.auth.tokens, or the subject of an issuer's tokens."`
	Issuer string `placeholder:"URL" help:"With --caller: the issuer of the caller's tokens."`
	Client string `placeholder:"ID" help:"With --caller: the client that the caller's tokens were made for."`
}

// who is the caller whose tokens are meant; nil for the gateway itself.
func (c *logoutCommand) who() (*mcp.Principal, error) {
	switch {
	case c.Caller != "":
		return &mcp.Principal{Issuer: c.Issuer, Subject: c.Caller, ClientID: c.Client}, nil
	case c.Issuer != "" || c.Client != "":
		return nil, usage("--issuer and --client say which caller is meant; add --caller NAME")
	}
	return nil, nil
}

func (c *logoutCommand) do(ctx context.Context, e *environment) error {
	who, err := c.who()
	if err != nil {
		return err
	}
	s, err := c.entry(ctx, e)
	if err != nil {
		return err
	}
	store, err := e.tokens()
	if err != nil {
		return &failure{exit: exitUsage, step: "sign out", kind: "tokens", seen: err.Error()}
	}
	if err := signon.SignOut(ctx, s, store, who); err != nil {
		return interrupted(ctx, unsigned("sign out at "+s.Name, s, err))
	}
	if who != nil {
		said := fmt.Sprintf("Nothing is kept of %s at %s any more. A gateway that runs uses what it holds until that is over, or refused.\n", clean(who.Subject), clean(s.Name))
		if who.Issuer == "" || who.ClientID == "" {
			said += "A caller of an issuer is another one: name it with --issuer as well, and with --client where its tokens name a client.\n"
		}
		return e.print(said)
	}
	return e.print(fmt.Sprintf("Signed out at %s. A gateway that runs uses what it holds until that is over, or refused.\n", clean(s.Name)))
}

// unsigned explains why a login has failed.
func unsigned(step string, s manager.Server, err error) error {
	var known *oauth.Error
	if errors.As(err, &known) && !known.Temporary() {
		return &failure{exit: exitAuth, step: step, kind: "authorization", seen: manager.Reason(s, err)}
	}
	return explain(step, s, err)
}

// tokens opens the store of tokens.
func (e *environment) tokens() (oauth.Store, error) { return e.kept().Open() }

// kept says where a gateway finds tokens.
func (e *environment) kept() app.Tokens {
	lookup := e.lookup
	if lookup == nil {
		lookup = func(string) (string, bool) { return "", false }
	}
	folder, err := signon.Folder(lookup)
	if err != nil {
		return app.Tokens{Open: func() (oauth.Store, error) { return nil, err }}
	}
	return app.Tokens{Folder: folder, Open: func() (oauth.Store, error) { return signon.OpenStore(folder, lookup) }}
}
