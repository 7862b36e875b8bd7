package policy

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/gateway/bridge"
	"github.com/rialto-mcp/rialto/mcp"
)

// wait is how long the limits have a request wait; it is let through at 0.
func (l *limit) wait(f *facts) time.Duration {
	now := time.Now()
	token := l.take(l.key(f), now)
	if wait := token.DelayFrom(now); wait > 0 {
		token.CancelAt(now)
		return wait
	}
	return 0
}

// TestLimitKeys holds which requests are counted together.
func TestLimitKeys(t *testing.T) {
	from := func(who *mcp.Principal, session, address, server, tool string) *facts {
		f := call(who, toolEntry(server, tool, ""), "{}")
		f.caller.session, f.caller.address = session, address
		return f
	}
	one := from(ann, "s1", "2001:db8::1", "a", "x")
	for _, tc := range []struct {
		name  string
		per   []Per
		other *facts
		same  bool
	}{
		{"all", nil, from(bob, "s2", "192.0.2.1", "b", "y"), true},
		{"a principal", []Per{PerPrincipal}, from(ann, "s2", "192.0.2.1", "b", "y"), true},
		{"another principal", []Per{PerPrincipal}, from(bob, "s1", "2001:db8::1", "a", "x"), false},
		{"a session", []Per{PerSession}, from(ann, "s2", "2001:db8::1", "a", "x"), false},
		{"no session", []Per{PerSession}, from(ann, "", "2001:db8::1", "a", "x"), false},
		{"a network of IPv6", []Per{PerAddress}, from(bob, "", "2001:db8::ffff:1", "b", "y"), true},
		{"another", []Per{PerAddress}, from(bob, "", "2001:db8:0:1::1", "b", "y"), false},
		{"a server", []Per{PerServer}, from(bob, "", "", "a", "y"), true},
		{"a tool", []Per{PerTool}, from(bob, "", "", "a", "y"), false},
		{"a tool of another server", []Per{PerTool}, from(bob, "", "", "b", "x"), false},
		{"a principal and a tool", []Per{PerPrincipal, PerTool}, from(ann, "", "", "a", "x"), true},
		{"a principal and another tool", []Per{PerPrincipal, PerTool}, from(ann, "", "", "a", "y"), false},
	} {
		l := &limit{Limit: Limit{Per: tc.per}}
		if got := l.key(one) == l.key(tc.other); got != tc.same {
			t.Errorf("%s: counted together %v, want %v", tc.name, got, tc.same)
		}
	}
	if a, b := network("192.0.2.1"), network("::ffff:192.0.2.1"); a != b {
		t.Errorf("an address of IPv4 is %s and %s", a, b)
	}
}

// TestLimitOverTime holds that requests come back as time goes by, and that a key which was not seen for longest is forgotten.
func TestLimitOverTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c counts
		settings := []Limit{{Name: "l", Per: []Per{PerTool}, Count: 60, Within: time.Minute, Burst: 2, MaxKeys: 2}}
		limits, err := c.limits(settings)
		if err != nil {
			t.Fatal(err)
		}
		l := limits[0]
		of := func(tool string) *facts { return call(ann, toolEntry("a", tool, ""), "{}") }
		for i, want := range []time.Duration{0, 0, time.Second, time.Second} {
			if got := l.wait(of("x")); got != want {
				t.Errorf("request %d waits %s, want %s", i, got, want)
			}
		}
		time.Sleep(1500 * time.Millisecond)
		if got := l.wait(of("x")); got != 0 {
			t.Errorf("after a while: %s", got)
		}
		if got := l.wait(of("x")); got != 500*time.Millisecond {
			t.Errorf("half of one is there: %s", got)
		}
		again, err := c.limits([]Limit{settings[0], {Name: "m", Count: 1, Within: time.Second}})
		if err != nil || again[0] != l {
			t.Errorf("a limit that stays does not keep its counts: %v", err)
		}
		l.wait(of("y"))
		l.wait(of("z")) // the third
		if len(l.byKey) != 2 || l.used.Len() != 2 {
			t.Errorf("%d keys are kept", len(l.byKey))
		}
		if got := l.wait(of("x")); got != 0 {
			t.Errorf("a key that was forgotten: %s", got)
		}
	})
}

// TestSettingsTakenBack holds that settings which come to nothing cost the ones before neither their counts nor what servers may ask.
func TestSettingsTakenBack(t *testing.T) {
	before := Settings{Limits: []Limit{{Name: "l", Count: 1, Within: time.Hour}}, Ask: Ask{All: Asking{NoForms: true}}}
	p := New(Options{})
	take := func(s Settings) []*limit {
		if _, err := p.Over(s, bridge.Rules{}); err != nil {
			t.Fatal(err)
		}
		return p.counts.inUse
	}
	first := take(before)
	for range 3 { // for bundles, say
		take(Settings{Limits: []Limit{{Name: "other", Count: 1, Within: time.Hour}}})
	}
	if again := take(before); again[0] != first[0] || !p.ask.Load().All.NoForms {
		t.Error("they begin anew")
	}
}
