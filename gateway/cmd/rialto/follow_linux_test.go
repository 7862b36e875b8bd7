package main

import (
	"os"
	"testing"
)

// TestTheTerminalGoes holds that a terminal whose window was closed is none any more.
func TestTheTerminalGoes(t *testing.T) {
	typing, terminal := openPair(t)
	file, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if got := terminals(file, terminal); len(got) != 1 || got[0] != terminal {
		t.Errorf("%d terminals", len(got))
	}
	if err := typing.Close(); err != nil {
		t.Fatal(err)
	}
	if len(terminals(terminal)) != 0 {
		t.Error("it is a terminal still")
	}
}
