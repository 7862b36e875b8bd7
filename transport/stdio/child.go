package stdio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/rialto-mcp/rialto/transport"
)

// LastWords is how long the exit of a child may come after the end of its output or input, on a machine that is busy. Whoever
// sees that end first waits as long for the better story, which is the exit.
const LastWords = 2 * time.Second

const (
	stderrWait = 250 * time.Millisecond // for the last words of a child that has exited
	killWait   = 5 * time.Second        // for the system to end what was killed
	groupPoll  = 5 * time.Millisecond   // between looks at what is left of a group
)

// Child is a server that runs as a child process, and the connection to it.
//
// Read returns io.EOF when the child closes its output or exits. Done is closed a moment after the exit, so whoever wants
// to know why the output ended waits a little for Done and asks ExitError. Write fails
// with *ExitError once it has exited. A Write waits when the child does not read; its context, Close and the end of the
// child all end that, and reading goes on meanwhile.
type Child struct {
	command Command
	cmd     *exec.Cmd
	group   *group
	pipe    *pipe
	stdout  *os.File
	stderr  *os.File
	last    tail

	drained chan struct{} // standard error has been read to its end
	done    chan struct{} // the process has exited, exit is set
	exit    *ExitError
	reaped  chan struct{} // nothing of the process group is left, nor a goroutine

	once sync.Once
	err  error // of Close
}

var _ transport.Conn = (*Child)(nil)

// Start runs command. The context bounds the start alone; the child runs until it exits or Close ends it.
//
// It fails with *StartError.
func Start(ctx context.Context, command Command) (*Child, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	command = command.withDefaults()
	cmd, err := command.prepare()
	if err != nil {
		return nil, err
	}
	c := &Child{
		command: command, cmd: cmd,
		drained: make(chan struct{}), done: make(chan struct{}), reaped: make(chan struct{}),
	}
	if err := c.start(); err != nil {
		return nil, &StartError{Path: command.Path, Err: err}
	}
	go c.drainStderr() // ends with the pipe; reap waits for it
	go c.reap()        // ends with the process; Close waits for it
	return c, nil
}

// start makes the pipes and runs the process. The process gets the files themselves, so that waiting for it never waits
// for somebody who has inherited them.
func (c *Child) start() error {
	var theirs, ours [3]*os.File
	closeAll := func(files []*os.File) {
		for _, file := range files {
			if file != nil {
				file.Close() // unused ends of pipes
			}
		}
	}
	defer func() { closeAll(theirs[:]) }()
	for i := range ours {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll(ours[:])
			return err
		}
		theirs[i], ours[i] = w, r
		if i == 0 {
			theirs[i], ours[i] = r, w
		}
	}
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = theirs[0], theirs[1], theirs[2]
	if err := c.cmd.Start(); err != nil {
		closeAll(ours[:])
		return err
	}
	c.group = newGroup(c.cmd.Process)
	c.stdout, c.stderr = ours[1], ours[2]
	c.pipe = open(c.stdout, ours[0], Options{MaxFrameBytes: c.command.MaxFrameBytes, FlushTimeout: c.command.CloseWait})
	return nil
}

// Pid returns the process id.
func (c *Child) Pid() int { return c.cmd.Process.Pid }

// Done is closed when the process has exited.
func (c *Child) Done() <-chan struct{} { return c.done }

// ExitError tells how the process ended. It is nil while the process runs.
func (c *Child) ExitError() *ExitError {
	select {
	case <-c.done:
		return c.exit
	default:
		return nil
	}
}

// StderrTail returns the last of what the child wrote to standard error so far, at most 8 KiB, secrets masked.
func (c *Child) StderrTail() string { return mask(c.last.text(), c.command.Env) }

// Read returns the next line of the child's standard output.
func (c *Child) Read(ctx context.Context) ([]byte, error) { return c.pipe.Read(ctx) }

// Write writes a line to the child's standard input.
func (c *Child) Write(ctx context.Context, frame []byte) error {
	err := c.pipe.Write(ctx, frame)
	if !brokenPipe(err) {
		return err
	}
	// The child has closed its input, most likely because it is about to exit: that is the better story.
	select {
	case <-c.done:
		return c.exit
	case <-ctx.Done():
	case <-time.After(LastWords):
	}
	return fmt.Errorf("server process %q no longer reads its input: %w", c.command.Path, err)
}

// drainStderr reads standard error all the time, whether anybody wants it or not: a full pipe would stop the child.
func (c *Child) drainStderr() {
	defer close(c.drained)
	buf := make([]byte, 4<<10)
	to := c.command.Stderr
	for {
		n, err := c.stderr.Read(buf)
		c.last.add(buf[:n])
		if to != nil && n > 0 {
			if _, werr := to.Write(buf[:n]); werr != nil {
				to = nil
			}
		}
		if err != nil {
			return
		}
	}
}

// reap waits for the process, tells everybody, and ends what it has left behind in its group.
func (c *Child) reap() {
	defer close(c.reaped)
	_ = c.cmd.Wait() // its error says what ProcessState says
	c.group.terminate()
	within(c.drained, stderrWait)
	c.exit = newExitError(c.command, c.cmd.ProcessState, c.last.text())
	c.pipe.writer.fail(c.exit)
	close(c.done)
	c.pipe.src.end()
	c.endGroup()
	c.stderr.Close() // unblocks the drain if a stranger holds the other end
	within(c.drained, killWait)
}

// endGroup waits for the rest of the group, which has been asked to terminate, and kills it when it stays. What is left
// then are at most dead processes whose new parent has not looked after them yet.
func (c *Child) endGroup() {
	defer c.group.release()
	for _, wait := range []time.Duration{c.command.TermWait, stderrWait} {
		for end := time.Now().Add(wait); time.Now().Before(end); time.Sleep(groupPoll) {
			if !c.group.alive() {
				return
			}
		}
		c.group.kill()
	}
}

// Kill ends the child's process group at once, for when there is no time for the order of Close. Close is still to be
// called, and then returns soon.
func (c *Child) Kill() {
	select {
	case <-c.done:
	default:
		c.group.kill()
	}
}

// Close ends the child in order: it sends what was written, closes standard input and waits CloseWait, asks the process
// group to terminate and waits TermWait, then kills the group. It returns when the process is gone, whoever may still
// hold its pipes, and fails when the system does not end it or when the child did not take all that was written.
func (c *Child) Close() error {
	c.once.Do(func() { c.err = c.shut() })
	return c.err
}

func (c *Child) shut() error {
	patience := time.Now().Add(c.command.CloseWait)
	discarded := c.discardOutput()
	err := errors.Join(c.pipe.writer.close(c.command.CloseWait), closeStream(c.pipe.out))
	if !within(c.done, time.Until(patience)) {
		c.group.terminate()
		if !within(c.done, c.group.grace(c.command.TermWait)) {
			c.group.kill()
		}
	}
	if !within(c.reaped, c.command.TermWait+2*killWait) {
		err = errors.Join(err, fmt.Errorf("server process %q (pid %d) was killed but has not ended", c.command.Path, c.Pid()))
	}
	err = errors.Join(err, closeStream(c.stdout))
	within(discarded, killWait)
	return err
}

// discardOutput ends reading for the user and takes over, so that a child with something left to say can say it and
// exit. What it returns is closed when standard output has ended or was closed.
func (c *Child) discardOutput() <-chan struct{} {
	done := make(chan struct{})
	c.pipe.stopReading()
	go func() { // Close waits for it, up to killWait
		defer close(done)
		c.pipe.reading.Lock() // the last Read has left
		defer c.pipe.reading.Unlock()
		_ = c.stdout.SetReadDeadline(time.Time{}) // fails where there are no deadlines, which is what is wanted
		_, _ = io.Copy(io.Discard, c.stdout)      // how its output ends is of no use to anybody any more
	}()
	return done
}

// within waits for a channel to be closed, up to a limit.
func within(done <-chan struct{}, limit time.Duration) bool {
	select {
	case <-done:
		return true
	default:
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}
