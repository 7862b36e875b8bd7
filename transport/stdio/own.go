package stdio

import (
	"io"
	"os"
	"syscall"
)

// fdOf returns the descriptor or handle of a file. File.Fd is not used: it may change the mode of the file.
func fdOf(file *os.File) (fd uintptr, ok bool) {
	raw, err := file.SyscallConn()
	if err != nil {
		return 0, false
	}
	err = raw.Control(func(n uintptr) { fd = n })
	return fd, err == nil
}

// isStandard tells whether a stream is one of the three the process was born with.
func isStandard(stream any) bool {
	file, ok := stream.(*os.File)
	if !ok {
		return false
	}
	fd, ok := fdOf(file)
	return ok && (fd == uintptr(syscall.Stdin) || fd == uintptr(syscall.Stdout) || fd == uintptr(syscall.Stderr))
}

// ownReader and ownWriter put a handle of our own in the place of a standard stream, where the system allows it.
func ownReader(in io.Reader) io.Reader {
	if !isStandard(in) {
		return in
	}
	file := in.(*os.File)
	if own := waitOn(file); own != nil {
		return own
	}
	if own := ownHandle(file, os.O_RDONLY); own != nil {
		return own
	}
	return in
}

func ownWriter(out io.Writer) io.Writer {
	if isStandard(out) {
		if own := ownHandle(out.(*os.File), os.O_WRONLY); own != nil {
			return own
		}
	}
	return out
}
