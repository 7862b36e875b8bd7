package client_test

import (
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// TestKeepAlive holds when a legacy server is asked, and when it is given up. Seen to fail with the doubling taken out:
// 60 pings came within the hour.
func TestKeepAlive(t *testing.T) {
	keep := client.KeepAlive{Interval: time.Minute}
	for name, tc := range map[string]struct {
		server script
		after  time.Duration
		pings  int
		lost   bool
	}{
		"answers":     {legacy(script{"ping": result(`{}`)}), time.Hour, 8, false}, // after 1, 2, 4, 8, then every 10 minutes
		"refuses":     {legacy(script{"ping": fails(-32601, "Method not found", "")}), time.Hour, 8, false},
		"is silent":   {legacy(nil), 10 * time.Minute, 3, true},
		"modern":      {modern(nil), time.Hour, 0, false},
		"comes again": {legacy(script{"ping": everyThird()}), 10 * time.Minute, 7, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pings := 0
				ping := tc.server["ping"]
				tc.server["ping"] = func(p *peer, m *jsonrpc.Message) {
					pings++
					if ping != nil {
						ping(p, m)
					}
				}
				conn, p := play(tc.server)
				defer p.conn.Close()
				c := connect(t, conn, client.Options{KeepAlive: keep, OnError: func(error) {}})
				time.Sleep(tc.after)
				synctest.Wait()
				if (c.Err() != nil) != tc.lost || tc.lost && !errors.Is(c.Err(), mcp.CodeConnectionClosed) {
					t.Errorf("ended for %v", c.Err())
				}
				if pings != tc.pings {
					t.Errorf("%d pings, want %d", pings, tc.pings)
				}
			})
		})
	}
}

// everyThird answers each third request alone.
func everyThird() func(*peer, *jsonrpc.Message) {
	n := 0
	return func(p *peer, m *jsonrpc.Message) {
		if n++; n%3 == 0 {
			p.write(m, `{"jsonrpc":"2.0","id":{id},"result":{}}`)
		}
	}
}

// TestC082NothingIsAskedByDefault: a server that answers no ping is healthy as long as its process lives.
func TestC082NothingIsAskedByDefault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, p := play(legacy(nil))
		defer p.conn.Close()
		c := connect(t, conn, client.Options{})
		time.Sleep(24 * time.Hour)
		if c.Err() != nil || p.methods() != "server/discover initialize notifications/initialized" {
			t.Errorf("%v after %s", c.Err(), p.methods())
		}
	})
}

// TestKeepAliveOverHTTP: a server that answers nothing any more gets a new connection once it does.
func TestKeepAliveOverHTTP(t *testing.T) {
	noLeak(t)
	var deaf atomic.Bool
	f := &forgetful{notFound: answer(404, "text/plain", "session not found")}
	react := f.reactions()
	react["ping"] = func(w http.ResponseWriter, r *http.Request, m *jsonrpc.Message) {
		if deaf.Load() {
			<-r.Context().Done()
			return
		}
		answer(200, jsonType, `{"jsonrpc":"2.0","id":{id},"result":{}}`)(w, r, m)
	}
	s := serve(t, react)
	c, err := client.DialHTTP(t.Context(), s.URL, client.Options{
		Mode: client.Legacy, Restart: quick,
		KeepAlive: client.KeepAlive{Interval: 10 * time.Millisecond, Longest: 10 * time.Millisecond, Timeout: 200 * time.Millisecond, Failures: 2},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	deaf.Store(true)
	for range 1000 {
		if sessions, _, _ := f.counts(); sessions > 1 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	deaf.Store(false)
	if out, err := c.CallTool(t.Context(), "x", nil); err != nil || text(out) != "done" || c.SessionID() == "s-1" {
		t.Errorf("%q, %v in session %s", text(out), err, c.SessionID())
	}
}
