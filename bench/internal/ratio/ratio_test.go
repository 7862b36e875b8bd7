package ratio_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/rialto-mcp/rialto/bench/internal/ratio"
)

func ExampleOf() {
	// The second round ran on a slower machine: the ratio does not care.
	s, err := ratio.Of([]float64{90, 46, 80}, []float64{100, 50, 100})
	fmt.Println(s, s.Rounds, err)
	// Output: 0.90 (0.80-0.92) 3 <nil>
}

func TestOfRefuses(t *testing.T) {
	cases := []struct {
		name        string
		value, base []float64
	}{
		{"nothing", nil, nil},
		{"rounds that do not pair", []float64{1, 2}, []float64{1}},
		{"a base of zero", []float64{1}, []float64{0}},
	}
	for _, c := range cases {
		if got, err := ratio.Of(c.value, c.base); err == nil {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestMedian(t *testing.T) {
	cases := []struct {
		in   []float64
		want float64
	}{
		{nil, 0}, {[]float64{3}, 3}, {[]float64{3, 1}, 2}, {[]float64{9, 1, 5}, 5}, {[]float64{4, 1, 3, 2}, 2.5},
	}
	for _, c := range cases {
		before := slices.Clone(c.in)
		if got := ratio.Median(c.in); got != c.want || !slices.Equal(before, c.in) {
			t.Errorf("median of %v: %v, then %v", before, got, c.in)
		}
	}
}

func TestMean(t *testing.T) {
	if got := ratio.Mean([]float64{1, 2}, []float64{3, 6}); !slices.Equal(got, []float64{2, 4}) {
		t.Errorf("mean: %v", got)
	}
}

func TestStringDigits(t *testing.T) {
	if got := (ratio.Summary{Median: 13.62, Min: 9.5, Max: 20}).String(); got != "13.6 (9.50-20.0)" {
		t.Errorf("shown as %s", got)
	}
}
