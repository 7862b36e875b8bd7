package interop

import (
	"strings"
	"testing"
)

// TestBridge has every client library use a server on the transport that it does not have: the reference server, a program of the
// legacy era, over HTTP, and a modern server with an address as a program.
func TestBridge(t *testing.T) {
	bin := buildGateway(t)
	RunFronts(t, []Front{
		{
			Name: "program-over-http", Modern: true, Cases: everythingCases(),
			Open: func(t testing.TB) Target { return Target{URL: startBridge(t, bin, Everything(t))} },
		},
		{
			Name: "address-as-program", Modern: true, Cases: memoCases(),
			Open: func(t testing.TB) Target { return Target{Command: reporting(bin, "bridge", StartMemo(t))} },
		},
	})
}

// startBridge serves a program over HTTP until the test ends.
func startBridge(t testing.TB, bin string, program []string) (url string) {
	t.Helper()
	return Process{
		Command: append([]string{bin, "bridge", "--listen", "127.0.0.1:0", "--"}, program...),
		Ready: func(line string) (string, bool) {
			_, at, ok := strings.Cut(line, "listening on ")
			return at, ok
		},
	}.Start(t)
}
