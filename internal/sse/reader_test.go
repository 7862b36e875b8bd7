package sse

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// readAll lists what a stream holds, one line of text a find, and the error that ended it.
func readAll(t testing.TB, src io.Reader, limit int64) ([]string, error) {
	t.Helper()
	r := NewReader(src, limit)
	var found []string
	for {
		event, err := r.Next()
		var tooLarge *LimitError
		if errors.As(err, &tooLarge) {
			found = append(found, "too large")
			continue
		}
		if err != nil {
			return found, err
		}
		found = append(found, describe(event))
	}
}

func describe(e Event) string {
	text := [...]string{"message", "setting", "comment"}[e.Kind]
	if e.Kind == Message {
		text = fmt.Sprintf("%s %q", e.Name, e.Data)
	}
	if e.HasID {
		text += fmt.Sprintf(" id=%q", e.ID)
	}
	if e.HasRetry {
		text += " retry=" + e.Retry.String()
	}
	return text
}

var grammar = []struct {
	name, in string
	want     []string
	end      error
}{
	{"plain", "data: {}\n\n", []string{`message "{}"`}, io.EOF},
	{"no space", "data:{}\n\n", []string{`message "{}"`}, io.EOF},
	{"one space only is dropped", "data:  x \n\n", []string{`message " x "`}, io.EOF},
	{"name", "event: endpoint\ndata: /m\n\n", []string{`endpoint "/m"`}, io.EOF},
	{"name message", "event: message\ndata: 1\n\n", []string{`message "1"`}, io.EOF},
	{"empty name", "event:\ndata: 1\n\n", []string{`message "1"`}, io.EOF},
	{"last name counts", "event: a\nevent: b\ndata: 1\n\n", []string{`b "1"`}, io.EOF},
	{"several data lines", "data: a\ndata\ndata:\ndata: b\n\n", []string{`message "a\n\n\nb"`}, io.EOF},
	{"priming event", "id: 7\ndata: \n\n", []string{`message "" id="7"`}, io.EOF},
	{"data without colon", "data\n\n", []string{`message ""`}, io.EOF},
	{"id alone", "id: 7\n\n", []string{`setting id="7"`}, io.EOF},
	{"id emptied", "id\ndata: 1\n\n", []string{`message "1" id=""`}, io.EOF},
	{"id with NUL", "id: a\x00b\ndata: 1\n\n", []string{`message "1"`}, io.EOF},
	{"id does not last", "id: 1\ndata: a\n\ndata: b\n\n", []string{`message "a" id="1"`, `message "b"`}, io.EOF},
	{"retry", "retry: 1500\n\n", []string{`setting retry=1.5s`}, io.EOF},
	{"retry zero", "retry: 0\n\n", []string{`setting retry=0s`}, io.EOF},
	{"retry with sign", "retry: +5\n\n", nil, io.EOF},
	{"retry empty", "retry:\n\n", nil, io.EOF},
	{"retry absurd", "retry: 99999999999999999999999\n\n", []string{`setting retry=596h31m23.647s`}, io.EOF},
	{"unknown fields", "foo: bar\nfoo\ndatum: x\ndat: y\ndata: 1\nDATA: z\n\n", []string{`message "1"`}, io.EOF},
	{"name alone", "event: x\n\ndata: 1\n\n", []string{`message "1"`}, io.EOF},
	{"comments", ":\n: keep-alive\n\n", []string{"comment", "comment"}, io.EOF},
	{"comment inside", "data: a\n: hush\ndata: b\n\n", []string{"comment", `message "a\nb"`}, io.EOF},
	{"space before colon", " data: 1\n\n", nil, io.EOF},
	{"value with colon", "data: a:b\n\n", []string{`message "a:b"`}, io.EOF},
	{"blank lines", "\n\n\ndata: 1\n\n\n\n", []string{`message "1"`}, io.EOF},
	{"byte order mark", "\uFEFFdata: 1\n\n", []string{`message "1"`}, io.EOF},
	{"mark alone", "\uFEFF", nil, io.EOF},
	{"second mark is no mark", "\uFEFF\uFEFFdata: 1\n\n", nil, io.EOF},
	{"half a mark", "\xEF\xBBdata: 1\n\n", nil, io.EOF},
	{"empty", "", nil, io.EOF},
	{"cut after the line", "data: 1\n\ndata: 2\n", []string{`message "1"`}, ErrCut},
	{"cut in the line", "data: 1\n\ndata: 2", []string{`message "1"`}, ErrCut},
	{"cut in a name", "da", nil, ErrCut},
	{"comment left open", "data: 1\n\n: x", []string{`message "1"`}, io.EOF},
	{
		"answer to initialize behind other events",
		": hello\n\nid: p-0\ndata: \n\nevent: message\nid: p-1\ndata: {\"method\":\"notifications/message\",\ndata: \"n\":1}\n\n" +
			"x-unknown: 1\ndata: {\"id\":1,\"result\":{}}\nid: p-2\n\ndata: {\"cut",
		[]string{
			"comment", `message "" id="p-0"`, `message "{\"method\":\"notifications/message\",\n\"n\":1}" id="p-1"`,
			`message "{\"id\":1,\"result\":{}}" id="p-2"`,
		},
		ErrCut,
	},
}

func TestReaderGrammar(t *testing.T) {
	ends := map[string]string{"LF": "\n", "CR": "\r", "CRLF": "\r\n"}
	for _, c := range grammar {
		for endName, end := range ends {
			in := strings.ReplaceAll(c.in, "\n", end)
			feeds := map[string]io.Reader{
				"whole":      strings.NewReader(in),
				"bytes":      iotest.OneByteReader(strings.NewReader(in)),
				"with error": iotest.DataErrReader(strings.NewReader(in)),
			}
			for feedName, src := range feeds {
				t.Run(c.name+"/"+endName+"/"+feedName, func(t *testing.T) {
					got, err := readAll(t, src, 0)
					if err != c.end || fmt.Sprint(got) != fmt.Sprint(c.want) {
						t.Errorf("got %q, %v\nwant %q, %v", got, err, c.want, c.end)
					}
				})
			}
		}
	}
}

func TestReaderMixedLineEnds(t *testing.T) {
	got, err := readAll(t, strings.NewReader("data: a\r\ndata: b\rdata: c\n\r\ndata: d\r\rdata: e\n\n"), 0)
	want := []string{`message "a\nb\nc"`, `message "d"`, `message "e"`}
	if err != io.EOF || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %q, %v", got, err)
	}
}

// An event is handed over at the CR that completes it: waiting for a possible LF would hold it back for ever.
func TestReaderDoesNotWaitAfterCR(t *testing.T) {
	in, out := io.Pipe()
	defer out.Close()
	go io.WriteString(out, "data: 1\r\r")
	event, err := NewReader(in, 0).Next()
	if err != nil || string(event.Data) != "1" {
		t.Fatalf("got %q, %v", event.Data, err)
	}
}

func TestReaderLimit(t *testing.T) {
	long := strings.Repeat("x", 100)
	cases := []struct {
		name, in string
		want     []string
	}{
		{"at the limit", "data: " + long[:50] + "\n\n", []string{fmt.Sprintf("message %q", long[:50])}},
		{"one over", "data: " + long[:51] + "\n\ndata: 1\n\n", []string{"too large", `message "1"`}},
		{"over in sum", "data: " + long[:40] + "\ndata: " + long[:40] + "\n\ndata: 1\n\n", []string{"too large", `message "1"`}},
		{"empty lines count", strings.Repeat("data\n", 60) + "\ndata: 1\n\n", []string{"too large", `message "1"`}},
		{"id survives", "id: 4\ndata: " + long + "\ndata: more\nretry: 1\n\n", []string{"too large", `setting id="4" retry=1ms`}},
		{"id itself too large", "data: 1\nid: " + long + "\n\ndata: 2\n\n", []string{"too large", `message "2"`}},
		{"reported once", "data: " + long + "\nid: " + long + "\n\n", []string{"too large"}},
		{"comments are free", ":" + long + "\n" + long + ": x\ndata: 1\n\n", []string{"comment", `message "1"`}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for _, src := range []io.Reader{strings.NewReader(c.in), iotest.OneByteReader(strings.NewReader(c.in))} {
				got, err := readAll(t, src, 50)
				if err != io.EOF || fmt.Sprint(got) != fmt.Sprint(c.want) {
					t.Errorf("got %q, %v\nwant %q", got, err, c.want)
				}
			}
		})
	}
}

func TestReaderLargeEvents(t *testing.T) {
	for _, size := range []int{minBuffer, maxBuffer, 1 << 20} {
		data := strings.Repeat("y", size)
		got, err := NewReader(strings.NewReader("data: "+data+"\n\n"), -1).Next()
		if err != nil || string(got.Data) != data {
			t.Errorf("%d bytes: got %d, %v", size, len(got.Data), err)
		}
	}
}

func TestReaderPassesErrorsOn(t *testing.T) {
	broken := errors.New("connection reset")
	src := io.MultiReader(strings.NewReader("data: 1\n\ndata: 2\n"), iotest.ErrReader(broken))
	got, err := readAll(t, src, 0)
	if err != broken || len(got) != 1 {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := NewReader(silent{}, 0).Next(); err != io.ErrNoProgress {
		t.Errorf("a source that gives nothing: %v", err)
	}
}

type silent struct{}

func (silent) Read([]byte) (int, error) { return 0, nil }

func TestDataBelongsToTheCaller(t *testing.T) {
	r := NewReader(strings.NewReader("data: first\n\ndata: other\n\n"), 0)
	first, _ := r.Next()
	if _, err := r.Next(); err != nil || string(first.Data) != "first" {
		t.Errorf("the next call changed it: %q, %v", first.Data, err)
	}
}

func TestAllocations(t *testing.T) {
	stream := []byte(strings.Repeat(": hush\n\nevent: message\ndata: {\"jsonrpc\":\"2.0\"}\n\n", 1000))
	src := bytes.NewReader(stream)
	r := NewReader(src, 0)
	perEvent := testing.AllocsPerRun(500, func() {
		for range 2 { // a comment and an event
			if _, err := r.Next(); err != nil {
				t.Fatal(err)
			}
		}
	})
	if perEvent > 1 { // the data
		t.Errorf("%v allocations an event", perEvent)
	}
}

func FuzzReader(f *testing.F) {
	for _, c := range grammar {
		f.Add([]byte(c.in))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		whole, err := readAll(t, bytes.NewReader(in), 64)
		pieces, err2 := readAll(t, iotest.OneByteReader(bytes.NewReader(in)), 64)
		if fmt.Sprint(whole) != fmt.Sprint(pieces) || err != err2 {
			t.Errorf("in one piece %q, %v; byte by byte %q, %v", whole, err, pieces, err2)
		}
		if err != io.EOF && err != ErrCut {
			t.Errorf("unexpected end: %v", err)
		}
	})
}

func BenchmarkReader(b *testing.B) {
	one := AppendEvent(nil, Event{Name: "message", Data: bytes.Repeat([]byte("z"), 400)})
	r := NewReader(&endless{one: one}, 0)
	b.SetBytes(int64(len(one)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Next(); err != nil {
			b.Fatal(err)
		}
	}
}

// endless repeats one piece of stream for ever.
type endless struct {
	one []byte
	at  int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.one[e.at:])
	e.at = (e.at + n) % len(e.one)
	return n, nil
}

func ExampleReader() {
	stream := strings.NewReader(": hello\n\nretry: 2000\nid: 1\ndata: {\"jsonrpc\":\"2.0\"}\n\ndata: {\"js")
	r := NewReader(stream, 0)
	for {
		event, err := r.Next()
		if err != nil {
			fmt.Println(err)
			return
		}
		if event.Kind == Message {
			fmt.Println(event.ID, string(event.Data), event.Retry == 2*time.Second)
		}
	}
	// Output:
	// 1 {"jsonrpc":"2.0"} true
	// event stream ended inside an event
}
