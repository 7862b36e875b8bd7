package child

import "testing"

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
