//go:build unix

package stdio

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// setAttributes puts the child into a process group of its own.
func setAttributes(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return nil
}

// group is the process group of a child: the child and what it started, save those who left the group on purpose. The
// number stays taken while anybody is left in it.
type group struct{ id int }

func newGroup(p *os.Process) *group { return &group{id: p.Pid} }

// terminate and kill fail only when nobody is left.
func (g *group) terminate() { _ = syscall.Kill(-g.id, syscall.SIGTERM) }
func (g *group) kill()      { _ = syscall.Kill(-g.id, syscall.SIGKILL) }

// alive reports whether anybody is left. It is asked after the child itself has been waited for; where this process is
// the init of a container, orphans of the group have become its children, and are waited for here.
func (g *group) alive() bool {
	for {
		if pid, err := syscall.Wait4(-g.id, nil, syscall.WNOHANG, nil); pid <= 0 && err != syscall.EINTR {
			break
		}
	}
	return !errors.Is(syscall.Kill(-g.id, 0), syscall.ESRCH)
}

// grace is how long to wait after terminate.
func (g *group) grace(wait time.Duration) time.Duration { return wait }

func (g *group) release() {}

func signalOf(state *os.ProcessState) string {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return status.Signal().String()
	}
	return ""
}

func brokenPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }
