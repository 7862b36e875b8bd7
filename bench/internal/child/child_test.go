package child

import (
	"context"
	"os/exec"
	"testing"
	"time"
)

func TestParseRSS(t *testing.T) {
	cases := []struct {
		name, in string
		want     int64
		ok       bool
	}{
		{"among others", "Name:\tbare\nVmRSS:\t    1234 kB\nThreads:\t5\n", 1234 << 10, true},
		{"absent", "Name:\tbare\n", 0, false},
		{"no number", "VmRSS:\tmuch kB\n", 0, false},
	}
	for _, c := range cases {
		if got, err := parseRSS(c.in); got != c.want || (err == nil) != c.ok {
			t.Errorf("%s: %d, %v", c.name, got, err)
		}
	}
}

func TestTailFindsAddressAcrossWrites(t *testing.T) {
	out := newTail()
	for _, part := range []string{"a warning\nlisten", "ing on 127.0.0.1:80", "80\n", "more\n"} {
		if _, err := out.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	if got := <-out.addr; got != "127.0.0.1:8080" {
		t.Errorf("address %q", got)
	}
}

func TestGuardUnblocksAReader(t *testing.T) {
	program, err := exec.LookPath("cat") // answers nothing until it is asked
	if err != nil {
		t.Skip("no cat on this system: ", err)
	}
	p, err := StartStdio(program)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Stop()
	ctx, cancel := context.WithCancel(t.Context())
	defer p.Guard(ctx, time.Hour)()
	cancel()
	if line, err := p.Out.ReadString('\n'); err == nil {
		t.Errorf("read %q", line)
	}
}

func TestAProgramThatCannotListenIsReported(t *testing.T) {
	program, err := exec.LookPath("false")
	if err != nil {
		t.Skip("no false on this system: ", err)
	}
	if p, err := StartHTTP(program, false); err == nil {
		t.Errorf("it listens on %s", p.Addr)
	}
}
