//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package stdio

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
)

// GuardStdout keeps stray output off the wire: it returns a handle of its own on standard output, to be given to Open,
// and lets descriptor 1 write to standard error until restore is called. That covers os.Stdout, loggers that took it
// earlier, C code and child processes. Call it early in main; it changes the whole process. Restore may be called more
// than once. Closing the handle, which the connection does, is independent of it.
func GuardStdout() (out *os.File, restore func() error, err error) {
	const stdout, stderr = 1, 2
	saved := duplicate(stdout, "stdout")
	if saved == nil {
		return nil, nil, errors.New("guard stdout: descriptor 1 is not open")
	}
	if out = ownHandle(saved, os.O_WRONLY); out == nil {
		return nil, nil, errors.Join(errors.New("guard stdout: no descriptor left"), saved.Close())
	}
	if err := redirect(stderr, stdout); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("guard stdout: %w", err), saved.Close(), out.Close())
	}
	restore = sync.OnceValue(func() error {
		fd, ok := fdOf(saved)
		if !ok {
			return os.ErrClosed
		}
		return errors.Join(redirect(int(fd), stdout), saved.Close())
	})
	return out, restore, nil
}

// redirect makes descriptor to refer to what from refers to, and lets children inherit it.
func redirect(from, to int) error {
	for {
		if err := dup2(from, to); err != syscall.EINTR && err != syscall.EBUSY {
			return err
		}
	}
}
