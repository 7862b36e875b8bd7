package load

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/rialto-mcp/rialto/bench/internal/wire"
)

// Stdio is a load over the standard input and output of one server. It belongs to one goroutine.
type Stdio struct {
	In       io.Writer
	Out      *bufio.Reader // its buffer bounds the length of an answer
	InFlight int           // requests kept unanswered; 1 is one at a time

	request *wire.Request
	waiting int
}

// NewStdio prepares echo calls of one era. For the legacy era it does the handshake first.
func NewStdio(in io.Writer, out *bufio.Reader, modern bool, inFlight int) (*Stdio, error) {
	s := &Stdio{In: in, Out: out, InFlight: inFlight, request: wire.Line(wire.Call, modern, 0)}
	if modern {
		return s, nil
	}
	if _, err := io.WriteString(in, wire.InitializeMessage+"\n"); err != nil {
		return nil, err
	}
	if _, err := out.ReadSlice('\n'); err != nil {
		return nil, fmt.Errorf("read the answer to initialize: %w", err)
	}
	_, err := io.WriteString(in, wire.InitializedMessage+"\n")
	return s, err
}

// Run keeps the requests in flight for the given time, then waits for the last answers, and returns the answers a
// second. Ending ctx does not unblock it: stop the server for that.
func (s *Stdio) Run(ctx context.Context, duration time.Duration) (float64, error) {
	start := time.Now()
	deadline := start.Add(duration)
	count := 0
	for {
		if count == 0 || (time.Now().Before(deadline) && ctx.Err() == nil) {
			if err := s.fill(); err != nil {
				return 0, err
			}
		}
		if s.waiting == 0 {
			break
		}
		n, err := s.drain(count)
		if err != nil {
			return 0, err
		}
		count += n
	}
	return float64(count) / time.Since(start).Seconds(), ctx.Err()
}

// fill sends as many requests as answers have come, each in a write of its own, as a client with many callers does.
func (s *Stdio) fill() error {
	for ; s.waiting < s.InFlight; s.waiting++ {
		if _, err := s.In.Write(s.request.Next()); err != nil {
			return err
		}
	}
	return nil
}

// notice marks a notification. No answer to a call of the bench holds it.
var notice = []byte(`"method":"notifications/`)

// drain reads one answer, and those that have arrived with it.
func (s *Stdio) drain(seen int) (int, error) {
	n := 0
	for n == 0 || (s.waiting > 0 && s.lineBuffered()) {
		line, err := s.Out.ReadSlice('\n')
		if errors.Is(err, io.EOF) {
			return n, errors.New("the server has closed its output")
		}
		if err != nil {
			return n, err
		}
		if bytes.Contains(line, notice) {
			continue // a server may speak unasked; it is no answer
		}
		if (seen+n)%sample == 0 {
			if err := s.request.Check(line); err != nil {
				return n, err
			}
		}
		s.waiting--
		n++
	}
	return n, nil
}

func (s *Stdio) lineBuffered() bool {
	held := s.Out.Buffered()
	if held == 0 {
		return false
	}
	peeked, err := s.Out.Peek(held)
	return err == nil && peeked[held-1] == '\n'
}
