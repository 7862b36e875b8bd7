package policy

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/jsonrpc"
)

// Scan says what becomes of definitions that look as if they were written to mislead a model. The zero value does not look.
type Scan struct {
	Do     ScanDo
	Ignore []string // what was looked at and found harmless: "server/name", or "server" for all of one
}

// ScanDo is what becomes of them.
type ScanDo string

// What may become of a definition with signs.
const (
	ScanOff  ScanDo = "off"  // nobody looks; the zero value does the same
	ScanWarn ScanDo = "warn" // the operator is told, once
	ScanHide ScanDo = "hide" // and clients do not see it
)

// Check says what is wrong with it.
func (d ScanDo) Check() error {
	if d != ScanOff && d != ScanWarn && d != ScanHide {
		return errors.New("write warn, hide or off")
	}
	return nil
}

// Finding is a sign in one definition. It is a guess: people write such things for good reasons too, and there are ways to
// mislead a model that show none.
type Finding struct {
	Kind route.Kind
	route.Target
	Sign  string // in words
	Where string // the member, as in inputSchema.properties.city.description
	Text  string // the place, cut and without what could harm a terminal
}

func (f Finding) String() string {
	out := fmt.Sprintf("%s %q: %s %s", wordFor(f.Kind), f.Target.Name, f.Where, f.Sign)
	if f.Text != "" {
		out += ": " + f.Text
	}
	return out
}

// Bounds of the work.
const (
	maxScanned  = 256 << 10 // bytes of the texts of one definition
	maxFindings = 5         // that are told of it
	maxLooked   = 32 << 20  // bytes of the texts of one server
	maxMatched  = 2 << 20   // bytes of the texts of one server that expressions go through, those with words of a sign: about a second
)

// scanned are the lists that are looked at.
var scanned = append(slices.Clip(printed), struct {
	kind route.Kind
	of   func(*upstream.Lists) []upstream.Item
}{route.Resource, func(l *upstream.Lists) []upstream.Item { return l.Resources }})

// Listed is what one server lists.
type Listed struct {
	Server string
	Lists  *upstream.Lists
}

// LookOver looks for signs in what servers list. Names of tools of each are looked for in what the others say.
func LookOver(all []Listed) []Finding {
	others := namesOf(all)
	var out []Finding
	for _, one := range all {
		out = append(out, lookOver(one, others)...)
	}
	return out
}

func lookOver(one Listed, others names) (out []Finding) {
	left := work{maxLooked, maxMatched}
	for _, list := range scanned {
		for _, item := range list.of(one.Lists) {
			about := Finding{Kind: list.kind, Target: route.Target{Server: one.Server, Name: item.Key}}
			out = append(out, lookAt(about, item.Raw, others, &left)...)
		}
	}
	return out
}

// LookOver is the function of that name by these settings.
func (s Scan) LookOver(all []Listed) []Finding {
	if s.Do != ScanWarn && s.Do != ScanHide {
		return nil
	}
	return slices.DeleteFunc(LookOver(all), s.ignores)
}

func (s Scan) ignores(f Finding) bool {
	return slices.Contains(s.Ignore, f.Server) || slices.Contains(s.Ignore, f.Server+"/"+f.Target.Name)
}

// work is what is left of maxLooked and maxMatched for one server.
type work struct{ looked, matched int }

// lookAt looks for signs in one definition.
func lookAt(about Finding, definition json.RawMessage, others names, may *work) (out []Finding) {
	left := maxScanned
	found := func(where, sign, text string) {
		if len(out) < maxFindings && !slices.ContainsFunc(out, func(f Finding) bool { return f.Sign == sign }) {
			f := about
			f.Where, f.Sign, f.Text = where, sign, text
			out = append(out, f)
		}
	}
	if other, ok := others.alike(about); ok {
		found("name", fmt.Sprintf("looks like %q of server %q", other.Name, other.Server), "")
	}
	eachText(definition, "", func(where, text string) {
		left, may.looked = left-len(text), may.looked-len(text)
		if left < 0 || may.looked < 0 {
			return
		}
		small := small(text)
		for _, s := range signs {
			if !s.maybe(small) {
				continue
			}
			if s.must != nil {
				if may.matched -= len(text); may.matched < 0 {
					continue
				}
			}
			if at := s.find(text); at != nil {
				found(where, s.says, excerpt(text, at))
			}
		}
		if other, at := others.mentioned(about.Server, text); at != nil {
			found(where, fmt.Sprintf("names the tool %q of server %q", other.Name, other.Server), excerpt(text, at))
		}
	})
	if may.looked < 0 || may.matched < 0 {
		found("the whole", "was not looked at, since its server lists more of what has to be looked at than there is time for", "")
	}
	if left < 0 {
		found("the whole", fmt.Sprintf("is longer than %d KiB, and what lies beyond was not looked at", maxScanned>>10), "")
	}
	return out
}

// eachText gives every text of a definition, names of members included, with its place.
func eachText(raw []byte, where string, fn func(where, text string)) {
	switch {
	case jsonrpc.IsString(raw):
		text, _ := jsonrpc.Text(raw)
		fn(cmp.Or(where, "the whole"), text)
	case jsonrpc.IsArray(raw):
		i := 0
		for e := range jsonrpc.Elements(raw) {
			eachText(e, fmt.Sprintf("%s[%d]", where, i), fn)
			i++
		}
	case jsonrpc.IsObject(raw):
		for name, value := range jsonrpc.Members(raw) {
			if where == "" && slices.Contains(unprinted, name) {
				continue
			}
			place := strings.TrimPrefix(where+"."+visible(name), ".")
			if where != "" {
				fn(place, name)
			}
			eachText(value, place, fn)
		}
	}
}

// scanShape looks at what servers list, and tells of signs or leaves out what has them.
func (p *Policy) scanShape(s Scan, snaps []upstream.Snapshot) []upstream.Snapshot {
	all := make([]Listed, len(snaps))
	for i, snap := range snaps {
		all[i] = Listed{snap.Name, snap.Lists}
	}
	bad := make(map[string]map[route.Kind]map[string]bool)
	found := slices.DeleteFunc(p.looked(all), s.ignores)
	p.tellSigns(found, s.Do)
	for _, f := range found {
		if bad[f.Server] == nil {
			bad[f.Server] = make(map[route.Kind]map[string]bool)
		}
		if bad[f.Server][f.Kind] == nil {
			bad[f.Server][f.Kind] = make(map[string]bool)
		}
		bad[f.Server][f.Kind][f.Target.Name] = true
	}
	if s.Do != ScanHide || len(bad) == 0 {
		return snaps
	}
	out := slices.Clone(snaps)
	for i, snap := range snaps {
		if len(bad[snap.Name]) > 0 {
			out[i].Lists = without(snap.Lists, bad[snap.Name])
		}
	}
	return out
}

// look is what was found in lists, and a digest of the names of tools that there were then.
type look struct {
	server, names string
	found         []Finding
}

// looked is LookOver, whose answers are kept: lists are shown anew more often than they change.
func (p *Policy) looked(all []Listed) (out []Finding) {
	others := namesOf(all)
	names := digest(slices.Sorted(maps.Keys(others.byName)), others.byName)
	p.scanning.Lock()
	defer p.scanning.Unlock()
	for _, one := range all {
		known, ok := p.looks.get(one.Lists)
		if !ok || known.server != one.Server || known.names != names {
			known = look{one.Server, names, lookOver(one, others)}
			p.looks.put(one.Lists, known)
		}
		out = append(out, known.found...)
	}
	return out
}

// tellSigns tells of signs, of each once, and of no more than a few of one server at a time.
func (p *Policy) tellSigns(all []Finding, do ScanDo) {
	effect, then := Warned, "may be meant to mislead models; look at it"
	if do == ScanHide {
		effect, then = Hidden, "may be meant to mislead models, so it is not shown"
	}
	news := make(map[string]int)
	for _, f := range all {
		if !p.newSign(f) {
			continue
		}
		if news[f.Server]++; news[f.Server] <= mostLines {
			p.tell("  %s: %s (%s)", f.Server, f, then)
		}
		p.decided(context.Background(), Decision{By: ByScan, Effect: effect, Reason: f.String(), Kind: f.Kind, Target: f.Target})
	}
	for _, server := range slices.Sorted(maps.Keys(news)) {
		if more := news[server] - mostLines; more > 0 {
			p.tell("  %s: %d more signs in its definitions; rialto check shows them", server, more)
		}
	}
}

// newSign tells whether a sign was not told yet, and takes it as told.
func (p *Policy) newSign(f Finding) bool {
	p.scanning.Lock()
	defer p.scanning.Unlock()
	key := f.Server + "\x00" + f.String()
	if p.signs[key] {
		return false
	}
	if p.signs == nil || len(p.signs) >= mostTold {
		p.signs = make(map[string]bool)
	}
	p.signs[key] = true
	return true
}
