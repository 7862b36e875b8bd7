//go:build unix

package stdio

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// gone reports whether a process has ended; a dead one that its parent has not looked after yet counts as ended.
func gone(t *testing.T, pid int) bool {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if syscall.Kill(pid, 0) == syscall.ESRCH {
			return true
		}
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err == nil && strings.Contains(string(stat), ") Z ") {
			return true
		}
	}
	return false
}

// grandchild reads the pid the child names.
func grandchild(t *testing.T, c *Child) int {
	t.Helper()
	for {
		text, ok := strings.CutPrefix(mustRead(t, c), "grandchild ")
		if !ok {
			continue
		}
		pid, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		return pid
	}
}

func TestStubbornChildIsKilled(t *testing.T) {
	c := start(t, helper("stubborn"))
	mustRead(t, c)
	begun := time.Now()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(begun); took < 400*time.Millisecond || took > 3*time.Second {
		t.Errorf("took %v, which is not both waits and little more", took)
	}
	if exit := mustExit(t, c); exit.Signal != "killed" || exit.Code != -1 {
		t.Errorf("got %+v", exit)
	}
}

func TestDeafChildIsTerminated(t *testing.T) {
	c := start(t, helper("deaf"))
	mustRead(t, c)
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if exit := mustExit(t, c); exit.Signal != "terminated" {
		t.Errorf("got %+v", exit)
	}
}

// Nothing of the group is left, whether the wrapper waits or has gone ahead.
func TestC040GrandchildGoesWithTheGroup(t *testing.T) {
	for name, args := range map[string][]string{"wrapper waits": {"same", "wait"}, "wrapper is gone": {"same"}} {
		t.Run(name, func(t *testing.T) {
			c := start(t, helper("leave", args...))
			pid := grandchild(t, c)
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			if !gone(t, pid) {
				t.Error("the grandchild lives on")
			}
		})
	}
}

// A stranger that holds the pipes, outside the group, blocks neither reading nor Close.
func TestStrangerWithThePipes(t *testing.T) {
	c := start(t, helper("leave", "detached"))
	pid := grandchild(t, c)
	defer syscall.Kill(pid, syscall.SIGKILL)
	mustExit(t, c)
	for {
		if _, err := c.Read(t.Context()); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	begun := time.Now()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(begun); took > 2*time.Second {
		t.Errorf("took %v", took)
	}
	if gone := syscall.Kill(pid, 0) == syscall.ESRCH; gone {
		t.Error("a process outside the group was ended")
	}
}

// A server that a shell script has started ends with the script.
func TestC040ShellWrappers(t *testing.T) {
	scripts := map[string]string{
		"server in the background": `sleep 600 & echo "grandchild $!"; wait`,
		"wrapper ignores TERM":     `trap '' TERM; sleep 600 & echo "grandchild $!"; while :; do wait; done`,
	}
	for name, script := range scripts {
		t.Run(name, func(t *testing.T) {
			c := start(t, shell(t, script))
			pid := grandchild(t, c)
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			if !gone(t, pid) {
				t.Error("the grandchild lives on")
			}
		})
	}
}

func TestProgramIsFoundInTheChildsPath(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(os.Args[0], filepath.Join(dir, "my-server")); err != nil {
		t.Fatal(err)
	}
	command := helper("last")
	command.Path = "my-server"
	command.Env = append(command.Env, "PATH=relative:"+dir)
	if got := mustRead(t, start(t, command)); got != "1" {
		t.Errorf("got %q", got)
	}
}

func TestGuardKeepsStrayOutputAway(t *testing.T) {
	var stderr bytes.Buffer
	command := helper("guarded")
	command.Stderr = &stderr
	c := start(t, command)
	for _, want := range []string{"frame", "restored"} {
		if got := mustRead(t, c); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	mustExit(t, c)
	if err := c.Close(); err != nil || stderr.String() != "stray\n" {
		t.Errorf("stderr got %q, %v", stderr.String(), err)
	}
	if got := mustRead(t, start(t, helper("stray"))); got != "stray" {
		t.Errorf("without a guard: %q", got)
	}
}

// Close ends a Read on the real standard input, whatever that is.
func TestCloseOnRealStandardInput(t *testing.T) {
	c := start(t, helper("waiting"))
	if got := mustRead(t, c); got != "the connection is closed" {
		t.Errorf("pipe: got %q", got)
	}
	for name, open := range map[string]func() (*os.File, error){
		"null device": func() (*os.File, error) { return os.Open(os.DevNull) },
		"blocking socket": func() (*os.File, error) {
			pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
			if err != nil {
				return nil, err
			}
			far := os.NewFile(uintptr(pair[1]), "far")
			t.Cleanup(func() { far.Close() })
			return os.NewFile(uintptr(pair[0]), "near"), nil
		},
		"terminal": terminal,
	} {
		t.Run(name, func(t *testing.T) {
			in, err := open()
			if err != nil {
				t.Skipf("not available here: %v", err)
			}
			defer in.Close()
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = []string{helperVar + "=waiting", "GORACE=atexit_sleep_ms=0"}
			cmd.Stdin = in
			out, err := cmd.CombinedOutput()
			want := "the connection is closed\n"
			if name == "null device" {
				want = "EOF\n" // at once
			}
			if err != nil || string(out) != want {
				t.Errorf("got %q, %v", out, err)
			}
		})
	}
}

// terminal opens a pseudo terminal nobody types on. Its other end opens through the first, so this needs no ioctl.
func terminal() (*os.File, error) {
	if runtime.GOOS != "linux" {
		return nil, fmt.Errorf("on %s it takes more than opening a file", runtime.GOOS)
	}
	return os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
}

// The mode of a shared file description is left alone.
func TestSharedDescriptionStaysBlocking(t *testing.T) {
	r, w := osPipe(t)
	fd := duplicateBlocking(t, r)
	own := ownHandle(fd, os.O_RDONLY)
	if own == nil {
		t.Fatal("no own handle")
	}
	defer own.Close()
	if own.SetReadDeadline(time.Now()) != nil && runtime.GOOS == "linux" {
		t.Error("no deadlines on the own handle")
	}
	n, _ := fdOf(fd)
	if nonblocking(t, n) {
		t.Error("the shared description was made non-blocking")
	}
	own.SetReadDeadline(time.Time{})
	io.WriteString(w, "x")
	if buf := make([]byte, 1); func() bool { _, err := own.Read(buf); return err != nil || buf[0] != 'x' }() {
		t.Error("the own handle does not read the pipe")
	}
}

// duplicateBlocking gives a pipe end as a process would inherit it.
func duplicateBlocking(t *testing.T, file *os.File) *os.File {
	t.Helper()
	n, _ := fdOf(file)
	fd, err := syscall.Dup(int(n))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.SetNonblock(fd, false); err != nil {
		t.Fatal(err)
	}
	own := os.NewFile(uintptr(fd), "inherited")
	t.Cleanup(func() { own.Close() })
	return own
}

func nonblocking(t *testing.T, fd uintptr) bool {
	t.Helper()
	flags, _, errno := syscall.Syscall(syscall.SYS_FCNTL, fd, syscall.F_GETFL, 0)
	if errno != 0 {
		t.Fatal(errno)
	}
	return flags&syscall.O_NONBLOCK != 0
}
