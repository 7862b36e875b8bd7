package manager

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// SecretFunc asks a store for what a reference names: the text behind the scheme, with variables put in, one line of at most
// 1,024 bytes that does not begin with '-'. It may be called concurrently and must return when ctx ends. The text of the error is
// shown: it says why there is no value and what to do, and tells neither the value nor ref, which stands before it already.
//
// An error that wraps a [StoreDownError] says that nothing is known of what the store holds.
type SecretFunc func(ctx context.Context, ref string) (value string, err error)

// StoreDownError says that a store cannot answer now: it cannot be reached, say. It may hold the value all the same.
type StoreDownError struct{ Err error }

func (e *StoreDownError) Error() string { return e.Err.Error() }

// Unwrap gives what has gone wrong.
func (e *StoreDownError) Unwrap() error { return e.Err }

const (
	storesAtOnce     = 8 // questions
	longestStores    = 2 * time.Minute
	maxReferences    = 1000 // to stores, in one file
	longestReference = 1024
	longestRefusal   = 600 // bytes of what is told of a store that fails
)

// ownSchemes are words before a colon that have a meaning without stores.
var ownSchemes = []string{"env", "input", "workspaceFolder", "workspaceFolderBasename"}

// Prepare asks stores for all that some texts of sections refer to, side by side, so that Expand has no need to ask for one after
// the other. What goes wrong is told by Expand.
func (f *File) Prepare(texts []string, opts ReadOptions) {
	x := f.expander(opts)
	x.collect = true
	for _, text := range texts {
		x.expand(text)
	}
	x.stores.ask(opts.Context)
}

// store takes a reference to a store apart; ok tells that it is one. ${op:-x} is a variable with a default.
func (x *expander) store(body string) (scheme, ref string, ok bool) {
	scheme, ref, ok = strings.Cut(body, ":")
	if !ok || strings.HasPrefix(ref, "-") || slices.Contains(ownSchemes, scheme) {
		return "", "", false
	}
	_, ok = x.opts.Secrets[scheme]
	return scheme, ref, ok
}

// known lists the stores for those who have named another.
func (x *expander) known() string {
	var b strings.Builder
	for _, scheme := range slices.Sorted(maps.Keys(x.opts.Secrets)) {
		b.WriteString(", ${" + scheme + ":...}")
	}
	return b.String()
}

// secret gives what a store holds.
func (x *expander) secret(scheme, ref string, depth int) (value, fault string) {
	shown := "${" + scheme + ":" + ref + "}"
	if strings.Contains(ref, "${") || len(ref) > longestReference || strings.ContainsFunc(ref, isControl) {
		shown = "${" + scheme + ":...}" // defaults of variables are not shown
	}
	switch {
	case x.within:
		return "", "a reference to a store stands in another; a reference may hold variables only"
	case strings.Contains(ref, ":-") && !strings.Contains(ref, "${"):
		return "", fmt.Sprintf("${%s:...} is a reference to a store, which has no default; remove what stands behind :-", scheme)
	case depth == maxDefaults:
		return "", fmt.Sprintf("defaults stand in each other more than %d deep; flatten them", maxDefaults)
	case x.opts.Secrets[scheme] == nil:
		x.written = true
		return "${" + scheme + ":" + ref + "}", ""
	}
	x.within = true
	full, fault := x.expandAt(ref, depth+1)
	x.within = false
	switch {
	case fault != "":
		return "", fault
	case full == "" || strings.HasPrefix(full, "-") || len(full) > longestReference || strings.ContainsFunc(full, isControl):
		return "", fmt.Sprintf("what %s refers to must be 1 to %d bytes without control characters, and must not begin with '-'", shown, longestReference)
	}
	q := question{scheme, full}
	a, known := x.stores.answer(q)
	if !known {
		x.stores.want(q, x.opts.Secrets[scheme])
		if x.collect {
			return "", ""
		}
		x.stores.ask(x.opts.Context)
		a, _ = x.stores.answer(q)
	}
	if a.refusal != "" {
		x.lacking, x.down = scheme, a.down
		return "", fmt.Sprintf("%s has no value: %s", shown, a.refusal)
	}
	x.stored = append(x.stored, a.value)
	return a.value, ""
}

// stores remembers what stores have given for the references of one file. It may be used concurrently.
type stores struct {
	mu      sync.Mutex
	answers map[question]answer
	wanted  map[question]SecretFunc // in the next round
}

type question struct{ scheme, ref string }

// answer is a value, or why there is none.
type answer struct {
	value, refusal string
	down           bool // the store could not be asked
}

func newStores() *stores {
	return &stores{answers: make(map[question]answer), wanted: make(map[question]SecretFunc)}
}

func (s *stores) answer(q question) (answer, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, known := s.answers[q]
	return a, known
}

func (s *stores) want(q question, ask SecretFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.answers)+len(s.wanted) >= maxReferences {
		s.answers[q] = answer{refusal: fmt.Sprintf("the file refers to stores more than %d times; split it", maxReferences)}
		return
	}
	s.wanted[q] = ask
}

// ask asks for all that is wanted, and tells whether anything was.
func (s *stores) ask(ctx context.Context) bool {
	s.mu.Lock()
	wanted := s.wanted
	s.wanted = make(map[question]SecretFunc)
	s.mu.Unlock()
	if len(wanted) == 0 {
		return false
	}
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, longestStores)
	defer cancel()
	turns := make(chan struct{}, storesAtOnce)
	var asking sync.WaitGroup
	for q, ask := range wanted {
		asking.Go(func() { // ends with its store, which ends with ctx
			turns <- struct{}{}
			defer func() { <-turns }()
			a := answer{}
			if ctx.Err() != nil {
				a.refusal, a.down = "there was no time left to ask for it", true
			} else if value, err := ask(ctx, q.ref); err != nil {
				var down *StoreDownError
				a.refusal, a.down = tame(err.Error()), errors.As(err, &down) || ctx.Err() != nil
			} else {
				a.value = value
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			s.answers[q] = a
		})
	}
	asking.Wait()
	return true
}

// tame makes one short line of what others say.
func tame(text string) string {
	text = strings.Map(func(r rune) rune {
		if isControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > longestRefusal {
		text = strings.ToValidUTF8(text[:longestRefusal], "") + "..."
	}
	return text
}
