package sse

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestAppendEvent(t *testing.T) {
	cases := []struct {
		name string
		in   Event
		want string
	}{
		{"data", Event{Data: []byte("{}")}, "data: {}\n\n"},
		{"name", Event{Name: "endpoint", Data: []byte("/m")}, "event: endpoint\ndata: /m\n\n"},
		{"priming", Event{ID: "a", HasID: true, Retry: time.Second, HasRetry: true}, "id: a\nretry: 1000\ndata: \n\n"},
		{"setting", Event{Kind: Setting, ID: "a", HasID: true}, "id: a\n\n"},
		{"empty id", Event{HasID: true, Data: []byte("1")}, "id: \ndata: 1\n\n"},
		{"retry below zero", Event{Kind: Setting, Retry: -time.Second, HasRetry: true}, "retry: 0\n\n"},
		{"line breaks in data", Event{Data: []byte("{\r\n\"a\":\r1}\n")}, "data: {\"a\":1}\n\n"},
		{"line breaks in fields", Event{Name: "a\ndata: x", ID: "b\r\x00c", HasID: true}, "event: adata: x\nid: bc\ndata: \n\n"},
	}
	for _, c := range cases {
		if got := string(AppendEvent([]byte("<"), c.in)); got != "<"+c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestAppendDoesNotAllocate(t *testing.T) {
	buf := make([]byte, 0, 256)
	event := Event{Name: "message", ID: "7", HasID: true, Data: []byte(`{"jsonrpc":"2.0"}`)}
	if n := testing.AllocsPerRun(100, func() { AppendComment(AppendEvent(buf, event), "keep-alive") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzRoundTrip(f *testing.F) {
	f.Add("message", "1", []byte(`{"jsonrpc":"2.0"}`), "keep-alive")
	f.Add("a\nb", "\x00", []byte("\r\n \n:data: x"), "\n\ndata: x\n\n")
	f.Fuzz(func(t *testing.T, name, id string, data []byte, comment string) {
		stream := AppendComment(nil, comment)
		stream = AppendEvent(stream, Event{Name: name, ID: id, HasID: true, Data: data})
		strip := strings.NewReplacer("\r", "", "\n", "").Replace
		stripField := strings.NewReplacer("\r", "", "\n", "", "\x00", "").Replace
		want := Event{Name: stripField(name), ID: stripField(id), HasID: true, Data: []byte(strip(string(data)))}
		if want.Name == "" {
			want.Name = DefaultName
		}
		got, err := readAll(t, bytes.NewReader(stream), -1)
		if fmt.Sprint(got) != fmt.Sprint([]string{"comment", describe(want)}) {
			t.Errorf("got %q, %v; want %q", got, err, describe(want))
		}
	})
}

func ExampleAppendEvent() {
	out := AppendComment(nil, "keep-alive")
	out = AppendEvent(out, Event{Name: "message", ID: "s-1", HasID: true, Data: []byte(`{"jsonrpc":"2.0","id":1,"result":{}}`)})
	fmt.Print(string(out))
	// Output:
	// : keep-alive
	//
	// event: message
	// id: s-1
	// data: {"jsonrpc":"2.0","id":1,"result":{}}
}
