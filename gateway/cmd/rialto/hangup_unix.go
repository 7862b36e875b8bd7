//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// hangups hears of SIGHUP, by which a running gateway is told to read its file anew. Nothing comes where whoever started the
// program wants the signal ignored, as nohup does.
func hangups() (heard <-chan os.Signal, stop func()) {
	if signal.Ignored(syscall.SIGHUP) {
		return nil, func() {}
	}
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGHUP)
	return c, func() { signal.Stop(c) }
}
