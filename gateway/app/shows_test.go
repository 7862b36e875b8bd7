package app

import (
	"slices"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/client"
)

// TestShownTools holds over HTTP that the file says which tools are shown, that a change of it is heard at once, and that a
// pattern which fits nothing is told of when the server is up, once for each reading.
func TestShownTools(t *testing.T) {
	a, _, _ := gated(t, "a")
	section := func(tools string) string { return file(`"servers": {"a": {"tools": `+tools+`}}`, "a", a) }
	g := follow(t, section(`{"deny": ["a_*", "nothing_*"]}`))
	g.err.wait(t, `warning: server "a": the pattern "nothing_*" fits no tool that it lists`)
	l := listen(t, g.url, client.Modern)
	if got := l.tools(t); !slices.Equal(got, []string{"a"}) {
		t.Errorf("the tools are %q", got)
	}
	save(t, g.file, section(`{"allow": ["a_*"]}`))
	l.until(t, "a_wait")
	g.err.wait(t, "settings tools")
	save(t, g.file, section(`{}`))
	l.until(t, "a", "a_wait")
	g.end(t)
	if n := strings.Count(g.err.String(), "warning: "); n != 1 {
		t.Errorf("%d warnings: %s", n, g.err)
	}
}
