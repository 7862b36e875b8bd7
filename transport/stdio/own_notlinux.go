//go:build unix && !linux

package stdio

import "os"

// reopen works on Linux only.
func reopen(*os.File, int, int) *os.File { return nil }
