//go:build unix

package stdio

import "syscall"

// canTry tells whether tryRead and tryWrite work here.
const canTry = true

// tryRead reads once without waiting; it fails with EAGAIN when nothing is there.
func tryRead(raw syscall.RawConn, p []byte) (n int, err error) {
	return try(raw.Read, syscall.Read, p)
}

// tryWrite writes once without waiting; it fails with EAGAIN when nothing fits.
func tryWrite(raw syscall.RawConn, p []byte) (n int, err error) {
	return try(raw.Write, syscall.Write, p)
}

func try(with func(func(uintptr) bool) error, call func(int, []byte) (int, error), p []byte) (n int, err error) {
	outer := with(func(fd uintptr) bool {
		for {
			n, err = call(int(fd), p)
			if err != syscall.EINTR {
				return true // never wait
			}
		}
	})
	if outer != nil {
		err = outer
	}
	return max(n, 0), err
}
