package stdio

import (
	"errors"
	"io"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// waitFile reads a pipe or terminal and waits for it on the thread that reads. The runtime's poller would wake one thread
// to learn that a message has come, and often a second one to read it; when the peer sends one request at a time, that
// costs as much as all the rest of the request. A pipe of its own, the bell, lets a deadline end the wait.
//
// One goroutine reads at a time; the other methods may be called from anywhere.
type waitFile struct {
	fd    int // a description of our own, in non-blocking mode
	epoll int // tells when fd can be read or the bell rings
	bell  struct{ in, out int }
	seen  [1]syscall.EpollEvent // the reader's own; what it says is found out by reading

	reading sync.Mutex // held by Read
	mu      sync.Mutex
	late    bool // the deadline has passed: there is a byte in the bell
	closed  bool
}

// waitOn opens what file refers to a second time, as reopen does. It returns nil where that cannot be done, and where Go
// code runs on one processor only: it would be held up while the reader waits.
func waitOn(file *os.File) io.Reader {
	if runtime.GOMAXPROCS(0) == 1 {
		return nil
	}
	path, ok := reopenable(file)
	if !ok {
		return nil
	}
	f := &waitFile{fd: -1, epoll: -1}
	f.bell.in, f.bell.out = -1, -1
	if err := f.open(path); err != nil {
		_ = f.release() // nothing was written to them
		return nil
	}
	return f
}

func (f *waitFile) open(path string) (err error) {
	const own = syscall.O_NONBLOCK | syscall.O_CLOEXEC
	if f.fd, err = syscall.Open(path, syscall.O_RDONLY|syscall.O_NOCTTY|own, 0); err != nil {
		return err
	}
	var bell [2]int
	if err = syscall.Pipe2(bell[:], own); err != nil {
		return err
	}
	f.bell.out, f.bell.in = bell[0], bell[1]
	if f.epoll, err = syscall.EpollCreate1(syscall.EPOLL_CLOEXEC); err != nil {
		return err
	}
	for _, fd := range []int{f.fd, f.bell.out} {
		if err = syscall.EpollCtl(f.epoll, syscall.EPOLL_CTL_ADD, fd, &syscall.EpollEvent{Events: syscall.EPOLLIN}); err != nil {
			return err // some devices have nothing to wait for
		}
	}
	return nil
}

// Read reads what has arrived, or waits for it.
func (f *waitFile) Read(p []byte) (int, error) {
	f.reading.Lock()
	defer f.reading.Unlock()
	for {
		if err := f.over(); err != nil {
			return 0, err
		}
		n, err := syscall.Read(f.fd, p)
		switch {
		case n > 0:
			return n, nil
		case err == nil:
			return 0, io.EOF
		case err == syscall.EAGAIN:
			if err := f.wait(); err != nil {
				return 0, err
			}
		case err != syscall.EINTR:
			return 0, os.NewSyscallError("read", err)
		}
	}
}

// wait waits until there is something to read or the bell rings. What this thread has left to others goes first, so that
// they need not wait until the runtime sees that it is stuck.
func (f *waitFile) wait() error {
	runtime.Gosched()
	if _, err := syscall.EpollWait(f.epoll, f.seen[:], -1); err != nil && err != syscall.EINTR {
		return os.NewSyscallError("epoll_wait", err)
	}
	return nil
}

// over returns why there is nothing to wait for.
func (f *waitFile) over() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.closed:
		return os.ErrClosed
	case f.late:
		return os.ErrDeadlineExceeded
	}
	return nil
}

// SetReadDeadline ends a wait under way and all later ones, or with a zero time lets them be. Nothing here needs a time
// to come, so any other counts as passed.
func (f *waitFile) SetReadDeadline(t time.Time) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	late := !t.IsZero()
	switch {
	case f.closed:
		return os.ErrClosed
	case late == f.late:
		return nil
	}
	f.late = late
	one := []byte{0}
	var err error
	if late {
		_, err = syscall.Write(f.bell.in, one)
	} else {
		_, err = syscall.Read(f.bell.out, one)
	}
	return os.NewSyscallError("ring", err)
}

// Close ends the reading and gives the descriptors back.
func (f *waitFile) Close() error {
	err := f.SetReadDeadline(longAgo)
	if errors.Is(err, os.ErrClosed) {
		return err
	}
	f.mu.Lock()
	again := f.closed
	f.closed = true
	f.mu.Unlock()
	if again {
		return os.ErrClosed
	}
	f.reading.Lock() // the bell has ended a wait under way
	defer f.reading.Unlock()
	return errors.Join(err, f.release())
}

func (f *waitFile) release() error {
	var err error
	for _, fd := range []int{f.fd, f.epoll, f.bell.in, f.bell.out} {
		if fd >= 0 {
			err = errors.Join(err, os.NewSyscallError("close", syscall.Close(fd)))
		}
	}
	return err
}
