package policy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/gateway/upstream"
)

// Pin says what becomes of definitions that are not as they were when they were accepted.
type Pin struct {
	File     string   // that holds their digests; "" for no pins. A relative one is in Options.Folder
	OnChange OnChange // "" means Refuse
}

// OnChange is what becomes of a definition that has changed.
type OnChange string

// What may become of a definition that has changed.
const (
	Refuse OnChange = "refuse" // it does not exist until it is accepted
	Warn   OnChange = "warn"   // it is used, and told to the operator
)

// pins compares what servers list with what was accepted.
type pins struct {
	policy *Policy

	mu    sync.Mutex
	path  string // "" before the first use
	lock  *Lock
	stamp stamp
	told  map[string]bool // what was told since the file was read
	seen  kept[*judged]
}

// judged is what was found out about lists.
type judged struct {
	prints Prints
	at     *Lock           // that they were compared with
	left   *upstream.Lists // what is as it was accepted; nil where that is all
}

// stamp tells whether a file is another.
type stamp struct {
	size int64
	time int64
}

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stamp{info.Size(), info.ModTime().UnixNano()}
}

// use takes a file into use, or what has become of the one that is. One that cannot be read is an error: to begin anew would
// accept whatever servers list now.
func (p *pins) use(path string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := stampOf(path)
	if p.path == path && p.stamp == now {
		return nil
	}
	lock, err := ReadLock(path)
	if err != nil {
		return err
	}
	if p.path == path && now == (stamp{}) { // it was deleted: what is known stays known
		lock = p.lock
	}
	p.path, p.lock, p.stamp, p.told = path, lock, now, nil
	return nil
}

// refresh reads the file anew when it is another, and tells whether there was anything new. A damaged one is told of, and
// what was read before stays.
func (p *pins) refresh() bool {
	p.mu.Lock()
	path, before, lock := p.path, p.stamp, p.lock
	p.mu.Unlock()
	if path == "" || stampOf(path) == before {
		return false
	}
	if err := p.use(path); err != nil {
		p.mu.Lock()
		p.stamp = stampOf(path) // told once
		p.mu.Unlock()
		p.policy.tell("the pins were not read anew; what was read before stays: %v", err)
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lock != lock
}

// shape accepts what servers list that were never seen before, and leaves out what is not as it was accepted, or tells of it.
func (p *pins) shape(do OnChange, snaps []upstream.Snapshot) []upstream.Snapshot {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := slices.Clone(snaps)
	all := make([]*judged, len(snaps))
	var fresh []string
	for i, s := range snaps {
		if s.Lists.StandIn {
			continue
		}
		j, known := p.seen.get(s.Lists)
		if !known {
			j = &judged{prints: PrintsOf(s.Lists)}
			p.seen.put(s.Lists, j)
		}
		if len(j.prints) == 0 { // it is down, or has nothing
			continue
		}
		if all[i] = j; !p.lock.Knows(s.Name) {
			fresh = append(fresh, s.Name)
			p.lock = p.lock.with(s.Name, j.prints)
		}
	}
	if fresh != nil {
		p.record(fresh) // first: another process may have accepted something else of the same server
	}
	for i, j := range all {
		if j == nil {
			continue
		}
		if j.at != p.lock {
			p.judge(snaps[i].Name, snaps[i].Lists, j, do)
		}
		if do != Warn && j.left != nil {
			out[i].Lists = j.left
		}
	}
	return out
}

// judge compares what a server lists with what was accepted. What is different is told of once.
func (p *pins) judge(server string, lists *upstream.Lists, j *judged, do OnChange) {
	j.at, j.left = p.lock, nil
	effect, then := Hidden, "so it is not there until it is accepted with rialto pin"
	if do == Warn {
		effect, then = Warned, "which rialto pin accepts"
	}
	bad := make(map[route.Kind]map[string]bool)
	var news []Difference
	for _, d := range p.lock.Compare(server, j.prints) {
		if d.What == isRemoved {
			continue
		}
		if bad[d.Kind] == nil {
			bad[d.Kind] = make(map[string]bool)
		}
		bad[d.Kind][d.Name] = true
		if key := server + "\x00" + d.String(); !p.told[key] {
			if p.told == nil || len(p.told) >= mostTold {
				p.told = make(map[string]bool)
			}
			p.told[key] = true
			news = append(news, d)
		}
	}
	if len(bad) > 0 {
		j.left = without(lists, bad)
	}
	for i, d := range news {
		if i == mostLines {
			p.policy.tell("  %s: %d more are not as they were accepted", server, len(news)-i)
		} else if i < mostLines {
			p.policy.tell("  %s: %s, %s", server, d, then)
		}
		p.policy.decided(context.Background(), Decision{By: ByPin, Effect: effect, Reason: d.String(), Kind: d.Kind, Target: route.Target{Server: server, Name: d.Name}})
	}
}

// Bounds of what an operator is told of one server: lines at a time, and what is remembered so that it is told once. A server that
// lists something else all the time must not bury what is said of others.
const (
	mostLines = 20
	mostTold  = 20_000
)

// with is the lock and what one more server lists. The lock itself is not changed.
func (l *Lock) with(server string, prints Prints) *Lock {
	next := &Lock{Version: lockVersion, Servers: maps.Clone(l.Servers)}
	next.Servers[server] = prints
	return next
}

// record writes what is accepted because it was never seen before. What another process has written stays, and counts here too.
func (p *pins) record(fresh []string) {
	file, err := UpdateLock(p.path, func(file *Lock) {
		for name, prints := range p.lock.Servers {
			if !file.Knows(name) {
				file.Servers[name] = prints
			}
		}
	})
	if err != nil {
		p.policy.opts.Logger.Error("the pins of servers seen for the first time cannot be written, so they are pinned in memory alone",
			slog.Any("servers", fresh), slog.String("error", err.Error()))
		return
	}
	p.lock, p.stamp = file, stampOf(p.path)
	p.policy.tell("pinned the definitions of %s, seen for the first time, in %s", sentence(fresh), p.path)
}

func sentence(words []string) string {
	if len(words) < 2 {
		return fmt.Sprint(words[0])
	}
	out := words[0]
	for _, w := range words[1 : len(words)-1] {
		out += ", " + w
	}
	return out + " and " + words[len(words)-1]
}

// without leaves entries out of lists.
func without(l *upstream.Lists, bad map[route.Kind]map[string]bool) *upstream.Lists {
	keep := func(kind route.Kind, items []upstream.Item) []upstream.Item {
		if len(bad[kind]) == 0 {
			return items
		}
		return slices.DeleteFunc(slices.Clone(items), func(it upstream.Item) bool { return bad[kind][it.Key] })
	}
	out := *l
	out.Tools, out.Prompts, out.Templates = keep(route.Tool, l.Tools), keep(route.Prompt, l.Prompts), keep(route.Template, l.Templates)
	out.Resources = keep(route.Resource, l.Resources)
	return &out
}

// Path is where the file is, for a configuration in a folder; "" for no pins.
func (p Pin) Path(folder string) string {
	if p.File == "" || filepath.IsAbs(p.File) {
		return p.File
	}
	return filepath.Join(folder, p.File)
}

// Check says what is wrong with it.
func (o OnChange) Check() error {
	if o != Refuse && o != Warn {
		return errors.New("write refuse or warn")
	}
	return nil
}
