package observe

import (
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// OnFailure says what becomes of calls that the audit log cannot take up: the disk is full, say, or too slow.
type OnFailure string

// What may become of them.
const (
	Drop   OnFailure = "drop"   // they go on; their lines are lost, and counted in the next line that can be written
	Refuse OnFailure = "refuse" // no call is sent without a place for its line; lines wait until they can be written
)

// AuditOptions configures an audit log. The zero value is none.
type AuditOptions struct {
	File      string // path; empty means no log. Its folder must exist
	Arguments Detail // of requests; empty means none
	Results   Detail

	// MaxSize is how many bytes the file may have before it is renamed and begun anew. Zero means 100 MB; negative means that
	// it grows.
	MaxSize int64

	// Keep is how many of the renamed files stay: FILE.1 is the newest. Zero means 10.
	Keep int

	OnFailure OnFailure // empty means Drop

	open func(path string) (file, error) // nil means the file system
}

// Bounds of the lines that wait to be written.
const (
	mostWaiting      = 10_000
	mostWaitingBytes = 16 << 20
)

// Times of the writer.
const (
	syncEvery  = time.Second // that what was written is handed to the disk
	retryEvery = time.Second // that a failing file is tried again
)

func (o AuditOptions) withDefaults() AuditOptions {
	if o.MaxSize == 0 {
		o.MaxSize = 100_000_000
	}
	if o.Keep == 0 {
		o.Keep = 10
	}
	if o.OnFailure == "" {
		o.OnFailure = Drop
	}
	if o.open == nil {
		o.open = openFile
	}
	return o
}

// Audit is a log of JSON lines in a file. One goroutine writes it: whole lines, several at once where they come fast. A
// process that is killed in the middle of a write may leave half of a line, as the last of the file; whoever opens the file
// next begins a new line after it. A line that was written is with the system at once, and with the disk within a second. Its
// methods may be called concurrently, and those of a nil Audit do nothing.
type Audit struct {
	say func(string)

	opts   atomic.Pointer[AuditOptions] // nil File: off
	wake   chan struct{}                // of one place
	stop   chan struct{}
	done   chan struct{}
	ending sync.Once

	mu       sync.Mutex
	lines    [][]byte // that wait
	bytes    int      // of them
	reserved int      // places of calls under way
	dropped  int      // lines since the last one that was written
	failure  error    // why writing does not work at the moment
	next     *Change  // that is to be taken into use
	before   int      // how many of lines are older than next, and so for the file before it
	closed   bool
}

// OpenAudit opens an audit log. say hears of what is wrong with the file and when that is over; it must not block. It fails
// when the file cannot be opened.
func OpenAudit(o AuditOptions, say func(string)) (*Audit, error) {
	a := &Audit{say: say, wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
	first, err := prepare(o)
	if err != nil {
		return nil, err
	}
	a.opts.Store(&first.opts)
	w := &writer{audit: a, opts: first.opts, file: first.file}
	go func() { // ends with Close, which waits
		defer close(a.done)
		w.run()
	}()
	return a, nil
}

// Change is another file, or other options, that can be taken into use.
type Change struct {
	opts AuditOptions
	file file // nil for none
}

// Prepare opens the file anew, that of the same name included: one that was renamed meanwhile is left. Nothing is changed
// before [Audit.Take].
func (a *Audit) Prepare(o AuditOptions) (*Change, error) { return prepare(o) }

func prepare(o AuditOptions) (*Change, error) {
	c := &Change{opts: o.withDefaults()}
	if c.opts.File == "" {
		return c, nil
	}
	var err error
	if c.file, err = c.opts.open(c.opts.File); err != nil {
		return nil, fmt.Errorf("the audit log cannot be opened: %w; see that its folder exists and may be written to", err)
	}
	return c, nil
}

// Drop forgets a change.
func (c *Change) Drop() {
	if c.file != nil {
		_ = c.file.Close() // nothing was written to it
	}
}

// Take takes a change into use. Lines that wait are tried on the file before, once, and what it does not take goes to the new
// one, as all that come after Take do: who renamed the file may have it to himself from then on.
func (a *Audit) Take(c *Change) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		c.Drop()
		return
	}
	if a.next == nil || c.file == nil { // what came after an earlier change is for the newest file, where there is one
		a.before = len(a.lines)
	}
	if a.next != nil {
		a.next.Drop()
	}
	a.next = c
	a.opts.Store(&c.opts)
	a.ring()
}

// On tells whether there is a file.
func (a *Audit) On() bool { return a != nil && a.opts.Load().File != "" }

// Close writes what waits and closes the file. It may be called twice.
func (a *Audit) Close() {
	if a == nil {
		return
	}
	a.ending.Do(func() { close(a.stop) })
	<-a.done
}

// ring lets the writer look. a.mu is held.
func (a *Audit) ring() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// place is where the line of a call goes.
type place bool

const (
	nowhere place = false // where there is room
	kept    place = true  // one was kept for it
)

// reserve keeps a place for the line of a call, where calls without one are refused.
func (a *Audit) reserve() (place, error) {
	if !a.On() || a.opts.Load().OnFailure != Refuse {
		return nowhere, nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.failure != nil:
		return nowhere, mcp.Errorf(mcp.CodeInternal, "the audit log of the gateway cannot be written, and calls that it does not hold are refused; tell its operator")
	case a.reserved+len(a.lines) >= mostWaiting, a.bytes >= mostWaitingBytes:
		return nowhere, mcp.Errorf(mcp.CodeInternal, "the audit log of the gateway is behind, and calls that it does not hold are refused; try again in a moment")
	}
	a.reserved++
	return kept, nil
}

// detail notes arguments and result of a request as far as the options want them. Arguments are those that the server got. Of a
// request that was refused there is a digest at most: nothing has been masked in it yet.
func (a *Audit) detail(r *record, req *server.Request, result *server.Result) {
	if !a.On() {
		return
	}
	o := a.opts.Load()
	detail, params := o.Arguments, r.sent
	if r.Outcome == outcomeRefused || params == nil {
		params = req.Params()
		if detail == Full {
			detail = Digest
		}
	}
	if detail.some() {
		r.Arguments, r.ArgumentsDigest = detail.of(argumentsOf(req.Method(), params))
	}
	if result != nil && o.Results.some() {
		r.Result, r.ResultDigest = o.Results.of(result.JSON())
	}
}

// argumentsOf gives what a request hands over.
func argumentsOf(method string, params json.RawMessage) json.RawMessage {
	name := map[string]string{mcp.MethodCallTool: "arguments", mcp.MethodGetPrompt: "arguments", mcp.MethodComplete: "argument"}[method]
	arguments, _ := jsonrpc.Member(params, name)
	return arguments
}

// put hands a line to the writer.
func (a *Audit) put(r *record, p place) {
	if !a.On() && p == nowhere {
		return
	}
	line, err := json.Marshal(r)
	if err != nil { // a raw value that is none, which nothing here makes
		line, _ = json.Marshal(record{Time: r.Time, Method: r.Method, Outcome: r.Outcome, Reason: "this line could not be written in full"})
	}
	a.add(line, p)
}

// add puts a line among those that wait, where there is room.
func (a *Audit) add(line []byte, p place) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if p == kept {
		a.reserved--
	}
	if a.closed || p == nowhere && (len(a.lines)+a.reserved >= mostWaiting || a.bytes+len(line) > mostWaitingBytes) {
		a.dropped++
		return
	}
	a.lines = append(a.lines, append(line, '\n'))
	a.bytes += len(line) + 1
	a.ring()
}

// changing tells whether a change waits.
func (a *Audit) changing() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.next != nil
}

// take gives the writer what waits: lines that are older than a change, the change, and lines.
func (a *Audit) take() (old [][]byte, change *Change, lines [][]byte, dropped int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	old, change, lines, dropped = a.lines[:a.before:a.before], a.next, a.lines[a.before:], a.dropped
	a.lines, a.bytes, a.next, a.before, a.dropped = nil, 0, nil, 0, 0
	return old, change, lines, dropped
}

// giveBack returns what could not be written, and says why. What came meanwhile follows it.
func (a *Audit) giveBack(lines [][]byte, dropped int, why error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, line := range lines {
		a.bytes += len(line)
	}
	a.lines = append(lines, a.lines...)
	if a.next != nil {
		a.before += len(lines)
	}
	a.dropped += dropped
	first := a.failure == nil
	a.failure = why
	if first {
		a.say(fmt.Sprintf("the audit log cannot be written: %v; it is tried again every second, and meanwhile %s", why, a.meanwhile()))
	}
}

func (a *Audit) meanwhile() string {
	if a.opts.Load().OnFailure == Refuse {
		return "calls are refused"
	}
	return "calls go on, and lines are lost when too many wait"
}

// works says that writing does.
func (a *Audit) works() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.failure != nil {
		a.failure = nil
		a.say("the audit log is written again")
	}
}

// lose tells of lines that nobody will write any more.
func (a *Audit) lose() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	if lost := len(a.lines) + a.dropped; lost > 0 {
		a.say(fmt.Sprintf("%d lines of the audit log are lost", lost))
	}
	a.lines, a.bytes = nil, 0
}
