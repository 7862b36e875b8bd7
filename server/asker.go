package server

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/internal/seal"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// asker is what one run of a handler has asked by call. Runs of one call find the same questions in the same places: the
// answers of the runs before stand in answers, and next says how many of them this run has used.
type asker struct {
	r *Request

	mu      sync.Mutex
	busy    bool              // a question is being put
	doing   int               // steps under way
	next    int               // the ordinal of the next question
	known   int               // up to which ordinal the runs before have come
	answers []seal.Answer     // by ordinal; one without Raw is open
	once    []seal.OnceResult // in the order the steps ran
	steps   map[string]bool   // the keys of the steps of this run
	rounds  int               // of questions sent by this run, where the client is asked at once
	pause   time.Duration     // of the last wait without a question
	page    *question         // the one that the user has agreed to visit last; nil for none
	chain   seal.ChainID
}

// Kinds of waits without a question, which stand among the answers too. The next run has a later behind it; an until has a
// truth value for an answer.
const (
	laterKind = "later"
	untilKind = "until"
)

// asker returns what this run asks with, made when it is first needed.
func (r *Request) asker() *asker {
	if a := r.asks.Load(); a != nil {
		return a
	}
	a := &asker{r: r}
	if r.record != nil {
		a.answers, a.once, a.chain = r.record.Answers, r.record.Once, r.record.Chain
		a.known = len(a.answers)
	} else {
		a.chain = seal.NewChain()
	}
	if !r.asks.CompareAndSwap(nil, a) {
		return r.asks.Load()
	}
	return a
}

// replays tells whether the handler still goes over what a run before has done.
func (r *Request) replays() bool {
	if a := r.asks.Load(); a != nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		return a.next < a.known
	}
	return r.record != nil && len(r.record.Answers) > 0
}

// question is one that a handler asks by call.
type question struct {
	name    string // "" for none
	method  string
	params  json.RawMessage
	ordinal int
}

// key is under what the question travels.
func (q *question) key() string {
	if q.name != "" {
		return q.name
	}
	return "question-" + strconv.Itoa(q.ordinal+1)
}

// blank is the place of the question among the answers. What is asked may be worded anew by every run, so the words do not
// count: its kind, its name and the form do.
func (q *question) blank() seal.Answer {
	a := seal.Answer{Kind: q.method, Name: q.name}
	if form, ok := formOf(q.method, q.params); ok {
		if sum, err := seal.DigestCall("form", jsonrpc.With(nil, json.RawMessage("{}"), "arguments", form)); err == nil {
			a.Form = sum[:8]
		}
	} else if q.method == mcp.MethodElicit {
		a.Kind += " " + mcp.ElicitModeURL
	}
	return a
}

// Errors of questions and steps that stand in each other's way: where one of them comes in the next run would depend on luck.
// errAfter may be of the same kind: nothing tells a goroutine that comes late from a handler that goes on after its question.
var (
	errAfter     = fmt.Errorf("%w; another question of it came first: ask for several at once with Request.Ask, not from several goroutines", ErrSuspended)
	errTwoAtOnce = errors.New("two questions of one run are being asked at the same time; ask for several at once with Request.Ask")
	errInStep    = errors.New("a question is asked while a step of Once is being done; ask before the step or after it")
	errNotByCall = errors.New("questions are asked by call in the handlers of tools, prompts and resources, while they run; a raw handler returns them")
)

// begin takes the right to ask, and the ordinal of the next question; end gives the right back.
func (a *asker) begin() (first int, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.busy: // before all else: while one is being put, the run may have ended with it
		return 0, errTwoAtOnce
	case a.r.round.Load() != nil:
		a.r.late("asks a question")
		return 0, errAfter
	case !a.r.byCall.Load():
		return 0, errNotByCall
	case !a.r.live():
		return 0, cmp.Or(context.Cause(a.r.in.Context()), engine.ErrEnded)
	case a.doing > 0:
		return 0, errInStep
	}
	a.busy = true
	return a.next, nil
}

// end notes how many questions were used. Places without an answer at the end are given back, unless the run has ended with
// their questions.
func (a *asker) end(used int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.busy = false
	a.next += used
	if a.r.round.Load() != nil {
		return
	}
	for n := len(a.answers); n > 0 && a.answers[n-1].Raw == nil; n-- {
		a.answers = a.answers[:n-1]
	}
	a.known = min(a.known, len(a.answers))
}

// again makes ready for another run on the same request, which finds what this one was answered.
func (a *asker) again() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.next, a.known, a.steps, a.page = 0, len(a.answers), nil, nil
}

// ask answers questions from the runs before, and puts those that are open. It returns the raw answers in the order of the
// questions.
func (a *asker) ask(ctx context.Context, questions []question) (answers []json.RawMessage, err error) {
	first, err := a.begin()
	if err != nil {
		return nil, err
	}
	used := 0
	defer func() { a.end(used) }()
	for i := range questions {
		questions[i].ordinal = first + i
	}
	for {
		open := a.open(questions)
		if len(open) == 0 {
			break
		}
		if err := a.put(ctx, open); err != nil {
			return nil, err
		}
	}
	used = len(questions)
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, q := range questions {
		raw := a.answers[q.ordinal].Raw
		answers = append(answers, raw)
		if q.method == mcp.MethodElicit && mcp.ElicitMode(q.params) == mcp.ElicitModeURL {
			a.page = nil
			if action, _ := jsonrpc.Member(raw, "action"); text(action) == string(mcp.ElicitAccept) {
				a.page = &q
			}
		}
	}
	return answers, nil
}

// open lists the questions that have no answer. Behind one that takes the place of another, no answer stands any more.
func (a *asker) open(questions []question) (open []question) {
	a.mu.Lock()
	defer a.mu.Unlock()
	other := false
	for _, q := range questions {
		other = other || !a.stands(&q)
		if other || a.answers[q.ordinal].Raw == nil {
			open = append(open, q)
		}
	}
	return open
}

// stands tells whether a question has its place already. The lock is held.
func (a *asker) stands(q *question) bool {
	return q.ordinal < len(a.answers) && same(a.answers[q.ordinal], q.blank())
}

func same(a, b seal.Answer) bool {
	return a.Kind == b.Kind && a.Name == b.Name && bytes.Equal(a.Form, b.Form)
}

// place gives a question its place, with an answer or an open one. Another question there means that the handler has gone
// another way than in the run before: what it asked from there on is asked again, unless a step has been done since that must
// not be done twice.
func (a *asker) place(q *question, raw json.RawMessage) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	blank := q.blank()
	if q.ordinal < len(a.answers) {
		stood := a.answers[q.ordinal]
		if same(stood, blank) {
			return nil
		}
		a.r.changed(fmt.Sprintf("question %d is %s, and was %s in the run before", q.ordinal+1, describe(blank), describe(stood)))
		for _, step := range a.once {
			if step.After > q.ordinal {
				return fmt.Errorf("question %d of this run is %s, and in the run before it was %s; after that the step %q was done, which cannot be done again: a handler must ask the same questions in the same order",
					q.ordinal+1, describe(blank), describe(stood), step.Key)
			}
		}
		a.answers = a.answers[:q.ordinal]
		a.known = min(a.known, q.ordinal)
	}
	blank.Raw = raw
	a.answers = append(a.answers[:len(a.answers):len(a.answers)], blank) // the record's own array stays as it was
	return nil
}

// answered gives a question that has its place an answer, or takes the answer away.
func (a *asker) answered(ordinal int, raw json.RawMessage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answers = slices.Clone(a.answers)
	a.answers[ordinal].Raw = raw
}

// describe names a question for the programmer of a handler.
func describe(a seal.Answer) string {
	if a.Name != "" {
		return fmt.Sprintf("%s %q", a.Kind, a.Name)
	}
	if a.Form != nil {
		return fmt.Sprintf("%s with the form %x", a.Kind, a.Form)
	}
	return a.Kind
}
