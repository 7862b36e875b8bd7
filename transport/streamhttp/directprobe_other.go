//go:build !unix

package streamhttp

import "syscall"

// canProbe tells that an idle connection cannot be asked here whether the server has closed it.
const canProbe = false

func prober(syscall.RawConn) func() bool { return nil }
