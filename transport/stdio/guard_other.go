//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package stdio

import (
	"os"
	"sync"
)

// GuardStdout keeps stray output off the wire: it returns standard output, to be given to Open, and lets the variable
// os.Stdout stand for standard error until restore is called. What took os.Stdout earlier is not covered here. Call it
// early in main; it changes the whole process. Restore may be called more than once.
func GuardStdout() (out *os.File, restore func() error, err error) {
	out = os.Stdout
	os.Stdout = os.Stderr
	restore = sync.OnceValue(func() error {
		os.Stdout = out
		return nil
	})
	return out, restore, nil
}
