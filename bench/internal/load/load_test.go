package load

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestHTTPRefusesWrongAnswers(t *testing.T) {
	cases := []struct {
		name   string
		status int
		body   string
	}{
		{"a status of failure", 503, "busy"},
		{"the text of another", 200, `{"result":{"content":[{"type":"text","text":"something else"}]}}`},
		{"an error", 200, `{"error":{"code":-32603,"message":"no"}}`},
	}
	for _, c := range cases {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			w.WriteHeader(c.status)
			fmt.Fprint(w, c.body)
		}))
		rate, err := HTTP{Addr: server.Listener.Addr().String(), Modern: true, Conns: 2}.Run(t.Context(), time.Millisecond)
		if err == nil {
			t.Errorf("%s: counted %v a second", c.name, rate)
		}
		server.Close()
	}
}

func TestStdioRefusesWrongAnswersAndAnEnd(t *testing.T) {
	cases := []struct{ name, out string }{
		{"wrong text", `{"result":{}}` + "\n"},
		{"closed", ""},
		{"a cut line", `{"result"`},
	}
	for _, c := range cases {
		s, err := NewStdio(io.Discard, bufio.NewReader(strings.NewReader(c.out)), true, 1)
		if err != nil {
			t.Fatal(err)
		}
		if rate, err := s.Run(t.Context(), time.Millisecond); err == nil {
			t.Errorf("%s: counted %v a second", c.name, rate)
		}
	}
}

// parrot answers every call with the same text.
type parrot struct{ text string }

func (p parrot) Echo(context.Context, string) (string, error) { return p.text, nil }
func (p parrot) Close() error                                 { return nil }

func TestClientRefusesWrongAnswers(t *testing.T) {
	if _, err := Client(t.Context(), parrot{"caller 7"}, 2, time.Millisecond); err == nil {
		t.Error("an answer to somebody else was counted")
	}
	if rate, err := Client(t.Context(), parrot{"caller 0"}, 1, time.Millisecond); err != nil || rate <= 0 {
		t.Errorf("rate %v, error %v", rate, err)
	}
}

func TestOpenSessionsWantsAnID(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		fmt.Fprint(w, "{}")
	}))
	defer server.Close()
	if ids, err := OpenSessions(t.Context(), server.Listener.Addr().String(), 1); err == nil {
		t.Errorf("sessions %v", ids)
	}
}

func TestStdioPassesOverNotifications(t *testing.T) {
	const answers = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` + "\n" +
		`{"result":{"content":[{"text":"hello number 0000 from a client that wants this back"}]}}` + "\n"
	s, err := NewStdio(io.Discard, bufio.NewReader(strings.NewReader(answers)), true, 1)
	if err != nil {
		t.Fatal(err)
	}
	if rate, err := s.Run(t.Context(), 0); err != nil || rate <= 0 {
		t.Errorf("rate %v, error %v", rate, err)
	}
}
