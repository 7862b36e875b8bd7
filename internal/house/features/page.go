package main

import (
	"fmt"
	"regexp"
	"strings"
)

// row is one capability of the page.
type row struct {
	number  string   // S12, G3
	tests   []string // "server.TestX", "internal/era/legacy.TestX/sub"
	missing string   // what is missing; empty when nothing is
}

var (
	rowLine  = regexp.MustCompile(`^\| ([SG]\d+) \| (.+?) \| (.+) \|$`)
	nearRow  = regexp.MustCompile(`^\|\s*[SG]\d+\b`)
	testName = regexp.MustCompile(`^[a-z0-9_/-]+\.(Test|Example|Fuzz)\w*(/\S+)?$`)
	quoted   = regexp.MustCompile("`([^`]+)`")
)

// parsePage reads the rows of both tables and refuses what cannot be checked: a row that is written in another shape, a
// number that is out of order, a third column with neither a test nor "missing: ...".
func parsePage(page string) ([]row, error) {
	var rows []row
	next := map[string]int{"S": 1, "G": 1}
	for i, line := range strings.Split(page, "\n") {
		if !nearRow.MatchString(line) {
			continue
		}
		cells := rowLine.FindStringSubmatch(line)
		if cells == nil {
			return nil, fmt.Errorf("line %d: want \"| number | capability | shown by |\"", i+1)
		}
		number := cells[1]
		if want := fmt.Sprintf("%s%d", number[:1], next[number[:1]]); number != want {
			return nil, fmt.Errorf("line %d: row %s stands where %s is expected", i+1, number, want)
		}
		next[number[:1]]++
		r, err := parseShown(number, cells[3])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		rows = append(rows, r)
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("the page has no rows")
	}
	return rows, nil
}

// parseShown reads the third column: tests in back quotes, then, where something is missing, "missing: " and what.
func parseShown(number, cell string) (row, error) {
	tests, missing, isMissing := strings.Cut(cell, "missing:")
	r := row{number: number, missing: strings.TrimSpace(missing)}
	if isMissing && r.missing == "" {
		return row{}, fmt.Errorf("row %s does not say what is missing", number)
	}
	for _, m := range quoted.FindAllStringSubmatch(tests, -1) {
		if !testName.MatchString(m[1]) {
			return row{}, fmt.Errorf("row %s: %q is not package.TestName", number, m[1])
		}
		r.tests = append(r.tests, m[1])
	}
	if left := strings.Trim(quoted.ReplaceAllString(tests, ""), " ,;"); left != "" {
		return row{}, fmt.Errorf("row %s: %q is neither a test in back quotes nor \"missing: ...\"", number, left)
	}
	if len(r.tests) == 0 && !isMissing {
		return row{}, fmt.Errorf("row %s names no test and does not say what is missing", number)
	}
	return r, nil
}
