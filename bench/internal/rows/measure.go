package rows

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rialto-mcp/rialto/bench/internal/ratio"
)

// Line is a measured row: a ratio for each peer that took part, or counts where the row has no base.
type Line struct {
	Name  string                   `json:"row"`
	Work  string                   `json:"work"`
	Base  string                   `json:"base,omitempty"`
	Aim   string                   `json:"aim"`
	Cells map[string]ratio.Summary `json:"peers"`

	// Verdict says what Rialto has reached; empty while it takes no part.
	Verdict string `json:"verdict,omitempty"`
}

// Measure runs all peers through the rounds of a row, taking turns: in every round each peer is measured once, in an
// order that changes from round to round, so that a slow moment of the machine hits no peer alone. A first round
// warms up and is thrown away.
func (r Row) Measure(ctx context.Context, lab *Lab, peers []Peer, rounds int) (line Line, err error) {
	if r.rounds > 0 {
		rounds = min(rounds, r.rounds)
	}
	meters, err := r.openAll(ctx, lab, peers)
	defer func() {
		for name, m := range meters {
			if e := m.close(); e != nil {
				err = errors.Join(err, fmt.Errorf("stop %s: %w", name, e))
			}
		}
	}()
	if err != nil {
		return Line{}, err
	}
	first := 0
	if r.rounds == 0 {
		first = -1 // the warm-up; the memory rows start afresh each time and need none
	}
	values := map[string][]float64{}
	for round := first; round < rounds; round++ {
		for _, name := range turn(meters, round) {
			value, err := meters[name].measure(ctx)
			if err != nil {
				return Line{}, fmt.Errorf("%s, round %d, %s: %w", r.Name, round+1, name, err)
			}
			if round >= 0 {
				values[name] = append(values[name], value)
			}
		}
	}
	return r.line(values)
}

func (r Row) openAll(ctx context.Context, lab *Lab, peers []Peer) (map[string]meter, error) {
	meters := map[string]meter{}
	for _, p := range peers {
		m, err := r.open(ctx, lab, p)
		if err != nil {
			return meters, fmt.Errorf("%s, start %s: %w", r.Name, p.Name, err)
		}
		if m != nil {
			meters[p.Name] = m
		}
	}
	return meters, nil
}

// turn orders the peers of one round: another one starts each time, and every second round runs backwards.
func turn(meters map[string]meter, round int) []string {
	var names []string
	for name := range meters {
		names = append(names, name)
	}
	slices.Sort(names)
	start := (round + len(names)) % len(names)
	names = slices.Concat(names[start:], names[:start])
	if round%2 != 0 {
		slices.Reverse(names)
	}
	return names
}

func (r Row) line(values map[string][]float64) (Line, error) {
	line := Line{Name: r.Name, Work: r.Work, Base: r.Base, Aim: r.Aim.String(), Cells: map[string]ratio.Summary{}}
	var base []float64
	switch {
	case r.Base == "":
		for _, counts := range values {
			base = slices.Repeat([]float64{1}, len(counts))
		}
	case r.Base == bareName && values[againName] != nil:
		base = ratio.Mean(values[bareName], values[againName])
	default:
		base = values[r.Base]
	}
	for name, series := range values {
		summary, err := ratio.Of(series, base)
		if err != nil {
			return Line{}, fmt.Errorf("%s, %s: %w", r.Name, name, err)
		}
		line.Cells[name] = summary
	}
	if own, measured := line.Cells[rialtoName]; measured {
		line.Verdict = r.Aim.Judge(own, line.Cells[mcpgoName])
	}
	return line, nil
}
