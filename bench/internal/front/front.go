// Package front holds what stands between a client and a server: the plain reverse proxy that is the limit of such rows, and
// Rialto's gateway.
package front

import (
	"context"
	"net/http"
	"net/http/httputil"
	"net/url"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/bridge"
	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// Proxy passes every request on as it is. It keeps as many connections as the gateway may.
func Proxy(_ context.Context, address string) (http.Handler, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 64
	return &httputil.ReverseProxy{
		Transport: transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host, r.Out.URL.Path = u.Scheme, u.Host, u.Path
		},
	}, nil
}

// Gateway serves one server through Rialto's gateway, until ctx ends.
func Gateway(ctx context.Context, address string) (http.Handler, error) {
	info := mcp.Implementation{Name: "bench", Version: "1.0.0"}
	var b *bridge.Bridge
	set := upstream.New([]manager.Server{{Name: "bare", Transport: manager.HTTP, URL: address}}, upstream.Options{
		Dial: upstream.Dialing(client.Options{Info: info}, nil), OnChange: func() { b.Changed() },
	})
	var err error
	b, err = bridge.New(info, set, bridge.Options{Server: server.Options{HTTP: server.HTTPOptions{Sessionless: true}}})
	if err != nil {
		return nil, err
	}
	set.Start()
	context.AfterFunc(ctx, func() {
		b.Close()
		set.Close()
	})
	settling, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	set.Settled(settling)
	return b.Server().Handler(), nil
}
