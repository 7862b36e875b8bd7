// Package ratio turns measurements of interleaved rounds into ratios. Numbers of one round are compared with each other
// and with nothing else, since the machine changes from round to round.
package ratio

import (
	"fmt"
	"slices"
)

// Summary is the middle and the spread of one ratio over the rounds.
type Summary struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
	Rounds int     `json:"rounds"`
}

// Of divides value by base round by round and sums up. It fails when the rounds do not pair or a base is not positive.
func Of(value, base []float64) (Summary, error) {
	if len(value) == 0 || len(value) != len(base) {
		return Summary{}, fmt.Errorf("%d values against %d of the base", len(value), len(base))
	}
	ratios := make([]float64, len(value))
	for i := range value {
		if base[i] <= 0 {
			return Summary{}, fmt.Errorf("the base of round %d is %v", i+1, base[i])
		}
		ratios[i] = value[i] / base[i]
	}
	return Summary{Median: Median(ratios), Min: slices.Min(ratios), Max: slices.Max(ratios), Rounds: len(ratios)}, nil
}

// Median returns the middle of values, or the mean of the two in the middle; 0 of nothing. It leaves values as they are.
func Median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	switch {
	case n == 0:
		return 0
	case n%2 == 1:
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}

// Mean returns the mean of two series, round by round. Both have the same length.
func Mean(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = (a[i] + b[i]) / 2
	}
	return out
}

// String shows the median and the range, with two digits, or one from ten on.
func (s Summary) String() string {
	return fmt.Sprintf("%s (%s-%s)", digits(s.Median), digits(s.Min), digits(s.Max))
}

func digits(v float64) string {
	if v >= 10 {
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}
