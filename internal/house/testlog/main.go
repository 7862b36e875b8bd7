package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run is main without the process: it returns the exit code.
func run(args []string, in io.Reader, out, complaints io.Writer) int {
	flags := flag.NewFlagSet("testlog", flag.ContinueOnError)
	flags.SetOutput(complaints)
	name := flags.String("o", "", "the file that keeps the JSON")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if *name == "" {
		fmt.Fprintln(complaints, "testlog: name the file to keep with -o FILE")
		return 2
	}
	if err := keep(*name, in, out); err != nil {
		fmt.Fprintln(complaints, "testlog:", err)
		return 1
	}
	return 0
}

// keep copies events to the file and shows them. Lines that are no events (a build failure of an older go command, a
// stray print) are shown as they are and stay out of the file, which holds JSON only.
func keep(name string, in io.Reader, out io.Writer) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	defer file.Close()
	v := view{out: out, said: map[string]*strings.Builder{}}
	for lines := bufio.NewReader(in); ; {
		line, err := lines.ReadBytes('\n')
		var e event
		if len(line) > 0 && json.Unmarshal(line, &e) == nil {
			if _, err := file.Write(line); err != nil {
				return err
			}
			v.show(e)
		} else if len(line) > 0 {
			fmt.Fprintf(out, "%s", line)
		}
		if err == io.EOF {
			return file.Close()
		}
		if err != nil {
			return err
		}
	}
}

// event is one line of go test -json.
type event struct {
	Action, Package, ImportPath, Test, Output string
	Elapsed                                   float64 // seconds
}

// view keeps what a test says until it is known whether anybody needs to read it.
type view struct {
	out  io.Writer
	said map[string]*strings.Builder // by package and test
}

func (v *view) show(e event) {
	key := e.Package + " " + e.Test
	switch e.Action {
	case "output":
		if v.said[key] == nil {
			v.said[key] = &strings.Builder{}
		}
		v.said[key].WriteString(e.Output)
	case "build-output":
		fmt.Fprint(v.out, e.Output)
	case "fail", "skip":
		// A package that was skipped has no tests; there is nothing to read.
		if said := v.said[key]; said != nil && (e.Test != "" || e.Action == "fail") {
			fmt.Fprint(v.out, said.String())
		}
		fallthrough
	case "pass":
		delete(v.said, key)
		v.line(map[string]string{"pass": "ok", "skip": "none", "fail": "FAIL"}[e.Action], e)
	}
}

// line prints the result of a whole package.
func (v *view) line(word string, e event) {
	if e.Test == "" {
		fmt.Fprintf(v.out, "%-4s %s %.1fs\n", word, e.Package, e.Elapsed)
	}
}
