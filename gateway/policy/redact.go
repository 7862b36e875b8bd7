package policy

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/rialto-mcp/rialto/gateway/bridge"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// Redaction keeps texts of some form from going further.
type Redaction struct {
	Name    string   // for logs, and of what its pattern finds
	Find    []string // forms that are built in; see [Forms]
	Pattern string   // of the operator's own, an RE2 expression; "" for none
	In      RedactIn // "" means both
	Do      RedactDo // "" means mask
	Servers []string // whose calls it is about; none means all
}

// RedactIn is where a redaction looks.
type RedactIn string

// Where a redaction looks.
const (
	InBoth      RedactIn = "both"
	InArguments RedactIn = "arguments" // of tools and prompts, and of completions
	InResults   RedactIn = "results"   // and errors
)

// RedactDo is what a redaction does.
type RedactDo string

// What a redaction does with what it finds.
const (
	Mask     RedactDo = "mask"   // words stand in its place
	Withhold RedactDo = "refuse" // the request or the result is refused
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

func (r *redactor) looks(server string, in RedactIn) bool {
	return (len(r.Servers) == 0 || slices.Contains(r.Servers, server)) && (r.In == "" || r.In == InBoth || r.In == in)
}

// redaction is the work on one message.
type redaction struct {
	with  []*redactor
	left  int // of maxRedacted
	found []hit
}

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

// outcome tells of what was found, once for each redaction, and answers the error where something is refused.
func (w *redaction) outcome(tell func(Decision), f *facts, in RedactIn) error {
	if w.left < 0 {
		tell(f.about(ByRedact, Refused, "", "there is more text than is looked through"))
		return errTooMuchText
	}
	var refusal error
	var told []hit
	for _, h := range w.found {
		if slices.Contains(told, h) {
			continue
		}
		told = append(told, h)
		effect := Changed
		if h.by.Do == Withhold {
			effect = Refused
			refusal = mcp.Errorf(mcp.CodeInvalidRequest, "The %s hold something that this gateway does not let pass: %s", in, h.label)
		}
		tell(f.about(ByRedact, effect, h.by.Name, fmt.Sprintf("the %s hold something of the form %s", in, h.label)))
	}
	return refusal
}

// redactStep looks through what goes to a server and what comes back.
func (l *laid) redactStep(ctx context.Context, p *bridge.Passage, next bridge.Next) (*server.RawResult, error) {
	f := factsOf(p)
	tell := func(d Decision) { l.policy.decided(ctx, d) }
	if w := l.redaction(p.Server, InArguments); w != nil && !p.Resumed && !p.Task {
		params := w.arguments(f.method, p.Params, p.Fixed)
		if err := w.outcome(tell, f, InArguments); err != nil {
			return nil, err
		}
		p.Params = params
	}
	result, err := next(ctx)
	w := l.redaction(p.Server, InResults)
	if w == nil {
		return result, err
	}
	var fault *mcp.Error
	switch {
	case errors.As(err, &fault): // one of the gateway may hold what the server has said
		shown := *fault
		shown.Message, shown.Data = w.text(fault.Message), w.values(fault.Data, nil)
		if len(w.found) > 0 {
			err = &shown
		}
	case err == nil && result != nil && result.Result != nil:
		shown := *result
		shown.Result = w.values(result.Result, ofProtocol)
		result = &shown
	}
	if refusal := w.outcome(tell, f, InResults); refusal != nil {
		return nil, refusal
	}
	return result, err
}

// redaction is the work on one message of a server; nil for none.
func (l *laid) redaction(server string, in RedactIn) *redaction {
	w := &redaction{left: maxRedacted}
	for _, r := range l.redactors {
		if r.looks(server, in) {
			w.with = append(w.with, r)
		}
	}
	if w.with == nil {
		return nil
	}
	return w
}

// arguments masks the arguments of a request, but for those that the operator has fixed: they are no words of the client.
func (w *redaction) arguments(method string, params json.RawMessage, fixed []string) json.RawMessage {
	names := []string{"arguments"}
	if method == mcp.MethodComplete {
		names = []string{"argument", "context"}
	}
	for _, name := range names {
		old, ok := jsonrpc.Member(params, name)
		if !ok {
			continue
		}
		now := w.values(jsonrpc.Without(old, fixed...), nil)
		for _, own := range fixed {
			if value, ok := jsonrpc.Member(old, own); ok {
				now = jsonrpc.With(nil, now, own, value)
			}
		}
		if string(now) != string(old) {
			params = jsonrpc.With(nil, params, name, now)
		}
	}
	return params
}

// ofProtocol are members of results that are no texts for people or models, outside of structured content.
var ofProtocol = []string{"type", "mimeType", "uri", "data", "blob", "role"}

// values masks every text that is a value in a JSON value, but for those of some members. All other tokens, white space and the
// names of members stay as they are.
func (w *redaction) values(raw json.RawMessage, but []string) json.RawMessage {
	out := make([]byte, 0, len(raw))
	var inside []byte // the containers that are open
	var name []byte   // the member that a value is of
	free := 0         // the depth of structured content; 0 outside
	key := false
	for i := 0; i < len(raw); {
		c := raw[i]
		switch c {
		case '{', '[':
			inside = append(inside, c)
			if key = c == '{'; free == 0 && named(name, []string{"structuredContent"}) {
				free = len(inside)
			}
		case '}', ']':
			if len(inside) == free {
				free = 0
			}
			inside = inside[:max(len(inside)-1, 0)]
			key, name = false, nil
		case ',':
			key = len(inside) > 0 && inside[len(inside)-1] == '{'
		case ':':
			key = false
		case '"':
			end := pastString(raw, i)
			token := raw[i:end]
			switch {
			case key:
				name = token
			case free == 0 && named(name, but) && inObject(inside):
			default:
				token = w.token(token)
			}
			out = append(out, token...)
			i = end
			continue
		}
		out = append(out, c)
		i++
	}
	return out
}

func inObject(inside []byte) bool { return len(inside) > 0 && inside[len(inside)-1] == '{' }

func named(token []byte, names []string) bool {
	if len(names) == 0 {
		return false
	}
	name, _ := jsonrpc.Text(token)
	return slices.Contains(names, name)
}

// token masks one text.
func (w *redaction) token(token []byte) []byte {
	text, ok := jsonrpc.Text(token)
	if !ok {
		return token
	}
	if now := w.text(text); now != text {
		return jsonrpc.AppendString(nil, now)
	}
	return token
}

// pastString is the place behind a string that begins at i.
func pastString(raw []byte, i int) int {
	for i++; i < len(raw); i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(raw)
}
