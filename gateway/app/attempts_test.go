package app

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/netip"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/auth"
	"github.com/rialto-mcp/rialto/server"
)

// TestFloodOfBadTokens holds that somebody who tries tokens is stopped after some of them, costs the log a few lines, and locks
// nobody out who comes from the same address and has a good one.
func TestFloodOfBadTokens(t *testing.T) {
	login := startLogin(t)
	up := startWatched(t, server.Options{})
	r := start(t, read(t, protected(strings.TrimSuffix(own, "}")+`, "resource": "`+resource+`", "jwt": {"issuer": "`+login.url+`"}}`, up.url)))
	r.err.wait(t, "watched: ready")
	known, fresh := login.token(t, nil), login.token(t, map[string]any{"jti": "fresh"})
	if got := modern(t, r.url, "greet", "", bearer(known)...); got.status != 200 {
		t.Fatalf("before: %v", got)
	}
	over := login.token(t, map[string]any{"exp": 1}) // which clients send that have to renew it: no attempt
	for range mostBad {
		if got := modern(t, r.url, "greet", "", bearer(over)...); got.status != 401 {
			t.Fatalf("one that is over: %v", got)
		}
	}
	count := map[int]int{}
	for i := range mostBad + 40 {
		got := modern(t, r.url, "greet", "", bearer(fmt.Sprintf("guess-%d", i))...)
		if count[got.status]++; got.status == 429 && (got.header.Get("Retry-After") == "" || got.header.Get("WWW-Authenticate") != "") {
			t.Fatalf("too many: %v", got)
		}
	}
	if count[401] != mostBad || count[429] != 40 {
		t.Errorf("answers %v", count)
	}
	for name, c := range map[string]struct {
		token  string
		status int
	}{"of the file": {annsToken, 200}, "that was good before": {known, 200}, "that nobody has seen yet": {fresh, 429}} {
		if got := modern(t, r.url, "greet", "", bearer(c.token)...); got.status != c.status {
			t.Errorf("a token %s: %v", name, got)
		}
	}
	if got := modern(t, r.url, "greet", ""); got.status != 401 {
		t.Errorf("nobody: %v", got)
	}
	r.end(t)
	if n := strings.Count(r.err.String(), "refused a request from 127.0.0.1"); n != mostTold {
		t.Errorf("told %d times", n)
	}
	if told := r.err.String(); !strings.Contains(told, "more requests meanwhile") || strings.Contains(told, "guess") {
		t.Errorf("it tells\n%s", told)
	}
}

// TestFloodInTheAuditLog holds that strangers cannot fill the audit log, whose oldest files go when there is too much: their requests
// have so many lines in a minute, and then a number.
//
// Seen to fail: each request had a line.
func TestFloodInTheAuditLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	r := start(t, read(t, file(`"audit": {"file": "`+filepath.ToSlash(path)+`"}, "auth": `+own, "a", "http://127.0.0.1:1/")))
	for range mostNoted + 50 {
		if got := ask(t, "POST", r.url, ""); got.status != 401 {
			t.Fatal(got)
		}
	}
	r.end(t)
	all := waitLines(t, path, mostNoted+1)
	last := all[len(all)-1]
	if delete(last, "time"); !reflect.DeepEqual(last, map[string]any{"outcome": "lines are missing", "dropped": 50.0, "reason": "more requests were not let in"}) {
		t.Errorf("the last line is %v", last)
	}
}

// TestAttempts counts by addresses and begins anew after a minute.
func TestAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &attempts{}
		digest := func(text string) [sha256.Size]byte { return sha256.Sum256([]byte(text)) }
		one, other := addressOf("192.0.2.1:1"), addressOf("192.0.2.2:1")
		a.good(digest("known"))
		for range mostBad {
			if wait := a.wait(one, digest("bad")); wait != 0 {
				t.Fatalf("waits %s", wait)
			}
			a.count(one)
		}
		time.Sleep(20 * time.Second)
		for name, c := range map[string]struct {
			from   netip.Prefix
			digest [sha256.Size]byte
			want   time.Duration
		}{
			"the same": {one, digest("bad"), 40 * time.Second}, "another address": {other, digest("bad"), 0}, "a good one": {one, digest("known"), 0},
		} {
			if got := a.wait(c.from, c.digest); got != c.want {
				t.Errorf("%s waits %s, want %s", name, got, c.want)
			}
		}
		time.Sleep(40 * time.Second)
		if wait := a.wait(one, digest("bad")); wait != 0 {
			t.Errorf("a minute later it waits %s", wait)
		}
		for i := range 3 * mostGood { // of which the last are remembered
			a.good(digest(fmt.Sprint(i)))
		}
		for i := range 2 * mostAddresses {
			a.count(addressOf(fmt.Sprintf("10.%d.%d.%d:1", i>>16&255, i>>8&255, i&255)))
		}
		if len(a.fresh)+len(a.old) > 2*mostGood || len(a.counts) != mostAddresses || !a.knows(digest(fmt.Sprint(3*mostGood-1))) || a.knows(digest("known")) {
			t.Errorf("remembers %d and %d tokens, %d addresses", len(a.fresh), len(a.old), len(a.counts))
		}
	})
	for address, want := range map[string]string{
		"192.0.2.1:80": "192.0.2.1/32", "[::ffff:192.0.2.1]:80": "192.0.2.1/32", "[2001:db8:1:2:3:4:5:6]:80": "2001:db8:1:2::/64",
		"[fe80::1%eth0]:80": "fe80::/64", "": "invalid Prefix", "pipe": "invalid Prefix",
	} {
		if got := addressOf(address).String(); got != want {
			t.Errorf("%q is %s, want %s", address, got, want)
		}
	}
}

// TestRefusalsAreToldInMeasure holds that a log of refusals tells how many there were, and in time.
func TestRefusalsAreToldInMeasure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		r := &refusals{line: func(format string, args ...any) { told = append(told, fmt.Sprintf(format, args...)) }}
		no := auth.Refusal{Request: &http.Request{RemoteAddr: "192.0.2.1:80"}, Status: 401, Code: "invalid_token", Reason: "why"}
		first := no
		first.Code = ""
		r.refused(first)
		for range mostTold + 7 {
			r.refused(no)
		}
		time.Sleep(toldTime)
		synctest.Wait()
		r.refused(no)
		r.close()
		if len(told) != mostTold+2 || told[0] != "rialto: refused a request from 192.0.2.1: why (401)" || told[mostTold] != "rialto: refused 7 more requests meanwhile" {
			t.Errorf("told %q", told)
		}
	})
}
