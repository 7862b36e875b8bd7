package upstream

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/rialto-mcp/rialto/manager"
)

// TestWindow holds that what is watched through several windows is watched together, and no longer than a window is open.
func TestWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &town{}
		set := w.open(t, entry("a", "x"))
		first, second := set.Window(), set.Window()
		wants := func(uris ...string) (out []Want) {
			for _, uri := range uris {
				out = append(out, Want{URI: uri})
			}
			return out
		}
		for _, step := range []struct {
			do   func()
			want string
		}{
			{func() { first.WatchFor("a", wants("m:1", "m:2")) }, "[m:1 m:2]"},
			{func() { second.WatchFor("a", wants("m:3", "m:2")) }, "[m:1 m:2 m:3]"},
			{func() { first.WatchFor("a", nil) }, "[m:2 m:3]"},
			{func() { first.WatchFor("a", wants("m:1")) }, "[m:1 m:2 m:3]"},
			{second.Close, "[m:1]"},
			{func() { first.WatchFor("none", wants("m:9")) }, "[m:1]"},
			{first.Close, "[]"},
			{first.Close, "[]"},
		} {
			step.do()
			synctest.Wait()
			f := w.conn("a")
			f.mu.Lock()
			got := fmt.Sprint(f.watched)
			f.mu.Unlock()
			if got != step.want {
				t.Errorf("%s is watched, want %s", got, step.want)
			}
		}
		if _, err := set.Reload([]manager.Server{entry("a", "x")}); err != nil {
			t.Fatal(err)
		}
	})
}
