package stdio

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

var (
	kernel32           = syscall.NewLazyDLL("kernel32.dll")
	createJobObject    = kernel32.NewProc("CreateJobObjectW")
	setJobInformation  = kernel32.NewProc("SetInformationJobObject")
	assignProcess      = kernel32.NewProc("AssignProcessToJobObject")
	terminateJobObject = kernel32.NewProc("TerminateJobObject")
)

// setAttributes hides the console window, and quotes for the command interpreter when the program is a batch file.
func setAttributes(cmd *exec.Cmd) error {
	const createNoWindow = 0x08000000
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: createNoWindow | syscall.CREATE_NEW_PROCESS_GROUP}
	switch strings.ToLower(filepath.Ext(cmd.Path)) {
	case ".bat", ".cmd":
		line, err := batchLine(cmd.Path, cmd.Args[1:])
		if err != nil {
			return err
		}
		cmd.SysProcAttr.CmdLine = line
		cmd.Path = filepath.Join(os.Getenv("SYSTEMROOT"), "System32", "cmd.exe")
	}
	return nil
}

// group is a job object that holds the child and what it starts. What the child started before it was put into the job,
// right after its start, is not in it.
type group struct {
	process *os.Process

	mu  sync.Mutex
	job syscall.Handle // zero when the system refused one, and after release
}

func newGroup(p *os.Process) *group {
	g := &group{process: p}
	job, _, _ := createJobObject.Call(0, 0)
	if job == 0 {
		return g
	}
	const setQuotaAndTerminate = 0x0100 | 0x0001
	handle, err := syscall.OpenProcess(setQuotaAndTerminate, false, uint32(p.Pid))
	if err != nil {
		syscall.CloseHandle(syscall.Handle(job))
		return g
	}
	defer syscall.CloseHandle(handle)
	endWithUs(syscall.Handle(job))
	if ok, _, _ := assignProcess.Call(job, uintptr(handle)); ok == 0 {
		syscall.CloseHandle(syscall.Handle(job))
		return g
	}
	g.job = syscall.Handle(job)
	return g
}

// endWithUs makes the system end the job when its last handle is closed, so that children do not outlive this process.
func endWithUs(job syscall.Handle) {
	const extendedLimits, killOnClose = 9, 0x2000
	var info struct { // JOBOBJECT_EXTENDED_LIMIT_INFORMATION
		perProcess, perJob       int64
		flags                    uint32
		minSet, maxSet           uintptr
		active                   uint32
		affinity                 uintptr
		priority, scheduling     uint32
		io                       [6]uint64
		processMemory, jobMemory uintptr
		peakProcess, peakJob     uintptr
	}
	info.flags = killOnClose
	setJobInformation.Call(uintptr(job), extendedLimits, uintptr(unsafe.Pointer(&info)), unsafe.Sizeof(info))
}

// terminate has nothing gentle to offer here: a program without a console gets no signal.
func (g *group) terminate() {}

func (g *group) kill() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.job != 0 {
		terminateJobObject.Call(uintptr(g.job), 1)
		return
	}
	g.process.Kill() // fails only when it has exited
}

// alive is asked after the child itself has exited; release ends the rest.
func (g *group) alive() bool { return false }

// grace is nothing, since terminate does nothing.
func (g *group) grace(time.Duration) time.Duration { return 0 }

func (g *group) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.job != 0 {
		terminateJobObject.Call(uintptr(g.job), 1)
		syscall.CloseHandle(g.job)
		g.job = 0
	}
}

func signalOf(*os.ProcessState) string { return "" }

func brokenPipe(err error) bool {
	const noData = syscall.Errno(232)
	return errors.Is(err, syscall.ERROR_BROKEN_PIPE) || errors.Is(err, noData)
}
