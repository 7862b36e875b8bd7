package stdio

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// Command says how to start a server. No shell is involved.
type Command struct {
	// Path is the program: a path, or a name that is looked up in the child's PATH.
	Path string

	// Args are its arguments, without the name of the program.
	Args []string

	// Env holds entries NAME=value on top of the safe ones (see SafeEnv); of two with one name the later counts.
	Env []string

	// Dir is the working directory. Empty means that of this process.
	Dir string

	// Stderr receives what the child writes to its standard error, as it comes. It must not block for long, for the
	// child then blocks too; when it fails, the output is dropped from there on. Nil drops all. Either way the last
	// 8 KiB are kept for ExitError.
	Stderr io.Writer

	// MaxFrameBytes bounds one incoming frame. Zero means 10 MiB; negative means no bound.
	MaxFrameBytes int64

	// CloseWait is how long the child may take to end after its input was closed, and TermWait how long after the
	// request to terminate, before it is killed. Zero means 2 s each.
	CloseWait, TermWait time.Duration
}

func (c Command) withDefaults() Command {
	if c.CloseWait <= 0 {
		c.CloseWait = 2 * time.Second
	}
	if c.TermWait <= 0 {
		c.TermWait = 2 * time.Second
	}
	return c
}

// StartError is a child that could not be started.
type StartError struct {
	Path     string // as given
	Searched string // the PATH that was searched; empty when Path is a path
	Err      error
}

func (e *StartError) Error() string {
	if e.Searched == "" {
		return fmt.Sprintf("cannot start %q: %v", e.Path, e.Err)
	}
	return fmt.Sprintf("cannot start %q: %v; searched PATH: %s; give the full path of the program, or set PATH for it", e.Path, e.Err, e.Searched)
}

func (e *StartError) Unwrap() error { return e.Err }

// safeNames are the variables a child gets without being asked: enough to find programs and home, and no credentials.
func safeNames() []string {
	if runtime.GOOS == "windows" {
		return []string{
			"APPDATA", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATH", "PROCESSOR_ARCHITECTURE", "SYSTEMDRIVE",
			"SYSTEMROOT", "TEMP", "USERNAME", "USERPROFILE", "PROGRAMFILES", "PATHEXT", "COMSPEC",
		}
	}
	return []string{"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"}
}

// SafeEnv returns those entries of this process's environment that every child gets: on Unix HOME, LOGNAME, PATH,
// SHELL, TERM and USER, on Windows what programs need to run at all. Values that are shell functions are left out.
func SafeEnv() []string {
	var env []string
	for _, name := range safeNames() {
		if value, ok := os.LookupEnv(name); ok && !strings.HasPrefix(value, "()") {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// lookup finds the value of a variable in a list, the last one counting.
func lookup(env []string, name string) string {
	found := ""
	for _, entry := range env {
		key, value, _ := strings.Cut(entry, "=")
		if key == name || (runtime.GOOS == "windows" && strings.EqualFold(key, name)) {
			found = value
		}
	}
	return found
}

// find turns the name of a program into a path, by the PATH the child will have. On Windows PATHEXT is honoured.
func find(name string, env []string) (string, error) {
	if name == "" {
		return "", &StartError{Path: name, Err: fmt.Errorf("no program given")}
	}
	if strings.ContainsAny(name, `/\`) && filepath.Base(name) != name {
		return name, nil
	}
	path := lookup(env, "PATH")
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue // the working directory may be somebody else's
		}
		if full, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return full, nil
		}
	}
	if path == "" {
		path = "(empty)"
	}
	return "", &StartError{Path: name, Searched: path, Err: exec.ErrNotFound}
}

// prepare builds the command but for its streams.
func (c Command) prepare() (*exec.Cmd, error) {
	env := append(SafeEnv(), c.Env...)
	path, err := find(c.Path, env)
	if err != nil {
		return nil, err
	}
	if c.Dir != "" {
		if _, err := os.Stat(c.Dir); err != nil { // the system would blame the program
			return nil, &StartError{Path: c.Path, Err: fmt.Errorf("working directory: %w", err)}
		}
	}
	cmd := exec.Command(path, c.Args...)
	cmd.Env, cmd.Dir = env, c.Dir
	if err := setAttributes(cmd); err != nil {
		return nil, &StartError{Path: c.Path, Err: err}
	}
	return cmd, nil
}
