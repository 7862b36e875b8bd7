package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is main without the process: it returns the exit code.
func run(args []string, out, complaints io.Writer) int {
	flags := flag.NewFlagSet("features", flag.ContinueOnError)
	flags.SetOutput(complaints)
	page := flags.String("page", "docs/features.md", "the page to check")
	var logs []string
	flags.Func("json", "output of go test -json; may be repeated", func(name string) error {
		logs = append(logs, name)
		return nil
	})
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if len(logs) == 0 {
		fmt.Fprintln(complaints, "features: give the output of go test -json with -json FILE")
		return 2
	}
	rows, err := readPage(*page)
	if err != nil {
		fmt.Fprintln(complaints, "features:", err)
		return 2
	}
	seen, err := readLogs(logs)
	if err != nil {
		fmt.Fprintln(complaints, "features:", err)
		return 2
	}
	return report(rows, seen, out)
}

func readPage(name string) ([]row, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return parsePage(string(data))
}

func readLogs(names []string) (results, error) {
	seen := results{}
	for _, name := range names {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		err = seen.add(file)
		file.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return seen, nil
}

// report prints one line for each test that does not stand and a closing count, and returns the exit code.
func report(rows []row, seen results, out io.Writer) int {
	shown, partly, wrong := 0, 0, 0
	for _, r := range rows {
		stands := true
		for _, test := range r.tests {
			if fault := seen.fault(test); fault != "" {
				fmt.Fprintf(out, "%s: %s %s\n", r.number, test, fault)
				stands = false
			}
		}
		switch {
		case !stands:
			wrong++
		case len(r.tests) > 0 && r.missing == "":
			shown++
		case len(r.tests) > 0:
			partly++
		}
	}
	missing := len(rows) - shown - partly - wrong
	fmt.Fprintf(out, "features: %d rows, %d shown, %d in part, %d missing, %d wrong\n", len(rows), shown, partly, missing, wrong)
	if wrong > 0 {
		return 1
	}
	return 0
}
