package stdio

import (
	"fmt"
	"os"
	"syscall"
	"time"
)

// reopenable returns the name under which a pipe or terminal can be opened a second time, through the proc file system.
// The file description the process was given, which others may share, stays as it is. A regular file would start again at
// offset zero.
func reopenable(file *os.File) (path string, ok bool) {
	fd, ok := fdOf(file)
	if !ok {
		return "", false
	}
	info, err := file.Stat()
	if err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeCharDevice) == 0 {
		return "", false
	}
	return fmt.Sprintf("/proc/self/fd/%d", fd), true
}

// reopen opens a file a second time in non-blocking mode. It returns nil where this cannot be done: other kinds of files,
// no right to the pipe's inode, no proc.
func reopen(file *os.File, flag int) *os.File {
	path, ok := reopenable(file)
	if !ok {
		return nil
	}
	own, err := os.OpenFile(path, flag|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil
	}
	if own.SetDeadline(time.Time{}) != nil {
		own.Close() // nothing was written to it
		return nil
	}
	return own
}
