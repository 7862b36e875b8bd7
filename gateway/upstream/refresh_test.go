package upstream

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/manager"
)

// TestChangeThatCannotBeRead holds that a change is not lost when the lists cannot be read at that moment: the old ones stay,
// the state says why, and they are read again.
func TestChangeThatCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(tools("x"))
		set, changes := begin(t, &script{conns: []*fake{f}}, Options{})
		time.Sleep(time.Second)
		f.change(func(string) string { return `{"tools":"none"}` })
		synctest.Wait()
		if s := set.Snapshots()[0]; s.State != manager.Degraded || !strings.Contains(s.Reason, "lists cannot be read") || !slices.Equal(names(set), []string{"x"}) {
			t.Errorf("%+v", s)
		}
		f.mu.Lock()
		f.pages = tools("x", "y") // without another word
		f.mu.Unlock()
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		if s := set.Snapshots()[0]; s.State != manager.Ready || s.Reason != "" || !slices.Equal(names(set), []string{"x", "y"}) || changes.Load() != 2 {
			t.Errorf("%+v, %d changes", s, changes.Load())
		}
	})
}
