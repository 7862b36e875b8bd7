package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"text/tabwriter"

	"github.com/rialto-mcp/rialto/bench/internal/rows"
)

// crowdKinds are the streams of both eras.
var crowdKinds = []struct {
	name   string
	legacy bool
}{{"modern listen", false}, {"legacy GET", true}}

// runCrowd opens very many streams of each kind and says what came of it. It fails when that is not as it should be.
func runCrowd(ctx context.Context, s settings, stdout, stderr io.Writer) error {
	if runtime.GOOS != "linux" {
		return errors.New("-streams reads the memory of a server, which works on Linux alone")
	}
	if err := rows.Descriptors(s.streams); err != nil {
		return err
	}
	crowds, faults := map[string]rows.Crowd{}, error(nil)
	for _, kind := range crowdKinds {
		crowd, err := rows.MeasureCrowd(ctx, kind.legacy, s.streams, stderr)
		if err != nil {
			return fmt.Errorf("%s: %w", kind.name, err)
		}
		crowds[kind.name] = crowd
		if err := crowd.Faults(); err != nil {
			faults = errors.Join(faults, fmt.Errorf("%s: %w", kind.name, err))
		}
	}
	if s.json {
		encoder := json.NewEncoder(stdout)
		encoder.SetIndent("", "  ")
		return errors.Join(encoder.Encode(crowds), faults)
	}
	return errors.Join(printCrowds(stdout, crowds), faults)
}

func printCrowds(w io.Writer, crowds map[string]rows.Crowd) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "streams\topen\ttold of a change\tmemory of a stream, bare is 1.00\tgoroutines before\topen\tafter")
	for _, kind := range crowdKinds {
		c := crowds[kind.name]
		fmt.Fprintf(table, "%s\t%d\t%d\t%.2f (<= %.2f)\t%d\t%d\t%d\n", kind.name, c.Streams, c.Heard, c.Memory, rows.CrowdAim, c.Before, c.Open, c.After)
	}
	return table.Flush()
}
