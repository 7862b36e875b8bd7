package client

import (
	"context"
	"strings"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/mcp"
)

// heard forgets what a notification says to have changed. A nil k keeps nothing.
func (k *cache) heard(ctx context.Context, l *live, n *era.Notice) {
	if k == nil || l.codec == nil {
		return
	}
	server := k.serverOf(l)
	switch n.Method {
	case mcp.NotifyToolsChanged:
		k.spoil(ctx, CacheKey{Server: server, Method: mcp.MethodListTools})
	case mcp.NotifyPromptsChanged:
		k.spoil(ctx, CacheKey{Server: server, Method: mcp.MethodListPrompts})
	case mcp.NotifyResourcesChanged:
		k.spoil(ctx, CacheKey{Server: server, Method: mcp.MethodListResources})
		k.spoil(ctx, CacheKey{Server: server, Method: mcp.MethodListResourceTemplates})
	case mcp.NotifyResourceUpdated:
		uri, _ := mcp.Meta(n.Params).Text("uri")
		for _, whole := range wholes(uri) {
			k.spoil(ctx, CacheKey{Server: server, Method: mcp.MethodReadResource, URI: whole})
		}
	}
}

// gap forgets all of a server, of which news may have been missed.
func (k *cache) gap(l *live) {
	if k != nil && l.codec != nil {
		k.spoil(context.Background(), CacheKey{Server: k.serverOf(l)})
	}
}

// spoil forgets answers, and sees to it that none that is under way is kept.
func (k *cache) spoil(ctx context.Context, key CacheKey) {
	if err := k.forget(ctx, key); err != nil {
		k.c.faults.report(k.c.named("answers that may be old cannot be forgotten: %w", err))
	}
}

func (k *cache) forget(ctx context.Context, key CacheKey) error {
	k.mu.Lock()
	for f := range k.fetches {
		if f.keys.public.under(key) || f.keys.private.under(key) {
			f.spoiled = true
			k.unshare(f)
		}
	}
	k.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTime)
	defer cancel()
	return k.store.Drop(ctx, key)
}

// mostWholes bounds how many resources one notification tells of.
const mostWholes = 32

// wholes lists a resource and those that it lies below: servers may tell of a part of what a client knows as a whole.
func wholes(uri string) []string {
	if uri == "" {
		return nil
	}
	all := []string{uri}
	for rest := uri; len(all) < mostWholes; {
		at := strings.LastIndexAny(rest, "/?#")
		if at <= 0 || strings.HasSuffix(rest[:at+1], "//") {
			return all
		}
		if at < len(uri)-1 {
			all = append(all, uri[:at+1])
		}
		rest = rest[:at]
		all = append(all, rest)
	}
	return all
}
