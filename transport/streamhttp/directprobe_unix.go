//go:build unix

package streamhttp

import "syscall"

// canProbe tells that an idle connection can be asked whether the server has closed it.
const canProbe = true

// prober returns a function that tells whether a connection is open and has nothing to read. It reads one byte without
// waiting: a connection that has one is not used again, so that nothing is lost.
func prober(raw syscall.RawConn) func() bool {
	var silent bool
	look := func(fd uintptr) bool {
		var one [1]byte
		_, err := syscall.Read(int(fd), one[:])
		silent = err == syscall.EAGAIN || err == syscall.EWOULDBLOCK
		return true // never wait
	}
	return func() bool {
		silent = false
		return raw.Read(look) == nil && silent
	}
}
