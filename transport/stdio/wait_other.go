//go:build !linux

package stdio

import (
	"io"
	"os"
)

// waitOn works on Linux only.
func waitOn(*os.File) io.Reader { return nil }
