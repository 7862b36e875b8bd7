package main

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/bench/internal/ratio"
	"github.com/rialto-mcp/rialto/bench/internal/rows"
)

func Example_printTable() {
	peers := []rows.Peer{{Name: "bare"}, {Name: "mcp-go"}}
	err := printTable(os.Stdout, peers, []rows.Line{
		{Work: "a call", Base: "bare", Aim: ">= 0.90", Cells: map[string]ratio.Summary{
			"bare": {Median: 1, Min: 0.9, Max: 1.1}, "mcp-go": {Median: 0.25, Min: 0.2, Max: 0.3}}},
		{Work: "allocations", Aim: "<= 12", Verdict: "aim", Cells: map[string]ratio.Summary{"bare": {Median: 9}}},
	})
	if err != nil {
		panic(err)
	}
	// Output:
	// work         1.00 is   bare              mcp-go            aim for rialto  reached
	// a call       bare      1.00 (0.90-1.10)  0.25 (0.20-0.30)  >= 0.90         -
	// allocations  (counts)  9                 -                 <= 12           aim
}

func Example_printCrowds() {
	err := printCrowds(os.Stdout, map[string]rows.Crowd{
		"modern listen": {Streams: 10, Heard: 10, Memory: 0.25, Before: 5, Open: 15, After: 5},
		"legacy GET":    {Streams: 10, Heard: 9, Memory: 0.31, Before: 5, Open: 15, After: 20},
	})
	if err != nil {
		panic(err)
	}
	// Output:
	// streams        open  told of a change  memory of a stream, bare is 1.00  goroutines before  open  after
	// modern listen  10    10                0.25 (<= 0.30)                    5                  15    5
	// legacy GET     10    9                 0.31 (<= 0.30)                    5                  15    20
}

func TestFlagsAreRefusedClearly(t *testing.T) {
	cases := []struct {
		name string
		args []string
		want string
	}{
		{"no row", []string{"-only", "nothing like it"}, "the rows are http-modern"},
		{"bad expression", []string{"-only", "("}, "-only"},
		{"no rounds", []string{"-rounds", "0"}, "-rounds goes from 1"},
		{"too long", []string{"-duration", "2h"}, "-duration from"},
		{"too many streams", []string{"-streams", "10001"}, "-streams goes up to"},
		{"stray word", []string{"http"}, `"http"`},
	}
	for _, c := range cases {
		err := run(t.Context(), c.args, io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}
