package stdio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/rialto-mcp/rialto/transport"
)

// memSource is a source for tests of the framing alone.
type memSource struct{ io.Reader }

func (s memSource) read(_ context.Context, p []byte) (int, error) { return s.Read(p) }
func (memSource) interrupt()                                      {}
func (memSource) end()                                            {}

// lines lists all frames of a stream; refused ones read "refused".
func lines(t testing.TB, src io.Reader, limit int64) []string {
	t.Helper()
	r := newFrameReader(memSource{src}, limit)
	var found []string
	for {
		frame, err := r.next(t.Context())
		var refused *transport.FrameError
		switch {
		case errors.As(err, &refused):
			if refused.Limit != limit || len(refused.Start) == 0 || len(refused.Start) > startBytes {
				t.Errorf("error without what a log needs: %+v", refused)
			}
			found = append(found, "refused")
		case err == io.EOF:
			return found
		case err != nil:
			t.Fatal(err)
		default:
			if len(frame) != cap(frame) {
				t.Errorf("%d bytes held for a frame of %d", cap(frame), len(frame))
			}
			found = append(found, string(frame))
		}
	}
}

var framings = []struct {
	name, in string
	want     []string
}{
	{"two", "{}\n[]\n", []string{"{}", "[]"}},
	{"carriage returns", "{}\r\n[]\r\n", []string{"{}", "[]"}},
	{"no line end at the end", "{}\n[]", []string{"{}", "[]"}},
	{"carriage return at the end", "{}\r", []string{"{}"}},
	{"empty lines", "\n\r\n\n{}\n\n", []string{"{}"}},
	{"nothing", "", nil},
	{"byte order mark", "\uFEFF{}\n{}\n", []string{"{}", "{}"}},
	{"byte order mark at the limit", "\uFEFF12345678\n", []string{"12345678"}},
	{"not JSON", "hello\n", []string{"hello"}},
	{"at the limit", "12345678\n1\n", []string{"12345678", "1"}},
	{"at the limit with CR", "12345678\r\n1\n", []string{"12345678", "1"}},
	{"at the limit at the end", "12345678", []string{"12345678"}},
	{"one over", "123456789\n1\n", []string{"refused", "1"}},
	{"far over", strings.Repeat("x", 300<<10) + "\n1\n", []string{"refused", "1"}},
	{"over and no line end", "1\n" + strings.Repeat("x", 100), []string{"1", "refused"}},
	{"two over", "123456789\n123456789\n1\n", []string{"refused", "refused", "1"}},
}

// A refused line shows its beginning and its end, wherever the reads have cut it.
func TestFramingShowsBothEnds(t *testing.T) {
	for _, middle := range []int{300, 5000, 300 << 10} {
		start, end := strings.Repeat("a", startBytes), strings.Repeat("z", startBytes)
		for _, line := range []string{start + strings.Repeat("m", middle) + end + "\r\n1\n", start + strings.Repeat("m", middle) + end} {
			for _, src := range []io.Reader{strings.NewReader(line), iotest.OneByteReader(strings.NewReader(line))} {
				r := newFrameReader(memSource{src}, 300)
				_, err := r.next(t.Context())
				var refused *transport.FrameError
				if !errors.As(err, &refused) || string(refused.Start) != start || strings.Trim(string(refused.End), "z\r") != "" || len(refused.End) != startBytes {
					t.Errorf("%d: got %#v", middle, err)
				}
			}
		}
	}
}

func TestFraming(t *testing.T) {
	for _, c := range framings {
		t.Run(c.name, func(t *testing.T) {
			for _, src := range []io.Reader{strings.NewReader(c.in), iotest.OneByteReader(strings.NewReader(c.in))} {
				if got := lines(t, src, 8); fmt.Sprint(got) != fmt.Sprint(c.want) {
					t.Errorf("got %.100q, want %.100q", got, c.want)
				}
			}
		})
	}
}

func TestFramingLargeLines(t *testing.T) {
	for _, size := range []int{minBuffer - 1, minBuffer, maxBuffer - 1, maxBuffer, 65 << 10, 5 << 20} {
		line := strings.Repeat("x", size)
		got := lines(t, strings.NewReader(line+"\n1\n"), -1)
		if len(got) != 2 || got[0] != line || got[1] != "1" {
			t.Errorf("%d bytes: not as sent", size)
		}
	}
}

// An endless line must neither grow nor hold the reader: it is refused as soon as it breaks the limit.
func TestFramingEndlessLine(t *testing.T) {
	endless := io.LimitReader(zeros{}, 64<<20)
	r := newFrameReader(memSource{io.MultiReader(endless, strings.NewReader("\n1\n"))}, 0)
	var refused *transport.FrameError
	if _, err := r.next(t.Context()); !errors.As(err, &refused) || refused.Limit != defaultLimit {
		t.Fatalf("got %v", err)
	}
	if frame, err := r.next(t.Context()); err != nil || string(frame) != "1" {
		t.Fatalf("then %q, %v", frame, err)
	}
	if cap(r.long) > maxBuffer || len(r.buf) > maxBuffer {
		t.Errorf("holds on to %d and %d bytes", cap(r.long), len(r.buf))
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

func TestFramingKeepsErrors(t *testing.T) {
	broken := errors.New("input/output error")
	r := newFrameReader(memSource{io.MultiReader(strings.NewReader("1\n2"), iotest.ErrReader(broken))}, 0)
	if frame, err := r.next(t.Context()); err != nil || string(frame) != "1" {
		t.Fatalf("got %q, %v", frame, err)
	}
	for range 2 {
		if frame, err := r.next(t.Context()); err != broken {
			t.Errorf("got %q, %v", frame, err)
		}
	}
}

func FuzzFraming(f *testing.F) {
	for _, c := range framings {
		f.Add([]byte(c.in))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		got := lines(t, bytes.NewReader(in), 8)
		if slow := lines(t, iotest.OneByteReader(bytes.NewReader(in)), 8); fmt.Sprint(got) != fmt.Sprint(slow) {
			t.Errorf("whole %q, byte by byte %q", got, slow)
		}
		for _, frame := range got {
			if frame == "" || strings.Contains(frame, "\n") || len(frame) > 8 {
				t.Errorf("bad frame %q", frame)
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	line := append(bytes.Repeat([]byte("z"), 439), '\n')
	r := newFrameReader(memSource{&repeat{one: line}}, 0)
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.next(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// repeat gives one piece over and over.
type repeat struct {
	one []byte
	at  int
}

func (r *repeat) Read(p []byte) (int, error) {
	n := copy(p, r.one[r.at:])
	r.at = (r.at + n) % len(r.one)
	return n, nil
}
