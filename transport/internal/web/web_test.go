package web_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
	"github.com/rialto-mcp/rialto/transport/internal/web"
)

type session struct{ id string }

// TestTable walks a session through the table: place, known to its owner, out again.
func TestTable(t *testing.T) {
	full := errors.New("full")
	table := web.Table[*session]{Most: 1, Full: full}
	ada, eve := &mcp.Principal{Subject: "ada"}, &mcp.Principal{Subject: "eve"}
	s := &session{id: "one"}

	if err := table.Reserve(); err != nil {
		t.Fatal(err)
	}
	if table.Len() != 0 || table.Get(s.id) != nil {
		t.Error("a session that only has its place is known")
	}
	if err := table.Reserve(); !errors.Is(err, full) {
		t.Errorf("a second place: %v, want %v", err, full)
	}
	if !table.Publish(s.id, web.Owner(ada), s) || table.Get(s.id) != s || table.Len() != 1 {
		t.Error("a session that was published is not known")
	}
	if table.Find(s.id, ada) != s || table.Find(s.id, eve) != nil || table.Find(s.id, nil) != nil || table.Find("two", nil) != nil {
		t.Error("a session is there for its owner, and for nobody else")
	}
	if table.Remove(s.id, &session{id: s.id}) || !table.Remove(s.id, s) || table.Remove(s.id, s) {
		t.Error("a session is taken out once, and no other by its id")
	}
	if err := table.Reserve(); err != nil {
		t.Errorf("the place that was given back: %v", err)
	}
	table.GiveBack()
	if err := table.Reserve(); err != nil {
		t.Errorf("the place that nothing came of: %v", err)
	}
}

func TestTableClose(t *testing.T) {
	table := web.Table[*session]{Most: -1}
	for _, id := range []string{"one", "two"} {
		if err := table.Reserve(); err != nil {
			t.Fatal(err)
		}
		table.Publish(id, "", &session{id: id})
	}
	for range 2 {
		table.Close(func(s *session) { table.Remove(s.id, s) })
	}
	if err := table.Reserve(); !errors.Is(err, transport.ErrClosed) || table.Publish("three", "", &session{}) {
		t.Errorf("after Close: %v, want %v", err, transport.ErrClosed)
	}
	if !table.Closed() || table.Len() != 0 {
		t.Errorf("%d sessions are left", table.Len())
	}
}

func TestAnswers(t *testing.T) {
	w := httptest.NewRecorder()
	if !web.Answers(w, httptest.NewRequest("GET", "/", nil), []string{"POST", "GET"}) {
		t.Error("a method that is listed is refused")
	}
	if web.Answers(w, httptest.NewRequest("PUT", "/", nil), []string{"POST", "GET"}) {
		t.Error("a method that is not listed is answered")
	}
	if got := w.Header().Get("Allow"); w.Code != 405 || got != "POST, GET" || w.Body.String() != "this address answers POST, GET only\n" {
		t.Errorf("%d, Allow %q, %q", w.Code, got, w.Body)
	}
}

func TestPasses(t *testing.T) {
	w := httptest.NewRecorder()
	if !web.Passes(w, nil) || web.Passes(w, errors.New("not you")) {
		t.Error("what passes is a check that found nothing")
	}
	if w.Code != 403 || w.Body.String() != "not you\n" {
		t.Errorf("%d %q", w.Code, w.Body)
	}
}

// TestClient: a client that is given is copied, and has no connections that are ours to close.
func TestClient(t *testing.T) {
	given := &http.Client{Timeout: 1}
	if c, own := web.Client(given); c == given || c.Timeout != given.Timeout || own != nil {
		t.Errorf("of %+v: %+v with %v", given, c, own)
	}
	if c, own := web.Client(nil); own == nil || c.Transport != own {
		t.Errorf("of none: %+v with %v", c, own)
	}
}

func TestBare(t *testing.T) {
	refused := errors.New("refused")
	for _, err := range []error{refused, &url.Error{Op: "Get", URL: "http://h/?secret", Err: refused}} {
		if got := web.Bare(err); got != refused {
			t.Errorf("of %v: %v", err, got)
		}
	}
}
