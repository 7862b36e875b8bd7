package app

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"testing"

	"github.com/rialto-mcp/rialto/client"
)

// held is a server in front of another that answers nothing before release is closed. It says on asked that it was.
func held(t *testing.T, behind string) (address string, asked, release chan struct{}) {
	t.Helper()
	to, err := url.Parse(behind)
	check(t, err)
	proxy := httputil.NewSingleHostReverseProxy(to)
	asked, release = make(chan struct{}, 10), make(chan struct{})
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case asked <- struct{}{}:
		default:
		}
		select {
		case <-release:
			proxy.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(ts.Close)
	return ts.URL, asked, release
}

// TestStartWait holds that the first list has the tools of a server that is slow to start, where the file gives it the time, and
// that nobody waits for it longer than that.
func TestStartWait(t *testing.T) {
	for wait, both := range map[string]bool{"1h": true, "1ms": false} {
		t.Run(wait, func(t *testing.T) {
			quick, _, _ := gated(t, "quick")
			slow, _, _ := gated(t, "slow")
			slow, asked, release := held(t, slow)
			g := start(t, read(t, file(`"startWait": "`+wait+`"`, "a", quick, "b", slow)))
			g.err.wait(t, "a: ready")
			<-asked
			c, err := client.DialHTTP(t.Context(), g.url, client.Options{Mode: client.Modern})
			check(t, err)
			if both {
				close(release) // while the list waits, or before it
			}
			var names []string
			for tool, err := range c.Tools(t.Context()) {
				check(t, err)
				names = append(names, tool.Name)
			}
			if got := slices.Contains(names, "slow"); got != both {
				t.Errorf("the list is %q", names)
			}
			check(t, c.Close())
			if !both {
				close(release)
			}
			g.end(t)
		})
	}
}
