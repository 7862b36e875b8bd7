//go:build !unix

package main

import "os"

// hangups hears of nothing: this system has no signal to read a file anew.
func hangups() (heard <-chan os.Signal, stop func()) { return nil, func() {} }
