package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

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
	next    int               // the ordinal of the next question
	known   int               // up to which ordinal the runs before have come
	answers []seal.Answer     // by ordinal; one without Raw is open
	once    []seal.OnceResult // in the order the steps ran
	steps   map[string]bool   // the keys of the steps of this run
	rounds  int               // of questions sent by this run, where the client is asked at once
	pause   time.Duration     // of the last wait without a question
	page    *question         // the one that sent the user to a page last; nil for none
	chain   seal.ChainID
}

// laterKind is the kind of a wait without a question, which the next run has behind it.
const laterKind = "later"

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

// errTwoAtOnce is what the second of two goroutines gets that ask at the same time.
var errTwoAtOnce = errors.New("two questions of one run are being asked at the same time; ask for several at once with Request.Ask")

// begin takes the right to ask and the ordinals for n questions; end gives the right back.
func (a *asker) begin(n int) (first int, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.r.round.Load() != nil:
		return 0, ErrSuspended
	case a.busy:
		return 0, errTwoAtOnce
	}
	a.busy = true
	return a.next, nil
}

func (a *asker) end(used int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.busy = false
	a.next += used
}

// ask answers questions from the runs before, and puts those that are open. It returns the raw answers in the order of the
// questions.
func (a *asker) ask(ctx context.Context, questions []question) (answers []json.RawMessage, err error) {
	first, err := a.begin(len(questions))
	if err != nil {
		return nil, err
	}
	used := 0
	defer func() { a.end(used) }()
	for i := range questions {
		questions[i].ordinal = first + i
		if err := a.place(&questions[i]); err != nil {
			return nil, err
		}
	}
	for {
		var open []question
		for _, q := range questions {
			if a.answers[q.ordinal].Raw == nil {
				open = append(open, q)
			}
		}
		if len(open) == 0 {
			break
		}
		if err := a.put(ctx, open); err != nil {
			return nil, err
		}
	}
	used = len(questions)
	for _, q := range questions {
		answers = append(answers, a.answers[q.ordinal].Raw)
		if q.method == mcp.MethodElicit && mcp.ElicitMode(q.params) == mcp.ElicitModeURL {
			a.page = &q
		}
	}
	return answers, nil
}

// place holds a question against what stands in its place. Another question there means that the handler has gone another
// way than in the run before: what it asked from there on is asked again, unless a step has been done since that must not be
// done twice.
func (a *asker) place(q *question) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	blank := q.blank()
	if q.ordinal < len(a.answers) {
		stood := a.answers[q.ordinal]
		if stood.Kind == blank.Kind && stood.Name == blank.Name && bytes.Equal(stood.Form, blank.Form) {
			return nil
		}
		for _, step := range a.once {
			if step.After > q.ordinal {
				return fmt.Errorf("question %d of this run is %s, and in the run before it was %s; after that the step %q was done, which cannot be done again: a handler must ask the same questions in the same order",
					q.ordinal+1, describe(blank), describe(stood), step.Key)
			}
		}
		a.answers = a.answers[:q.ordinal]
		a.known = min(a.known, q.ordinal)
	}
	a.answers = append(a.answers[:len(a.answers):len(a.answers)], blank) // the record's own array stays as it was
	return nil
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

// put asks the client: at once where its revision has requests for that, else by ending the run.
func (a *asker) put(ctx context.Context, open []question) error {
	ask := mcp.NeedInput()
	for _, q := range open {
		ask = ask.Ask(q.key(), q.method, q.params)
	}
	if err := a.r.server.canPut(a.r, ask); err != nil {
		return err
	}
	if a.r.in.Codec.Traits().InputRounds {
		return a.r.suspend(ask, a.record(open))
	}
	return a.send(ctx, open)
}

// send asks a legacy client by requests on the stream of its call. An answer that does not fit is none: it is asked again.
func (a *asker) send(ctx context.Context, open []question) error {
	if a.rounds++; a.rounds > a.r.server.opts.maxRounds() {
		return a.r.server.tooOften()
	}
	answers, err := a.r.askNow(ctx, open)
	if err != nil {
		return err
	}
	for i, q := range open {
		if err := checkAnswer(remembered(mcp.InputRequest{Method: q.method, Params: q.params}), answers[i]); err != nil {
			a.r.server.dropped(a.r, q.key(), err)
			continue
		}
		a.mu.Lock()
		a.answers[q.ordinal].Raw = answers[i]
		a.mu.Unlock()
	}
	return nil
}

// record is what the next run has to know, with these questions open.
func (a *asker) record(open []question) *seal.Record {
	record := a.r.nextRecord()
	record.ByCall = true
	if a.r.record != nil {
		record.State = a.r.record.State
	}
	for _, key := range a.r.answers.Keys() {
		record.Kept = append(record.Kept, seal.Answer{Name: key, Raw: a.r.answers[key]})
	}
	for _, q := range open {
		record.Asked = append(record.Asked, seal.Question{Key: q.key(), Request: remembered(mcp.InputRequest{Method: q.method, Params: q.params})})
	}
	return record
}
