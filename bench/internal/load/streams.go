package load

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/rialto-mcp/rialto/bench/internal/wire"
)

// Streams are open event streams, each on a connection of its own.
type Streams struct{ senders []*sender }

// OpenListens opens n modern subscriptions and returns when each has been acknowledged.
func OpenListens(ctx context.Context, addr string, n int) (*Streams, error) {
	return open(ctx, addr, n, func(i int) string {
		return string(wire.Post(addr, wire.Listen, true, i, "").Next())
	})
}

// OpenGets opens the GET stream of each legacy session and returns when each has got its response head.
func OpenGets(ctx context.Context, addr string, sessions []string) (*Streams, error) {
	return open(ctx, addr, len(sessions), func(i int) string { return wire.Get(addr, sessions[i]) })
}

func open(ctx context.Context, addr string, n int, request func(i int) string) (*Streams, error) {
	streams := &Streams{}
	for i := range n {
		if err := ctx.Err(); err != nil {
			streams.Close()
			return nil, err
		}
		s, err := newSender(ctx, addr)
		if err != nil {
			streams.Close()
			return nil, err
		}
		streams.senders = append(streams.senders, s)
		if err := s.openStream(request(i)); err != nil {
			streams.Close()
			return nil, fmt.Errorf("open stream %d: %w", i, err)
		}
	}
	return streams, nil
}

func (s *sender) openStream(request string) error {
	if err := s.conn.SetDeadline(time.Now().Add(Grace)); err != nil {
		return err
	}
	if _, err := s.conn.Write([]byte(request)); err != nil {
		return err
	}
	if err := s.answer.ReadHead(s.reader); err != nil {
		return err
	}
	if s.answer.Status != 200 {
		return fmt.Errorf("status %d", s.answer.Status)
	}
	return nil
}

// Hear waits until each stream has brought a notification of the given method, and returns how many have. It fails with
// the first that has not, though it hears them all.
func (s *Streams) Hear(ctx context.Context, method string) (heard int, err error) {
	mark := []byte(`"method":"` + method + `"`)
	limit := time.Now().Add(Grace)
	for i, sender := range s.senders {
		if ctx.Err() != nil {
			return heard, ctx.Err()
		}
		failure := sender.hear(mark, limit)
		switch {
		case failure == nil:
			heard++
		case err == nil:
			err = fmt.Errorf("stream %d: %w", i, failure)
		}
	}
	return heard, err
}

func (s *sender) hear(mark []byte, limit time.Time) error {
	if err := s.conn.SetReadDeadline(limit); err != nil {
		return err
	}
	for {
		line, err := s.reader.ReadSlice('\n')
		if err != nil {
			return err
		}
		if bytes.Contains(line, mark) {
			return nil
		}
	}
}

// Close ends all streams.
func (s *Streams) Close() {
	for _, sender := range s.senders {
		sender.conn.Close() // nothing is left to lose on it
	}
}
