package manager_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
)

// TestCursorsOfOthers holds that a cursor which nobody has been given is refused, or goes on where it says: it never costs
// more than a page, and never leads in a circle.
func TestCursorsOfOthers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := &puppet{tools: func(int) string { return toolArray("again", "echo", "fail", "read") }}
		m, err := manager.Open(servers("a", "b"), manager.Options{Dial: p.dial(t)})
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		for _, tc := range []struct {
			text string
			want string // of the first entry of the page; "" for a refusal, "-" for the end
		}{
			{"", ""},
			{"x", ""},
			{"1", ""},
			{"1 ", ""},
			{"1 a", ""},
			{" a/echo", ""},
			{"x a/echo", ""},
			{"-1 a/echo", ""},
			{"99999999999999999999 a/echo", ""},
			{"1 gone/echo", ""},
			{"1 %61/echo", ""},
			{"1 " + strings.Repeat("z", 100_000) + "/echo", ""},
			{"1 a/" + strings.Repeat("z", 100_000), "a/echo"},
			{"0 a/nosuch", "a/again"},
			{"2 a/nosuch", "a/fail"},
			{"9223372036854775807 a/nosuch", "b/again"},
			{"9223372036854775807 b/nosuch", "-"},
			{"7 a/again", "a/echo"},
			{"0 b/read", "-"},
			{"0 b/", "b/again"},
		} {
			cursor := base64.RawURLEncoding.EncodeToString([]byte(tc.text))
			page, err := m.Tools(t.Context(), manager.PageOptions{Cursor: cursor, Size: 1})
			got := "-"
			switch {
			case errors.Is(err, mcp.CodeInvalidParams) && len(err.Error()) < 200:
				got = ""
			case err != nil:
				got = err.Error()
			case len(page.Items) > 0:
				got = fmt.Sprint(page.Items[0].Name(page.Items[0].Value.Name))
			}
			if got != tc.want && tc.text != "" {
				t.Errorf("%.40q: got %.80q, want %q", tc.text, got, tc.want)
			}
		}
	})
}

// TestPagesWhileListsChange goes through pages while tools come and go and servers change places: it comes to an end, and what
// was there all the time is seen once.
func TestPagesWhileListsChange(t *testing.T) {
	bubble(t, func(t *testing.T) {
		extra := 0
		p := &puppet{tools: func(n int) string {
			names := []string{"one", "two", "three", "four", "five", "six"}
			for i := range extra {
				names = append([]string{fmt.Sprintf("x%d", i)}, names...)
			}
			return toolArray(names...)
		}}
		m, _ := watched(t, p, manager.Options{})
		seen := make(map[string]int)
		for o, pages := (manager.PageOptions{Size: 1}), 0; ; pages++ {
			page, err := m.Tools(t.Context(), o)
			if err != nil || pages > 100 {
				t.Fatalf("%v after %d pages", err, pages)
			}
			for _, item := range page.Items {
				seen[item.Value.Name]++
			}
			if o.Cursor = page.Next; o.Cursor == "" {
				break
			}
			p.set(func() { extra = (extra + 3) % 7 })
			p.announce(t)
			time.Sleep(10 * time.Second)
		}
		for _, name := range []string{"one", "two", "three", "four", "five", "six"} {
			if seen[name] != 1 {
				t.Errorf("%s was seen %d times: %v", name, seen[name], seen)
			}
		}
	})
}
