package policy

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/rialto-mcp/rialto/mcp"
)

// Redaction keeps texts of some form from going further.
type Redaction struct {
	Name    string   // for logs, and of what its pattern finds
	Find    []string // forms that are built in; see [Forms]
	Pattern string   // of the operator's own, an RE2 expression; "" for none
	In      RedactIn // "" means both
	Do      RedactDo // "" means mask
	Servers []string // it is about what goes to them and comes from them; none means all
}

// RedactIn is where a redaction looks.
type RedactIn string

// Where a redaction looks.
const (
	InBoth      RedactIn = "both"
	InArguments RedactIn = "arguments" // what clients say: arguments of tools, prompts and completions, answers to questions, metadata
	InResults   RedactIn = "results"   // what servers say: results, errors, questions, progress, logs, states of tasks, definitions
)

// RedactDo is what a redaction does.
type RedactDo string

// What a redaction does with what it finds.
const (
	Mask     RedactDo = "mask"   // words stand in its place
	Withhold RedactDo = "refuse" // the request, the result or the question is refused; what may be missing is left out
)

// Check says what is wrong with a redaction.
func (r Redaction) Check() error {
	_, err := newRedactor(r)
	return err
}

// maxRedacted bounds the texts of one message that are looked at. One that has more is refused.
const maxRedacted = 4 << 20

var errTooMuchText = mcp.Errorf(mcp.CodeInternal, "The message holds more than %d MiB of text, which is more than this gateway looks through for what must not pass", maxRedacted>>20)

// redactor is a redaction that has been compiled.
type redactor struct {
	Redaction
	finders []finder
}

func newRedactor(r Redaction) (*redactor, error) {
	out := &redactor{Redaction: r}
	for _, name := range r.Find {
		f, ok := forms[name]
		if !ok {
			return nil, fmt.Errorf("the form %q is not known; there are %s", name, strings.Join(Forms(), ", "))
		}
		f.label = name
		out.finders = append(out.finders, f)
	}
	if r.Pattern != "" {
		own, err := regexp.Compile(r.Pattern)
		switch {
		case err != nil:
			return nil, fmt.Errorf("the pattern cannot be used: %s", oneLine(strings.TrimPrefix(err.Error(), "error parsing regexp: ")))
		case own.MatchString(""):
			return nil, errors.New("the pattern finds nothing at all as well, so it would be everywhere; let it begin with what is sure to be there")
		}
		out.finders = append(out.finders, finder{label: r.Name, find: func(text string) [][]int { return own.FindAllStringIndex(text, -1) }})
	}
	if out.finders == nil {
		return nil, errors.New("there is nothing to find; give find or pattern")
	}
	return out, nil
}

// redactors of those that look somewhere; nil for none.
func redactorsOf(all []*redactor, server string, in RedactIn) (out []*redactor) {
	for _, r := range all {
		if r.looks(server, in) {
			out = append(out, r)
		}
	}
	return out
}

func (r *redactor) looks(server string, in RedactIn) bool {
	return (len(r.Servers) == 0 || slices.Contains(r.Servers, server)) && (r.In == "" || r.In == InBoth || r.In == in)
}

// redaction is the work on one message.
type redaction struct {
	with  []*redactor
	left  int // of maxRedacted
	found []hit
}

func newRedaction(with []*redactor) *redaction { return &redaction{with: with, left: maxRedacted} }

type hit struct {
	by    *redactor
	label string
}

// place is where something was found in a text, and its label.
type place struct {
	from, to int
	label    string
}

// text masks what is found in a text. All redactions look at the text as it came, so that none finds the words that stand in the
// place of what another has found.
func (w *redaction) text(text string) string {
	if w.left -= len(text); w.left < 0 {
		return text
	}
	var places []place
	for _, r := range w.with {
		for _, f := range r.finders {
			at := f.find(text)
			if len(at) == 0 {
				continue
			}
			w.found = append(w.found, hit{r, f.label})
			for _, p := range at {
				places = append(places, place{p[0], p[1], f.label})
			}
		}
	}
	if places == nil {
		return text
	}
	return masked(text, places)
}

// masked puts words in the places. Those that overlap are one, under the label of the first.
func masked(text string, places []place) string {
	slices.SortStableFunc(places, func(a, b place) int { return cmp.Compare(a.from, b.from) })
	var b strings.Builder
	at := 0
	for i, p := range places {
		if i == 0 || p.from >= at {
			b.WriteString(text[at:p.from] + "[redacted " + p.label + "]")
		}
		at = max(at, p.to)
	}
	return b.String() + text[at:]
}

// outcome tells of what was found, once for each redaction, and answers the error where something is refused. where is the subject
// and the verb of a sentence: "arguments hold". about makes a decision of what it is about.
func (w *redaction) outcome(tell func(Decision), about func(Subject, Effect, string, string) Decision, where string) *mcp.Error {
	if w.left < 0 {
		tell(about(ByRedact, Refused, "", "there is more text than is looked through"))
		return errTooMuchText
	}
	var refusal *mcp.Error
	var told []hit
	for _, h := range w.found {
		if slices.Contains(told, h) {
			continue
		}
		told = append(told, h)
		effect := Changed
		if h.by.Do == Withhold {
			effect = Refused
			refusal = mcp.Errorf(mcp.CodeInvalidRequest, "The %s something that this gateway does not let pass: %s", where, h.label)
		}
		tell(about(ByRedact, effect, h.by.Name, fmt.Sprintf("the %s something of the form %s", where, h.label)))
	}
	return refusal
}
