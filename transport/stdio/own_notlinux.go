//go:build unix && !linux

package stdio

import "os"

// reopen works on Linux only.
func reopen(*os.File, int) *os.File { return nil }
