package ratio

import "fmt"

// Aim is what a row wants of its measure.
type Aim struct {
	Value float64
	Most  bool // the measure may be Value at most (memory, allocations); otherwise it is to be Value at least
}

// String shows the aim as an inequality.
func (a Aim) String() string {
	if a.Most {
		return fmt.Sprintf("<= %g", a.Value)
	}
	return fmt.Sprintf(">= %g", a.Value)
}

// The verdicts of Judge.
const (
	Reached = "aim"        // the aim itself
	Twice   = "2 x mcp-go" // not the aim, but twice what mcp-go reaches, which is enough for work done in a second
	Missed  = "missed"
)

// Judge compares the median of own with the aim and, where more is better, with twice the median of peer.
func (a Aim) Judge(own, peer Summary) string {
	switch {
	case a.Most && own.Median <= a.Value, !a.Most && own.Median >= a.Value:
		return Reached
	case !a.Most && peer.Rounds > 0 && own.Median >= 2*peer.Median:
		return Twice
	}
	return Missed
}
