package server

import (
	"runtime"
	"testing"

	"github.com/rialto-mcp/rialto/internal/engine"
)

// A page that nobody completes keeps no client in memory.
func TestPagesKeepNoClient(t *testing.T) {
	var p pages
	stays := new(engine.Peer)
	p.remember("stays", stays)
	p.remember("goes", new(engine.Peer))
	runtime.GC()
	if p.take("goes") != nil {
		t.Error("a client that nobody has any more is still there")
	}
	if p.take("stays") != stays {
		t.Error("a client that is there is forgotten")
	}
	runtime.KeepAlive(stays)
}
