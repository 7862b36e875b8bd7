//go:build unix

package stdio

import (
	"os"
	"syscall"
)

// ownHandle returns a handle of our own on what file refers to, or nil. It may be closed, and a broken pipe on it is an
// error rather than a deadly signal. Where possible it also has deadlines.
func ownHandle(file *os.File, flag int) *os.File {
	fd, ok := fdOf(file)
	if !ok {
		return nil
	}
	if own := reopen(file, flag); own != nil {
		return own
	}
	return duplicate(int(fd), file.Name())
}

// duplicate returns a second descriptor of the same file description, or nil.
func duplicate(fd int, name string) *os.File {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	own, err := syscall.Dup(fd)
	if err != nil {
		return nil
	}
	syscall.CloseOnExec(own)
	return os.NewFile(uintptr(own), name)
}
