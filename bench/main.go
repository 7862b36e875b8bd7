// Command bench measures MCP servers and clients side by side on this machine and prints ratios, never bare numbers:
//
//	go run ./bench                       # the whole table, about five minutes
//	go run ./bench -only 'http|stdio-1'  # some rows
//	go run ./bench -json > table.json    # for machines
//	go run ./bench -streams 10000        # no table, but so many open streams at once, on Linux
//
// Every server is a process of its own on the loopback address. The peers of a row take turns in short rounds, and the
// bare limit (net/http and JSON, no SDK) runs twice, so that the table shows its own noise: a difference smaller than
// that between "bare" and "bare again" means nothing.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/rialto-mcp/rialto/bench/internal/rows"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(0)
	case err != nil:
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// settings are the flags, checked.
type settings struct {
	rounds   int
	duration time.Duration
	only     *regexp.Regexp
	json     bool
	wrk      string
	streams  int
}

func parse(args []string, stderr io.Writer) (settings, error) {
	var s settings
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&s.rounds, "rounds", 10, "rounds of each row; the memory rows run three at most, the allocations one")
	flags.DurationVar(&s.duration, "duration", 500*time.Millisecond, "time of one measurement")
	flags.BoolVar(&s.json, "json", false, "print JSON")
	flags.IntVar(&s.streams, "streams", 0, "instead of the table: open so many event streams at once, of either era, and look at memory, notices and goroutines")
	only := flags.String("only", "", "measure only the rows whose name matches this regular expression")
	wrk := flags.Bool("wrk", false, "drive the HTTP rows with wrk, which must be installed and counts in whole seconds")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	if flags.NArg() > 0 {
		return s, fmt.Errorf("unknown argument %q: only flags are taken", flags.Arg(0))
	}
	if s.rounds < 1 || s.rounds > 1000 || s.duration < time.Millisecond || s.duration > time.Minute {
		return s, errors.New("-rounds goes from 1 to 1000 and -duration from 1ms to 1m")
	}
	const mostStreams = 10_000 // more than that no server opens by default
	if s.streams < 0 || s.streams > mostStreams {
		return s, fmt.Errorf("-streams goes up to %d", mostStreams)
	}
	var err error
	if s.only, err = regexp.Compile(*only); err != nil {
		return s, fmt.Errorf("-only: %w", err)
	}
	if *wrk {
		if s.wrk, err = exec.LookPath("wrk"); err != nil {
			return s, fmt.Errorf("-wrk: install the package wrk, or leave the flag out to use the built-in senders: %w", err)
		}
	}
	return s, nil
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	s, err := parse(args, stderr)
	if err != nil {
		return err
	}
	if s.streams > 0 {
		return runCrowd(ctx, s, stdout, stderr)
	}
	chosen := selectRows(s.only)
	if len(chosen) == 0 {
		return fmt.Errorf("no row matches -only; the rows are %s", strings.Join(names(rows.All()), ", "))
	}
	peers := rows.Peers()
	lab, err := rows.NewLab(ctx, peers, stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lab.Close()) }()
	lab.Duration, lab.Wrk = s.duration, s.wrk
	var lines []rows.Line
	for i, row := range chosen {
		fmt.Fprintf(stderr, "measuring %s (%d of %d)\n", row.Name, i+1, len(chosen))
		line, err := row.Measure(ctx, lab, peers, s.rounds)
		if err != nil {
			return err
		}
		lines = append(lines, line)
	}
	if s.json {
		encoder := json.NewEncoder(stdout)
		encoder.SetIndent("", "  ")
		return encoder.Encode(lines)
	}
	return printTable(stdout, peers, lines)
}

func selectRows(only *regexp.Regexp) []rows.Row {
	var chosen []rows.Row
	for _, row := range rows.All() {
		if only.MatchString(row.Name) {
			chosen = append(chosen, row)
		}
	}
	return chosen
}

func names(all []rows.Row) []string {
	var out []string
	for _, row := range all {
		out = append(out, row.Name)
	}
	return out
}

// printTable writes the table: a median and a range over the rounds in each cell.
func printTable(w io.Writer, peers []rows.Peer, lines []rows.Line) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(table, "work\t1.00 is")
	for _, p := range peers {
		fmt.Fprintf(table, "\t%s", p.Name)
	}
	fmt.Fprintln(table, "\taim for rialto\treached")
	for _, line := range lines {
		base := line.Base
		if base == "" {
			base = "(counts)"
		}
		fmt.Fprintf(table, "%s\t%s", line.Work, base)
		for _, p := range peers {
			fmt.Fprintf(table, "\t%s", cell(line, p.Name))
		}
		fmt.Fprintf(table, "\t%s\t%s\n", line.Aim, cmp.Or(line.Verdict, "-"))
	}
	return table.Flush()
}

func cell(line rows.Line, peer string) string {
	summary, measured := line.Cells[peer]
	switch {
	case !measured:
		return "-"
	case line.Base == "":
		return fmt.Sprintf("%.0f", summary.Median)
	}
	return summary.String()
}
