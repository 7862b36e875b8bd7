package app

import (
	"context"
	"log/slog"
	"os"
	"reflect"
	"strings"
	"time"

	"github.com/rialto-mcp/rialto/auth/oauth"
	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/config"
	"github.com/rialto-mcp/rialto/gateway/signon"
	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
)

// Tokens says where the tokens of logins at servers are kept.
type Tokens struct {
	// Open opens the store when it is first needed. Nil means in memory.
	Open func() (oauth.Store, error)

	// Folder is looked at for news of logins that are made elsewhere. "" means that there are none.
	Folder string
}

// newDesk makes what connects to servers with the credentials that they want.
func (g *gateway) newDesk(info mcp.Implementation, logger *slog.Logger) *signon.Desk {
	o := signon.Options{
		Settings: func(server string) signon.Settings { return g.conf.Load().Credentials(server) },
		Client:   client.Options{Info: info}, Roots: &g.roots, Back: g.back,
		Owner:   func(server string, c *upstream.Caller) *upstream.Owner { return g.set.OwnerOf(server, c) },
		Entry:   func(server string) (manager.Server, bool) { return g.set.Entry(server) },
		OnLogin: func(server string, owner *upstream.Owner) { g.set.Renew(server, owner) },
		Prepare: func(ctx context.Context, c *upstream.Caller, most time.Duration) { g.set.Prepare(ctx, c, most) },
		Logger:  logger,
	}
	if g.opts.Tokens.Open != nil {
		o.Store = signon.Lazy(g.opts.Tokens.Open)
	}
	return signon.New(o)
}

// sharing is how the connections to a server are shared.
func (g *gateway) sharing(server string) upstream.Sharing {
	return g.desk.Sharing(server, g.conf.Load().PerServer[server].Share)
}

// personal tells whether the gateway has no credentials of its own for a server.
func (g *gateway) personal(server string) bool { return g.conf.Load().Credentials(server).Personal() }

// back is the address under which browsers reach the pages of logins; "" where none is known.
func (g *gateway) back() string {
	const at = "/signin"
	if !g.hasPages(g.conf.Load().Path) {
		return ""
	}
	if l := g.door.lock.Load(); l.auth != nil && l.auth.Resource != "" {
		base, ok := strings.CutSuffix(l.resource(at), at)
		if !ok {
			return ""
		}
		return base
	}
	if address := g.address.Load(); address != nil && isLoopback(address) {
		return "http://" + address.String()
	}
	return ""
}

// hasPages tells whether pages for logins are served beside an endpoint: their paths may be its own.
func (g *gateway) hasPages(path string) bool {
	return g.desk != nil && !strings.HasPrefix(path+"/", signon.PagesPath)
}

// others names the servers whose callers are called for with other credentials than before.
func others(old, next *config.Config) map[string]bool {
	names := make(map[string]bool)
	for _, s := range next.Servers {
		if !reflect.DeepEqual(old.Credentials(s.Name), next.Credentials(s.Name)) {
			names[s.Name] = true
		}
	}
	return names
}

// followTokens tries servers again that wait for a login, when one was made, until ctx ends.
func (g *gateway) followTokens(ctx context.Context) {
	if g.opts.Tokens.Folder == "" {
		return
	}
	seen := g.tokensAt()
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if now := g.tokensAt(); now != seen {
			seen = now
			g.set.HurryUnauthorized()
		}
	}
}

// tokensAt is when the folder of tokens has changed last. What is written there is renamed, which changes the folder.
func (g *gateway) tokensAt() time.Time {
	info, err := os.Stat(g.opts.Tokens.Folder)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}
