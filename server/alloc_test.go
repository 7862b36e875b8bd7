//go:build !race

// The race detector makes pools forget at random, so counts of allocations mean nothing under it.

package server_test

import "testing"

// The whole way of a call through the server, both copies of the in-memory pair included, costs no more allocations than
// it does today. The aim is twelve without the pair.
func TestAllocations(t *testing.T) {
	for _, c := range []struct {
		name    string
		opening []string
		frame   string
		most    float64
	}{
		{"modern tools/call", nil, modernCall, 13},
		{"legacy tools/call", []string{greeting}, legacyCall, 13},
		{"modern tools/list", nil, modernList, 12},
	} {
		once := rally(t, echoServer(t), c.opening...)
		frame := []byte(c.frame)
		if got := testing.AllocsPerRun(500, func() { once(frame) }); got > c.most {
			t.Errorf("%s: %.0f allocations, at most %.0f", c.name, got, c.most)
		} else {
			t.Logf("%s: %.0f allocations", c.name, got)
		}
	}
}
