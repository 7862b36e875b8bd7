package stdio

import (
	"fmt"
	"os"
	"syscall"
	"time"
)

// reopen opens a pipe or terminal a second time, in non-blocking mode, through the proc file system. The file
// description the process was given, which others may share, stays as it is. It returns nil where this cannot be done:
// other kinds of files, no right to the pipe's inode, no proc.
func reopen(file *os.File, fd, flag int) *os.File {
	info, err := file.Stat()
	if err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeCharDevice) == 0 {
		return nil // a regular file would start again at offset zero
	}
	own, err := os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", fd), flag|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil
	}
	if own.SetDeadline(time.Time{}) != nil {
		own.Close() // nothing was written to it
		return nil
	}
	return own
}
