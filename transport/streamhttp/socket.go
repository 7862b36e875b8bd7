package streamhttp

import (
	"context"
	"net"
	"strings"
)

// unixSocket takes apart an address unix:///path#/endpoint: the path is that of a socket, and the endpoint behind it is
// /mcp where none is named.
func unixSocket(address, socket string) (string, string) {
	path, ok := strings.CutPrefix(address, "unix://")
	if !ok || !strings.HasPrefix(path, "/") {
		return address, socket
	}
	endpoint := "/mcp"
	if before, fragment, ok := strings.Cut(path, "#"); ok && strings.HasPrefix(fragment, "/") {
		path, endpoint = before, fragment
	}
	return "http://localhost" + endpoint, path
}

// dialSocket dials a socket whatever the address is.
func dialSocket(path string) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", path)
	}
}
