package rows

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/bench/internal/ratio"
)

// TestEveryPeerAnswersEveryRow runs each row with the smallest load there is. The senders check what comes back: the
// text that was sent, a status of 200, no error. No number is judged, so that a slow day fails nothing.
func TestEveryPeerAnswersEveryRow(t *testing.T) {
	peers := Peers()
	lab, err := NewLab(t.Context(), peers, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := lab.Close(); err != nil {
			t.Error(err)
		}
	})
	lab.Duration, lab.Conns, lab.Streams = time.Millisecond, 2, 5
	for _, row := range All() {
		for _, p := range peers {
			t.Run(row.Name+"/"+p.Name, func(t *testing.T) { answers(t, row, lab, p) })
		}
	}
}

func answers(t *testing.T, row Row, lab *Lab, p Peer) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	m, err := row.open(ctx, lab, p)
	if err != nil {
		t.Fatal(err)
	}
	if m == nil {
		if strings.HasPrefix(row.Name, "client-") && p.client == nil {
			return // a server without a client has no place in the client rows
		}
		if strings.HasPrefix(row.Name, "gateway-") && p.front == "" {
			return // nor one that is nothing to stand in front of others in those of gateways
		}
		t.Fatal("takes no part")
	}
	if _, err := m.measure(ctx); err != nil {
		t.Error(err)
	}
	if err := m.close(); err != nil {
		t.Error(err)
	}
}

// counter is a meter that needs no machine: it answers from a list.
type counter struct {
	values []float64
	closed *int
}

func (c *counter) measure(context.Context) (float64, error) {
	value := c.values[0]
	c.values = c.values[1:]
	return value, nil
}

func (c *counter) close() error {
	*c.closed++
	return nil
}

func TestMeasureThrowsTheWarmUpAwayAndDividesByTheMeanOfBare(t *testing.T) {
	series := map[string][]float64{
		bareName:   {1, 90, 45},
		againName:  {1, 110, 55},
		rialtoName: {1, 80, 45},
	}
	closed := 0
	row := Row{Name: "made up", Base: bareName, Aim: ratio.Aim{Value: 0.8}, open: func(_ context.Context, _ *Lab, p Peer) (meter, error) {
		if series[p.Name] == nil {
			return nil, nil
		}
		return &counter{values: series[p.Name], closed: &closed}, nil
	}}
	peers := []Peer{{Name: bareName}, {Name: againName}, {Name: rialtoName}, {Name: "absent"}}
	line, err := row.Measure(t.Context(), nil, peers, 2)
	if err != nil {
		t.Fatal(err)
	}
	if got := line.Cells[rialtoName]; got.Min != 0.8 || got.Max != 0.9 || got.Rounds != 2 {
		t.Errorf("rialto: %+v", got)
	}
	if line.Verdict != ratio.Reached {
		t.Errorf("verdict %q", line.Verdict)
	}
	if _, there := line.Cells["absent"]; there || len(line.Cells) != 3 || closed != 3 {
		t.Errorf("%d cells, %d closed", len(line.Cells), closed)
	}
}

func TestTurnChangesTheOrderAndKeepsEveryPeer(t *testing.T) {
	meters := map[string]meter{"a": nil, "b": nil, "c": nil}
	first := map[string]bool{}
	for round := -1; round < 6; round++ {
		order := turn(meters, round)
		first[order[0]] = true
		if slices.Sort(order); !slices.Equal(order, []string{"a", "b", "c"}) {
			t.Errorf("round %d: %v", round, order)
		}
	}
	if len(first) != 3 {
		t.Errorf("only %v ever start", first)
	}
}

func TestNamesOfRowsAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, row := range All() {
		if seen[row.Name] || row.Name == "" || row.Aim.Value == 0 {
			t.Errorf("row %q: taken, unnamed or without an aim", row.Name)
		}
		seen[row.Name] = true
	}
}
