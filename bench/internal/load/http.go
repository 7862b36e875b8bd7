// Package load drives a server for a while and counts what it answers. Its senders cost little, since they share the
// machine with the server.
package load

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/rialto-mcp/rialto/bench/internal/wire"
)

// sample says which answers are looked into: every 64th of a sender, the first among them.
const sample = 64

// HTTP is one load over HTTP: what is asked, and of whom.
type HTTP struct {
	Addr     string
	Kind     wire.Kind
	Modern   bool
	Sessions []string // legacy sessions, one a connection; nil without sessions
	Conns    int      // keep-alive connections, each with one request at a time
}

// Run sends for the given time, one request a connection at the least, and returns the answers a second. Each status is checked, and a sample of the bodies.
func (h HTTP) Run(ctx context.Context, duration time.Duration) (float64, error) {
	senders, err := h.dial(ctx)
	defer func() {
		for _, s := range senders {
			s.conn.Close()
		}
	}()
	if err != nil {
		return 0, err
	}
	defer context.AfterFunc(ctx, func() {
		for _, s := range senders {
			s.conn.Close() // unblocks the sender
		}
	})()
	start := time.Now()
	deadline := start.Add(duration)
	group, _ := errgroup.WithContext(ctx)
	for _, s := range senders {
		group.Go(func() error { return s.until(deadline) })
	}
	if err := group.Wait(); err != nil {
		return 0, err
	}
	total := 0
	for _, s := range senders {
		total += s.count
	}
	return float64(total) / time.Since(start).Seconds(), ctx.Err()
}

func (h HTTP) dial(ctx context.Context) ([]*sender, error) {
	var senders []*sender
	for i := range h.Conns {
		session := ""
		if h.Sessions != nil {
			session = h.Sessions[i]
		}
		s, err := newSender(ctx, h.Addr)
		if err != nil {
			return senders, err
		}
		s.request = wire.Post(h.Addr, h.Kind, h.Modern, i, session)
		senders = append(senders, s)
	}
	return senders, nil
}

// sender is one connection with its one request.
type sender struct {
	conn    net.Conn
	reader  *bufio.Reader
	request *wire.Request
	answer  wire.Answer
	count   int
}

func newSender(ctx context.Context, addr string) (*sender, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return &sender{conn: conn, reader: bufio.NewReaderSize(conn, 16<<10)}, nil
}

// Grace is how long an answer may take beyond the end of a round before the round fails.
const Grace = 30 * time.Second

func (s *sender) until(deadline time.Time) error {
	if err := s.conn.SetDeadline(deadline.Add(Grace)); err != nil {
		return err
	}
	for s.count == 0 || time.Now().Before(deadline) {
		if err := s.exchange(s.request.Next()); err != nil {
			return err
		}
		if s.count%sample == 0 {
			if err := s.request.Check(s.answer.Body); err != nil {
				return err
			}
		}
		s.count++
	}
	return nil
}

func (s *sender) exchange(request []byte) error {
	if _, err := s.conn.Write(request); err != nil {
		return err
	}
	if err := s.answer.Read(s.reader); err != nil {
		return err
	}
	if s.answer.Status != 200 && s.answer.Status != 202 {
		return fmt.Errorf("status %d: %.300s", s.answer.Status, s.answer.Body)
	}
	return nil
}

// OpenSessions makes n legacy sessions and returns their ids.
func OpenSessions(ctx context.Context, addr string, n int) ([]string, error) {
	s, err := newSender(ctx, addr)
	if err != nil {
		return nil, err
	}
	defer s.conn.Close()
	if err := s.conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		return nil, err
	}
	var ids []string
	for range n {
		if err := s.exchange([]byte(wire.PostMessage(addr, wire.InitializeMessage, ""))); err != nil {
			return nil, fmt.Errorf("open a session: %w", err)
		}
		id := s.answer.Session
		if id == "" {
			return nil, errors.New("open a session: the answer names none")
		}
		ids = append(ids, id)
		if err := s.exchange([]byte(wire.PostMessage(addr, wire.InitializedMessage, id))); err != nil {
			return nil, fmt.Errorf("confirm a session: %w", err)
		}
	}
	return ids, nil
}
