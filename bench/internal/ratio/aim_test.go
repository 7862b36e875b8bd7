package ratio_test

import (
	"testing"

	"github.com/rialto-mcp/rialto/bench/internal/ratio"
)

func TestJudge(t *testing.T) {
	more, less := ratio.Aim{Value: 0.9}, ratio.Aim{Value: 12, Most: true}
	cases := []struct {
		name      string
		aim       ratio.Aim
		own, peer float64
		want      string
	}{
		{"at the aim", more, 0.9, 0.3, ratio.Reached},
		{"twice the peer", more, 0.6, 0.3, ratio.Twice},
		{"below both", more, 0.5, 0.3, ratio.Missed},
		{"at the bound", less, 12, 345, ratio.Reached},
		{"over the bound, however bad the peer", less, 13, 345, ratio.Missed},
	}
	for _, c := range cases {
		if got := c.aim.Judge(ratio.Summary{Median: c.own}, ratio.Summary{Median: c.peer, Rounds: 1}); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	if got := more.Judge(ratio.Summary{Median: 0.1}, ratio.Summary{}); got != ratio.Missed {
		t.Errorf("without a peer: %s", got)
	}
	if more.String() != ">= 0.9" || less.String() != "<= 12" {
		t.Errorf("shown as %s and %s", more, less)
	}
}
