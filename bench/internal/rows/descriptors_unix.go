//go:build unix

package rows

import (
	"fmt"
	"syscall"
)

// Descriptors fails where a process may not have n streams open and what it needs besides.
func Descriptors(n int) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("read the limit of open files: %w", err)
	}
	if need := uint64(n + n/5); uint64(limit.Max) < need {
		return fmt.Errorf("%d streams take a limit of %d open files, and here it is %d: raise it (ulimit -Hn %d)", n, need, limit.Max, need)
	}
	return nil
}
