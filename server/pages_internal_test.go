package server

import (
	"runtime"
	"strconv"
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

// Of pages that nobody completes the oldest are forgotten.
func TestPagesAreForgotten(t *testing.T) {
	var p pages
	peer := new(engine.Peer)
	for n := range mostPages + 1 {
		p.remember(strconv.Itoa(n), peer)
		p.remember(strconv.Itoa(n), peer) // a page that is asked again takes no more room
	}
	if p.take("0") != nil || len(p.of) != mostPages || len(p.queue) != mostPages {
		t.Errorf("the oldest page is remembered, with %d others", len(p.of))
	}
	for _, n := range []int{1, mostPages} {
		if p.take(strconv.Itoa(n)) != peer || p.take(strconv.Itoa(n)) != nil {
			t.Errorf("page %d is not there once", n)
		}
	}
}
