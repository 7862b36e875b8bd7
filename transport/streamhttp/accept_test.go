package streamhttp

import (
	"strings"
	"testing"
)

func TestReadAccept(t *testing.T) {
	cases := []struct {
		fields []string
		want   form
	}{
		{nil, either},
		{[]string{"*/*"}, either},
		{[]string{"application/json"}, jsonBody},
		{[]string{"text/event-stream"}, eventsBody},
		{[]string{"application/json, text/event-stream"}, either},
		{[]string{"application/*, text/event-stream;q=0.5"}, either},
		{[]string{"TEXT/EVENT-STREAM, application/json"}, either},
		{[]string{"application/json", "text/event-stream"}, either},
		{[]string{"application/json;q=0, */*"}, eventsBody},
		{[]string{"*/*, text/event-stream; q=0.0"}, jsonBody},
		{[]string{"text/*;q=0.1"}, eventsBody},
		{[]string{"*/*;q=0"}, neither},
		{[]string{"image/png"}, neither},
		{[]string{""}, either},
		{[]string{" , ;q=0"}, either},
		{[]string{"application/json;q=NaN"}, jsonBody},
		{[]string{"application/json;q=-1"}, neither},
		{[]string{"application/json;charset=utf-8 ; q=1"}, jsonBody},
		{[]string{"application/json;q=high"}, jsonBody},
		{[]string{"application/jsonp, text/event-streams"}, neither},
	}
	for _, c := range cases {
		if got := accepted(c.fields); got != c.want {
			t.Errorf("%q: got %d, want %d", c.fields, got, c.want)
		}
	}
}

func TestEssence(t *testing.T) {
	cases := map[string]string{
		"application/json": typeJSON, "application/json;charset=utf-8": typeJSON, " Application/Json ; x=y": typeJSON,
		"application/json, application/json": "application/json, application/json", "": "",
	}
	for in, want := range cases {
		if got := essence([]string{in}); got != want {
			t.Errorf("%q: got %q", in, got)
		}
	}
	if essence(nil) != "" || essence([]string{typeJSON, typeJSON}) != "" {
		t.Error("no header and two headers have no type")
	}
}

// TestForms: what is answered to each Accept header, with and without something before the answer.
func TestForms(t *testing.T) {
	w := newWorld(t, Options{})
	session := w.open(t)
	listen, listenHeaders := modern("subscriptions/listen", "", `,"notifications":{}`)
	cases := []struct {
		accept, tool string
		status       int
		media        string
		has          []string
	}{
		{"*/*", "echo", 200, typeJSON, []string{"hello"}},
		{"*/*", "progress", 200, typeEvents, []string{"notifications/progress", "sent: <nil>"}},
		{"", "echo", 200, typeJSON, []string{"hello"}},
		{"application/json", "progress", 200, typeJSON, []string{"no stream"}},
		{"application/json", "ask", 200, typeJSON, []string{"no stream"}},
		{"text/event-stream", "echo", 200, typeEvents, []string{"event: message\nid: ", "\ndata: {", "hello"}},
		{"text/event-stream", "progress", 200, typeEvents, []string{"sent: <nil>"}},
		{"text/event-stream", "unknown", 200, typeEvents, []string{"-32602"}},
		{"image/png", "echo", 406, "text/plain; charset=utf-8", nil},
	}
	for _, c := range cases {
		a := w.ask(t, "POST", legacyCall(c.tool), session, [2]string{"Accept", c.accept})
		if a.status != c.status || a.header.Get("Content-Type") != c.media {
			t.Errorf("%q, %s: got %d %q", c.accept, c.tool, a.status, a.header)
		}
		for _, part := range c.has {
			if !strings.Contains(a.body, part) {
				t.Errorf("%q, %s: %q is not in %s", c.accept, c.tool, part, a.body)
			}
		}
	}
	if a := w.ask(t, "POST", listen, append(listenHeaders, [2]string{"Accept", "application/json"})...); a.status != 406 {
		t.Errorf("a listen for JSON alone: %d %s", a.status, a.body)
	}
	body, headers := modern("tools/none", "", "")
	if a := w.ask(t, "POST", body, append(headers, [2]string{"Accept", "text/event-stream"})...); a.status != 404 || a.code() != -32601 {
		t.Errorf("a refusal keeps its status: %d %s", a.status, a.body)
	}
}

func TestJSONOnly(t *testing.T) {
	w := newWorld(t, Options{JSONOnly: true})
	session := w.open(t)
	if a := w.ask(t, "POST", legacyCall("progress"), session); a.header.Get("Content-Type") != typeJSON || !strings.Contains(a.body, "no stream") {
		t.Errorf("got %q %s", a.header, a.body)
	}
	if a := w.ask(t, "GET", "", session); a.status != 405 || a.header.Get("Allow") != "POST, DELETE" {
		t.Errorf("GET: %d %q", a.status, a.header)
	}
	if a := w.ask(t, "POST", legacyCall("echo"), session, [2]string{"Accept", "text/event-stream"}); a.status != 406 {
		t.Errorf("events alone: %d", a.status)
	}
}
