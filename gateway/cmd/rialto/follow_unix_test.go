//go:build unix

package main

import (
	"os/signal"
	"syscall"
	"testing"
)

// TestHangups holds that SIGHUP is heard, and that it is left alone where it was to be ignored.
func TestHangups(t *testing.T) {
	if signal.Ignored(syscall.SIGHUP) { // for good: nothing makes Go hear it again
		t.Skip("SIGHUP is ignored here: the tests were started by nohup or its like, or this is not the first time in one process")
	}
	heard, stop := hangups()
	if err := syscall.Kill(syscall.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if got := <-heard; got != syscall.SIGHUP {
		t.Errorf("heard %s", got)
	}
	stop()
	signal.Ignore(syscall.SIGHUP)
	defer signal.Reset(syscall.SIGHUP)
	if heard, _ := hangups(); heard != nil || !signal.Ignored(syscall.SIGHUP) {
		t.Error("a signal that was to be ignored is heard")
	}
}
