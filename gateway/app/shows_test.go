package app

import (
	"context"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/demo"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/transport/streamhttp"
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

// inTurn is standard error that finds out whether warnings are written while it is the turn of who writes them.
type inTurn struct {
	say  *teller
	told chan bool
}

func (w *inTurn) Write(p []byte) (int, error) {
	if strings.HasPrefix(string(p), "warning: ") {
		free := w.say.turn.TryLock()
		if free {
			w.say.turn.Unlock()
		}
		w.told <- !free
	}
	return len(p), nil
}

// TestMisfitsAreToldInTurn holds that what a server that comes up does not fit is never told while a reload is under way, which
// forgets what has been told: it would be told twice, or of the file before.
//
// Seen to fail: it was told at any time.
func TestMisfitsAreToldInTurn(t *testing.T) {
	a, _, _ := gated(t, "a")
	err := &inTurn{told: make(chan bool, 1)}
	err.say = &teller{w: err}
	conf := read(t, file(`"servers": {"a": {"tools": {"deny": ["nothing_*"]}}}`, "a", a))
	g := &gateway{opts: Options{Config: conf}, begun: conf, say: err.say, guard: streamhttp.NewGuard(nil, nil)}
	g.running, g.halt = context.WithCancel(t.Context())
	g.conf.Store(conf)
	g.door = newDoor(g.guard, &refusals{line: t.Logf})
	check(t, g.admit(g.begun))
	check(t, g.provision())
	end, failed := g.begin(t.Context())
	check(t, failed)
	if !<-err.told {
		t.Error("a misfit is told out of turn")
	}
	g.stop(end)
	g.door.log.close()
	g.audit.Close()
}

// TestAlwaysListedNothing holds that a pattern of the search that fits no tool is told of, by the names of servers as by those that
// clients see.
func TestAlwaysListedNothing(t *testing.T) {
	a, _, _ := gated(t, "a")
	section := func(always string) string {
		return file(`"search": {"above": 1, "always": `+always+`}, "servers": {"a": {"tools": {"rename": {"a_wait": "stay"}}}}`, "a", a)
	}
	g := follow(t, section(`["a/a", "stay", "a_wait", "nothing_*"]`))
	g.err.wait(t, `warning: search: the pattern "nothing_*" of "always" fits no tool`)
	save(t, g.file, section(`["b/*"]`))
	g.err.wait(t, `warning: search: the pattern "b/*" of "always" fits no tool`)
	g.end(t)
	if n := strings.Count(g.err.String(), "warning: "); n != 2 {
		t.Errorf("%d warnings: %s", n, g.err)
	}
}

// TestReshapedTools holds over HTTP that the file gives tools other names and arguments, that a variable is put into a fixed
// value, that a tool whose arguments are not as the file says is hidden with a warning, and that a change is heard at once.
func TestReshapedTools(t *testing.T) {
	t.Setenv("RIALTO_TEST_WORD", "tide")
	s := demo.Server("1", server.Options{})
	ts := httptest.NewServer(s.Handler())
	defer ts.Close()
	section := func(tools string) string { return file(`"servers": {"a": {"tools": `+tools+`}}`, "a", ts.URL) }
	g := follow(t, section(`{"allow": ["echo", "add"], "rename": {"echo": "say"}, "edit": {
		"echo": {"arguments": {"text": {"value": "${RIALTO_TEST_WORD}"}}}, "add": {"arguments": {"c": {"drop": true}}}}}`))
	g.err.wait(t, `warning: server "a": the tool "add" is not shown, since what is said of its arguments does not fit it: it has no argument "c"`)
	for _, mode := range []client.Mode{client.Legacy, client.Modern} {
		c, err := client.DialHTTP(t.Context(), g.url, client.Options{Mode: mode})
		check(t, err)
		if got, err := c.CallTool(t.Context(), "say", nil); err != nil || got.Text() != "tide" {
			t.Errorf("got %+v, %v", got, err)
		}
		check(t, c.Close())
	}
	l := listen(t, g.url, client.Modern)
	save(t, g.file, section(`{"allow": ["echo"], "rename": {"echo": "repeat"}, "edit": {"echo": {"arguments": {"text": {"rename": "words"}}}}}`))
	l.until(t, "repeat")
	if got, err := l.CallTool(t.Context(), "repeat", map[string]string{"words": "again"}); err != nil || got.Text() != "again" {
		t.Errorf("got %+v, %v", got, err)
	}
	g.end(t)
}
