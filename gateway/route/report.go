package route

import (
	"fmt"
	"strings"
)

// Reason is why the operator should know of a name.
type Reason string

// The reasons of a [Note].
const (
	Collides    Reason = "another server has the same"
	NameTaken   Reason = "the name it would get is wanted by others"
	Asked       Reason = "the configuration asks for prefixes"
	Characters  Reason = "it has characters that cannot be shown"
	TooLong     Reason = "it is too long"
	ListedTwice Reason = "the server lists it twice; the first counts"
	AtRisk      Reason = "kept, but some model APIs take only 64 letters, digits, '_' and '-'; a maximum length changes it"
)

// Note tells the operator of one name that was changed, left out or is at risk.
type Note struct {
	Kind    Kind
	Target           // whose it is
	Exposed string   // what clients see; empty when it was left out
	Reason  Reason   // why
	Others  []string // other servers with the same name; for an address the one that keeps it
}

// String gives one line.
func (n Note) String() string {
	line := fmt.Sprintf("%s %q of server %q", n.Kind, n.Name, n.Server)
	if n.Exposed != "" && n.Exposed != n.Name {
		line += fmt.Sprintf(" is shown as %q", n.Exposed)
	}
	line += ": " + string(n.Reason)
	if len(n.Others) > 0 {
		line += fmt.Sprintf(" (%s)", strings.Join(n.Others, ", "))
	}
	return line
}

// Report gives all notes, by kind and then in the order of the table. It must not be changed.
func (t *Table) Report() []Note { return t.notes }

// note reports an item that is not simply shown under its own name.
func (t *Table) note(kind Kind, it *item) {
	note := Note{Kind: kind, Target: it.Target, Exposed: it.Exposed, Reason: reasonFor(kind, it), Others: it.others}
	if note.Reason == Asked {
		note.Others = nil // the name would be the same without them
	}
	if note.Reason != "" {
		t.notes = append(t.notes, note)
	}
}

func reasonFor(kind Kind, it *item) Reason {
	risky := len(it.want) > maxChanged || sanitize(it.want) != it.want
	switch {
	case it.Exposed == it.want && kind == Tool && risky:
		return AtRisk
	case it.Exposed == it.want:
		return ""
	case it.asked && it.level == levelPrefix:
		return Asked
	case len(it.others) > 0:
		return Collides
	case it.level > levelPlain:
		return NameTaken
	case sanitize(it.want) != it.want:
		return Characters
	}
	return TooLong
}
