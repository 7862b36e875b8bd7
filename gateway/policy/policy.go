package policy

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rialto-mcp/rialto/gateway/bridge"
	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/server"
)

// Options configures a Policy. The zero value is ready to use.
type Options struct {
	// OnDecision is told of each decision that is not plain consent, before it takes effect. It may be called concurrently
	// and must not block. ctx is that of the request, where there is one. Nil means no interest.
	OnDecision func(ctx context.Context, d Decision)

	// Folder is where relative files are; "" means where the process runs.
	Folder string

	// Tell is told, in lines, what an operator should look at: definitions that have changed, say. Nil means silence.
	Tell func(line string)

	// Logger receives rules that cannot be evaluated, each once a minute. Nil means silence.
	Logger *slog.Logger
}

// Policy is what the settings of a gateway have in common over time. Its methods may be called concurrently.
type Policy struct {
	opts   Options
	counts counts
	pins   pins
	ask    atomic.Pointer[Ask] // never nil
	quiet  quiet

	redactors atomic.Pointer[[]*redactor] // for what is said in the middle of calls; nil before there are any

	scanning sync.Mutex
	looks    kept[look]
	signs    map[string]bool // that were told
}

// New makes a Policy.
func New(opts Options) *Policy {
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	p := &Policy{opts: opts}
	p.pins.policy = p
	p.ask.Store(&Ask{})
	return p
}

// longestLine bounds, in bytes, what the operator is told at once: servers choose their names.
const longestLine = 2000

// tell tells the operator.
func (p *Policy) tell(format string, args ...any) {
	if p.opts.Tell == nil {
		return
	}
	line := fmt.Sprintf(format, args...)
	if len(line) > longestLine {
		line = strings.ToValidUTF8(line[:longestLine], "") + "..."
	}
	p.opts.Tell(line)
}

// Refresh looks whether the file of pins has become another, and tells whether servers are to be shown anew for that.
func (p *Policy) Refresh() bool { return p.pins.refresh() }

// laid is settings in use.
type laid struct {
	policy    *Policy
	rules     *ruleset
	limits    []*limit
	used      []string // the variables that rules and limits use
	redactors []*redactor
	masked    maskedLists
}

// Over adds settings to rules: what those show is narrowed, and their steps stand around those of the policy, which so decides
// by what a server would get, and whose refusals they see. It fails when an expression cannot be compiled. What servers may ask, the
// pins, and what is masked in the middle of calls, are those of the last call: who does not take its rules into use calls it again
// with the settings before.
func (p *Policy) Over(s Settings, rules bridge.Rules) (bridge.Rules, error) {
	set, err := newRuleset(s, p.failed)
	if err != nil {
		return rules, err
	}
	l := &laid{policy: p, rules: set}
	if l.limits, err = p.counts.limits(s.Limits); err != nil {
		return rules, err
	}
	l.used = set.names
	for _, lim := range l.limits {
		if lim.when != nil {
			l.used = append(slices.Clip(l.used), lim.when.names...)
		}
	}
	for _, r := range s.Redact {
		compiled, err := newRedactor(r)
		if err != nil {
			return rules, fmt.Errorf("redaction %q: %w", r.Name, err)
		}
		l.redactors = append(l.redactors, compiled)
	}
	var steps []bridge.Step
	if !set.idle() {
		rules.Follows, rules.Hears = l.follows, l.hears
	}
	if !set.idle() || len(l.limits) > 0 {
		steps = append(steps, l.judgeStep)
	}
	if len(l.redactors) > 0 {
		steps = append(steps, l.redactStep)
		rules.Shape = before(rules.Shape, l.redactShape)
	}
	if s.Scan.Do == ScanWarn || s.Scan.Do == ScanHide {
		rules.Shape = before(rules.Shape, func(snaps []upstream.Snapshot) []upstream.Snapshot { return p.scanShape(s.Scan, snaps) })
	}
	if path := s.Pin.Path(p.opts.Folder); path != "" {
		if err := p.pins.use(path); err != nil {
			return rules, fmt.Errorf("read the pins: %w", err)
		}
		rules.Shape = before(rules.Shape, func(snaps []upstream.Snapshot) []upstream.Snapshot { return p.pins.shape(s.Pin.OnChange, snaps) })
	}
	p.ask.Store(&s.Ask)
	p.redactors.Store(&l.redactors)
	rules.Steps = slices.Concat(rules.Steps, steps)
	if set.hides() {
		rules.Sight = both(rules.Sight, set.sight)
		rules.Seen = digest(s.Rules, set.fallback, rules.Seen)
	}
	return rules, nil
}

// before shapes what servers list first by one and then by the other, which may be nil.
func before(then, first func([]upstream.Snapshot) []upstream.Snapshot) func([]upstream.Snapshot) []upstream.Snapshot {
	if then == nil {
		return first
	}
	return func(snaps []upstream.Snapshot) []upstream.Snapshot { return then(first(snaps)) }
}

// both narrows what one sight shows by another.
func both(first, second func(*server.Request) bridge.Sight) func(*server.Request) bridge.Sight {
	if first == nil {
		return second
	}
	return func(req *server.Request) bridge.Sight {
		a, b := first(req), second(req)
		a.Key = digest(a.Key, b.Key)
		if admits := a.Admits; admits != nil {
			a.Admits = func(e bridge.Entry) bool { return admits(e) && b.Admits(e) }
		} else {
			a.Admits = b.Admits
		}
		return a
	}
}

// digest stands for values.
func digest(values ...any) string {
	raw, _ := json.Marshal(values) // texts and lists of them: it cannot fail
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// failed tells of a rule that cannot be evaluated.
func (p *Policy) failed(ctx context.Context, f *facts, rule string, err error) {
	if p.quiet.once(rule+"\x00"+err.Error(), time.Now()) {
		p.opts.Logger.LogAttrs(ctx, slog.LevelWarn, "a rule of gateway.policy cannot be evaluated, so it denies",
			slog.String("rule", rule), slog.String("server", f.entry.Server), slog.String(string(f.entry.Kind), f.entry.Name), slog.String("error", err.Error()))
	}
}

// quiet keeps the same words from being said all the time.
type quiet struct {
	mu   sync.Mutex
	said map[string]time.Time
}

const (
	quietFor  = time.Minute
	mostQuiet = 1000 // words that are remembered
)

// once tells whether something was not said lately, and takes it as said.
func (q *quiet) once(what string, now time.Time) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if last, ok := q.said[what]; ok && now.Sub(last) < quietFor {
		return false
	}
	if q.said == nil || len(q.said) >= mostQuiet {
		q.said = make(map[string]time.Time)
	}
	q.said[what] = now
	return true
}
