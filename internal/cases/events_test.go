package cases

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// event is one event of a stream, and what came before it.
type event struct {
	id, name, data, retry string
	comments              int // that stood before it
}

// events is an event stream that a test reads, by a reader of its own.
type events struct {
	*wire
	resp *http.Response
	body *bufio.Reader
}

// stream sends a request on a connection of its own and reads the head of an event stream.
func (w *world) stream(t testing.TB, a ask) *events {
	t.Helper()
	c := w.dial(t)
	c.write(t, w.text(a))
	resp := c.head(t)
	if kind := resp.Header.Get("Content-Type"); resp.StatusCode != 200 || kind != "text/event-stream" {
		body, _ := io.ReadAll(resp.Body)
		t.Fatalf("want an event stream, got %d %s %s", resp.StatusCode, kind, body)
	}
	return &events{c, resp, bufio.NewReader(resp.Body)}
}

// get opens the stream of a session.
func (w *world) get(t testing.TB, session string, head ...string) *events {
	t.Helper()
	return w.stream(t, ask{method: "GET", head: append(head, sessionHeader+": "+session)})
}

// read returns the next event, empty ones included, or the error that ended the stream.
func (s *events) read() (event, error) {
	s.conn.SetDeadline(time.Now().Add(patience))
	var e event
	fields := false
	for {
		line, err := s.body.ReadString('\n')
		if err != nil {
			return e, err
		}
		line = strings.TrimRight(line, "\r\n")
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "" && fields:
			return e, nil
		case line == "":
			continue
		case name == "":
			e.comments++
			continue
		case name == "id":
			e.id = value
		case name == "event":
			e.name = value
		case name == "data":
			e.data += value
		case name == "retry":
			e.retry = value
		}
		fields = true
	}
}

// next returns the next event that has data.
func (s *events) next(t testing.TB) event {
	t.Helper()
	for {
		e, err := s.read()
		if err != nil {
			t.Fatalf("the stream ended before the next event: %v", err)
		}
		if e.data != "" {
			return e
		}
	}
}

// wants reads the next event and checks that a part stands in it.
func (s *events) wants(t testing.TB, part string) event {
	t.Helper()
	e := s.next(t)
	if !strings.Contains(e.data, part) {
		t.Fatalf("want an event with %q, got %s", part, e.data)
	}
	return e
}

// over waits for the end of the stream and returns the events with data that came before it. A stream that does not end is
// a failure of the test; how it ends is not looked at.
func (s *events) over(t testing.TB) (rest []event) {
	t.Helper()
	for {
		e, err := s.read()
		var slow interface{ Timeout() bool }
		switch {
		case errors.As(err, &slow) && slow.Timeout():
			t.Fatal("the stream goes on")
		case err != nil:
			return rest
		case e.data != "":
			rest = append(rest, e)
		}
	}
}
