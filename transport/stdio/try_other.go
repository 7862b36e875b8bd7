//go:build !unix

package stdio

import "syscall"

// canTry tells whether tryRead and tryWrite work here.
const canTry = false

func tryRead(syscall.RawConn, []byte) (int, error)  { return 0, syscall.EWINDOWS }
func tryWrite(syscall.RawConn, []byte) (int, error) { return 0, syscall.EWINDOWS }
