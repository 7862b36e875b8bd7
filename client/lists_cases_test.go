package client_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/transport"
)

// TestC072ClientsReadAllPages: elsewhere only the first page was ever seen. Here all tools come, whatever the cursors look
// like, past a page that is empty, and from kept pages as well.
func TestC072ClientsReadAllPages(t *testing.T) {
	opaque := strings.Repeat(`{"é\"`, 1024)
	next := map[string]string{"-": "", "": opaque, opaque: "0"}
	from := map[string][2]int{"-": {0, 50}, "": {50, 100}, opaque: {100, 100}, "0": {100, 101}}
	rest := pages(func(cursor string) (tools []string, following *string) {
		for i := from[cursor][0]; i < from[cursor][1]; i++ {
			tools = append(tools, fmt.Sprintf("tool%03d", i))
		}
		if cursor, ok := next[cursor]; ok {
			following = &cursor
		}
		return tools, following
	})
	eras(t, rest, func(t *testing.T, era string, conn transport.Conn, p *peer) {
		c := connect(t, conn, client.Options{Cache: client.CacheOptions{Floor: time.Hour}})
		for range 2 {
			got := list(t, c)
			if len(got) != 101 || got[0] != "tool000" || got[100] != "tool100" {
				t.Errorf("got %d tools: %q", len(got), got)
			}
		}
	})
}

// TestC073ClientsEndCircles is the client's half: cursors that never advance end the list with what was good, once each, and
// a warning that names the server. Kept pages change nothing about that.
//
// Seen to fail with the look for a repeated cursor taken out: the list went on to the limit of pages.
func TestC073ClientsEndCircles(t *testing.T) {
	endless := 0
	for name, tc := range map[string]struct {
		next  map[string]string // nil is another one each time
		tools string
		warn  string
	}{
		"the same":   {map[string]string{"-": "A", "A": "A"}, "t- tA", "repeats the cursor"},
		"a circle":   {map[string]string{"-": "A", "A": "B", "B": "A"}, "t- tA tB", "repeats the cursor"},
		"never ends": {nil, "same", "more than 20 pages"},
	} {
		t.Run(name, func(t *testing.T) {
			rest := pages(func(cursor string) ([]string, *string) {
				if tc.next == nil {
					endless++
					fresh := fmt.Sprint(endless)
					return []string{"same"}, &fresh
				}
				following := tc.next[cursor]
				return []string{"t" + cursor, "t-"}, &following
			})
			eras(t, rest, func(t *testing.T, era string, conn transport.Conn, p *peer) {
				var warned []string
				c := connect(t, conn, client.Options{MaxPages: 20, Cache: client.CacheOptions{Floor: time.Hour}, OnError: func(err error) { warned = append(warned, err.Error()) }})
				for range 2 {
					if got := strings.Join(list(t, c), " "); got != tc.tools {
						t.Errorf("got %s", got)
					}
				}
				host := map[string]string{"modern": "new", "legacy": "old"}[era]
				if len(warned) != 2 || !strings.Contains(warned[0], tc.warn) || !strings.Contains(warned[0], "server "+host) {
					t.Errorf("warned %q", warned)
				}
			})
		})
	}
}
