package stdio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// helperVar makes the test binary play a child process.
const helperVar = "STDIO_TEST_HELPER"

func TestMain(m *testing.M) {
	name := os.Getenv(helperVar)
	if name == "" {
		os.Exit(m.Run())
	}
	run, ok := helpers[name]
	if !ok {
		fmt.Fprintln(os.Stderr, "unknown helper", name)
		os.Exit(99)
	}
	run()
}

var helpers = map[string]func(){
	"echo":     func() { echo() },
	"env":      func() { fmt.Println(strings.Join(os.Environ(), " ")); echo() },
	"stubborn": stubborn,
	"deaf":     func() { fmt.Println("ready"); fmt.Println("still talking"); time.Sleep(time.Hour) },
	"flood":    flood,
	"leave":    leave,
	"last":     func() { fmt.Println("1"); fmt.Println("2"); fmt.Print("3"); os.Exit(4) },
	"stray":    stray,
	"guarded":  guarded,
	"waiting":  waiting,
	"chatty":   chatty,
}

// echo is a server over the real standard streams.
func echo() {
	c := Open(os.Stdin, os.Stdout, Options{})
	defer c.Close()
	for {
		frame, err := c.Read(context.Background())
		if err != nil {
			return
		}
		if err := c.Write(context.Background(), frame); err != nil {
			return
		}
	}
}

// stubborn neither ends with its input nor on request.
func stubborn() {
	signal.Ignore(syscall.SIGTERM)
	fmt.Println("ready")
	time.Sleep(time.Hour)
}

// flood writes 10 MiB to standard error before its answer.
func flood() {
	line := strings.Repeat("e", 1023) + "\n"
	for range 10 << 10 {
		io.WriteString(os.Stderr, line)
	}
	fmt.Fprintln(os.Stderr, "the end")
	echo()
}

// leave starts a grandchild that inherits everything, names it, and exits; with "detached" it leaves the group too.
func leave() {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperVar+"=stubborn")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if len(os.Args) > 1 && os.Args[1] == "detached" {
		detach(cmd)
	}
	if err := cmd.Start(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("grandchild " + strconv.Itoa(cmd.Process.Pid))
	if len(os.Args) > 2 {
		time.Sleep(time.Hour)
	}
}

// stray prints to standard output while a server runs, without and with a guard.
func stray() {
	fmt.Println("stray")
	echo()
}

func guarded() {
	out, restore, err := GuardStdout()
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("stray")
	c := Open(os.Stdin, out, Options{})
	err = c.Write(context.Background(), []byte("frame"))
	if err := errors.Join(err, c.Close(), restore(), restore()); err != nil {
		fmt.Println(err)
	}
	fmt.Println("restored")
}

// waiting closes its connection while a Read waits on the real standard input, and says how that went.
func waiting() {
	c := Open(os.Stdin, os.Stdout, Options{})
	result := make(chan error)
	go func() {
		_, err := c.Read(context.Background())
		result <- err
	}()
	time.Sleep(20 * time.Millisecond) // the Read should be in the system call; the outcome is the same if it is not
	c.Close()
	fmt.Println(<-result)
}

// chatty has a lot to say once its input has ended, and exits well only when somebody takes it.
func chatty() {
	fmt.Println("ready")
	io.Copy(io.Discard, os.Stdin)
	if _, err := io.WriteString(os.Stdout, strings.Repeat("x", 1<<20)+"\n"); err != nil {
		os.Exit(1)
	}
}
