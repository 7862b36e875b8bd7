package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/rialto-mcp/rialto/manager"
)

// What the audit log holds of arguments and results, and what becomes of calls that it cannot take up.
const (
	AuditNone   = "none"
	AuditDigest = "digest"
	AuditFull   = "full"
	AuditDrop   = "drop"
	AuditRefuse = "refuse"
)

// Audit is a log of the requests that go to servers or are refused. Package observe says what its lines hold.
type Audit struct {
	File      string // path, as the process that reads the configuration finds it
	Arguments string // one of none, digest and full
	Results   string
	MaxSize   int64  // bytes of the file before it is renamed
	Keep      int    // renamed files that stay
	OnFailure string // drop or refuse
}

// Limits of the settings of the audit log.
const (
	leastAuditSize = 1000
	mostAuditFiles = 1000
)

func (s *section) audit(v *manager.Value) {
	if v.Kind() == manager.Null { // as the normal form has it
		return
	}
	a := &Audit{Arguments: AuditNone, Results: AuditNone, MaxSize: 100_000_000, Keep: 10, OnFailure: AuditDrop}
	s.object(v, []setting{
		{"file", s.text(&a.File, checkFile)},
		{"arguments", s.text(&a.Arguments, oneOf(AuditNone, AuditDigest, AuditFull))},
		{"results", s.text(&a.Results, oneOf(AuditNone, AuditDigest, AuditFull))},
		{"maxSize", s.size(&a.MaxSize, leastAuditSize)},
		{"keep", s.number(&a.Keep, between(1, mostAuditFiles))},
		{"onFailure", s.text(&a.OnFailure, oneOf(AuditDrop, AuditRefuse))},
	})
	if v.Kind() == manager.Object && v.Member("file") == nil {
		s.problems.Add(v, "the audit log needs a file; write {\"file\": \"audit.jsonl\"}")
	}
	s.config.Audit = a
}

// normalAudit is null where there is none.
func (c *Config) normalAudit() any {
	a := c.Audit
	if a == nil {
		return nil
	}
	return ordered{
		{"file", a.File}, {"arguments", a.Arguments}, {"results", a.Results},
		{"maxSize", size(a.MaxSize)}, {"keep", a.Keep}, {"onFailure", a.OnFailure},
	}
}

func checkFile(path string) error {
	if path == "" || strings.ContainsRune(path, 0) || strings.HasSuffix(path, "/") {
		return errors.New("this must be the path of a file, such as audit.jsonl")
	}
	return nil
}

// oneOf demands one of a few words.
func oneOf(words ...string) func(string) error {
	return func(text string) error {
		for _, word := range words {
			if text == word {
				return nil
			}
		}
		last := len(words) - 1
		return fmt.Errorf("%q is not known; write %s or %s", text, strings.Join(words[:last], ", "), words[last])
	}
}

// between demands a number within bounds.
func between(least, most int) func(int) error {
	return func(n int) error {
		if n < least || n > most {
			return fmt.Errorf("this must be from %d to %d", least, most)
		}
		return nil
	}
}

// units of sizes, the largest first.
var units = []struct {
	name  string
	bytes int64
}{{"GB", 1_000_000_000}, {"MB", 1_000_000}, {"kB", 1000}, {"B", 1}}

const largestSize = 1_000_000_000_000

// size reads a number of bytes with its unit.
func (s *section) size(to *int64, least int64) func(*manager.Value) {
	return func(v *manager.Value) {
		if v.Kind() != manager.Text {
			s.problems.Add(v, "this must be a size with its unit, such as \"100MB\", not %s", v.Kind())
			return
		}
		n, ok := readSize(v.Text())
		if !ok || n < least || n > largestSize {
			s.problems.Add(v, "this must be a size of %s to %s, such as \"100MB\"; units are B, kB, MB and GB", size(least), size(largestSize))
			return
		}
		*to = n
	}
}

func readSize(text string) (int64, bool) {
	for _, unit := range units {
		if number, ok := strings.CutSuffix(strings.ToUpper(text), strings.ToUpper(unit.name)); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
			return n * unit.bytes, err == nil && n > 0 && n <= largestSize/unit.bytes
		}
	}
	return 0, false
}

// size writes a number of bytes in the largest unit that it is a whole number of.
func size(n int64) string {
	for _, unit := range units {
		if n%unit.bytes == 0 {
			return strconv.FormatInt(n/unit.bytes, 10) + unit.name
		}
	}
	return strconv.FormatInt(n, 10) + "B"
}
