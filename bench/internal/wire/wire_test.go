package wire_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/bench/internal/wire"
)

func TestPostIsHTTPAndCounts(t *testing.T) {
	request := wire.Post("127.0.0.1:1", wire.Call, true, 3, "")
	for _, want := range []string{"1000000001", "1000000002"} {
		parsed, err := http.ReadRequest(bufio.NewReader(strings.NewReader(string(request.Next()))))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(parsed.Body)
		if err != nil {
			t.Fatal(err)
		}
		var message struct{ ID json.Number }
		if err := json.Unmarshal(body, &message); err != nil {
			t.Fatal(err)
		}
		if message.ID.String() != want || parsed.Header.Get("Mcp-Name") != "echo" {
			t.Errorf("id %s, Mcp-Name %q; want %s, echo", message.ID, parsed.Header.Get("Mcp-Name"), want)
		}
	}
}

func TestNextCarries(t *testing.T) {
	request := wire.Line(wire.List, false, 0)
	var line []byte
	for range 110 {
		line = request.Next()
	}
	if !strings.Contains(string(line), `"id":1000000110,`) {
		t.Errorf("after 110 requests: %s", line)
	}
}

func TestMessagesAreOneLineOfJSON(t *testing.T) {
	for _, kind := range []wire.Kind{wire.Call, wire.List, wire.Listen} {
		for _, modern := range []bool{true, false} {
			message := wire.Message(kind, modern, 1)
			if !json.Valid([]byte(message)) || strings.Contains(message, "\n") {
				t.Errorf("kind %d, modern %t: %s", kind, modern, message)
			}
		}
	}
}

func TestCheck(t *testing.T) {
	request := wire.Line(wire.Call, true, 7)
	const text = "hello number 0007 from a client that wants this back"
	cases := []struct {
		name, body string
		ok         bool
	}{
		{"echo", `{"result":{"content":[{"type":"text","text":"` + text + `"}]}}`, true},
		{"another client's", `{"result":{"content":[{"type":"text","text":"hello number 0008"}]}}`, false},
		{"error", `{"error":{"message":"` + text + `"}}`, false},
		{"tool error", `{"result":{"isError":true,"content":[{"text":"` + text + `"}]}}`, false},
	}
	for _, c := range cases {
		if err := request.Check([]byte(c.body)); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestAnswerRead(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\n"
	cases := []struct {
		name, in, body string
		ok             bool
	}{
		{"length", head + "content-length: 3\r\n\r\nabc", "abc", true},
		{"empty", "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n", "", true},
		{"chunks", head + "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n", "abc", true},
		{"bare line feeds", head + "Content-Length: 1\n\na", "a", true},
		{"neither length nor chunks", head + "\r\nabc", "", false},
		{"short body", head + "Content-Length: 4\r\n\r\nabc", "", false},
		{"negative length", head + "Content-Length: -1\r\n\r\n", "", false},
		{"huge length", head + "Content-Length: 99999999999\r\n\r\n", "", false},
		{"huge chunk", head + "Transfer-Encoding: chunked\r\n\r\nfffffff\r\n", "", false},
		{"chunk without end", head + "Transfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n", "", false},
		{"header without colon", head + "nonsense\r\n\r\n", "", false},
		{"not HTTP", "SSH-2.0-something\r\n\r\n", "", false},
		{"cut", "HTTP/1.1 200", "", false},
	}
	for _, c := range cases {
		var answer wire.Answer
		err := answer.Read(bufio.NewReader(strings.NewReader(c.in)))
		if (err == nil) != c.ok || (c.ok && string(answer.Body) != c.body) {
			t.Errorf("%s: body %q, error %v", c.name, answer.Body, err)
		}
	}
}

func TestAnswerReuse(t *testing.T) {
	const two = "HTTP/1.1 200 OK\r\nMcp-Session-Id: abc\r\nContent-Length: 5\r\n\r\nfirst" +
		"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno"
	r := bufio.NewReader(strings.NewReader(two))
	var answer wire.Answer
	if err := answer.Read(r); err != nil || answer.Session != "abc" || string(answer.Body) != "first" {
		t.Fatalf("first: %+v, %v", answer, err)
	}
	if err := answer.Read(r); err != nil || answer.Status != 404 || answer.Session != "" || string(answer.Body) != "no" {
		t.Fatalf("second: %+v, %v", answer, err)
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n")
	f.Add("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na")
	f.Fuzz(func(t *testing.T, in string) {
		var answer wire.Answer
		if err := answer.Read(bufio.NewReader(strings.NewReader(in))); err == nil && len(answer.Body) > len(in) {
			t.Errorf("a body of %d bytes out of %d", len(answer.Body), len(in))
		}
	})
}
