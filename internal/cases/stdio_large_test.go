//go:build !race

// The race detector makes a line of this length take half a minute.

package cases

import (
	"strings"
	"testing"
)

// TestC080VeryLongLines is TestC080LongLines for one line of 64 MiB each way, with a limit beyond it.
func TestC080VeryLongLines(t *testing.T) {
	const size = 64 << 20
	c := spawn(t, "wide")
	c.send(t, callLine("1", "echo", `{"text":"`+strings.Repeat("x", size)+`"}`, false))
	line := c.next(t)
	if idOf(line) != "1" || len(line) < size || !strings.Contains(line[:1000], `"text":"xxx`) {
		t.Fatalf("an answer of %d bytes, %.200s", len(line), line)
	}
	c.silent(t)
}
