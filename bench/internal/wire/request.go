// Package wire holds the bytes of the bench's requests, prepared once so that sending them costs next to nothing, and
// the reader of the answers.
package wire

import (
	"fmt"
	"strings"
)

// The revisions that the two eras are measured in.
const (
	Modern = "2026-07-28"
	Legacy = "2025-11-25"
)

// Request is one prepared request whose id counts up in place. It belongs to one goroutine.
type Request struct {
	bytes []byte
	id    []byte // the digits of the id inside bytes
	want  string // what an answer must hold
}

// Next gives the request the next id and returns its bytes, valid until the next call.
func (r *Request) Next() []byte {
	for i := len(r.id) - 1; i >= 0; i-- {
		if r.id[i]++; r.id[i] <= '9' {
			break
		}
		r.id[i] = '0'
	}
	return r.bytes
}

// Check judges the body of an answer: it must hold the text that was sent (or the name of a tool for a list), and no
// error.
func (r *Request) Check(body []byte) error {
	text := string(body)
	if !strings.Contains(text, r.want) || strings.Contains(text, `"error":`) || strings.Contains(text, `"isError":true`) {
		return fmt.Errorf("the answer does not hold %s: %.300s", r.want, text)
	}
	return nil
}

const firstID = "1000000000" // ten digits: no run is long enough for an eleventh

// Kind is a method as the bench calls it.
type Kind int

// The kinds of request.
const (
	Call   Kind = iota // tools/call of the echo tool
	List               // tools/list
	Listen             // subscriptions/listen, modern only
)

// Message returns the JSON text of a request of the given kind and era, on one line. The sender number makes the texts
// of concurrent senders differ.
func Message(kind Kind, modern bool, sender int) string {
	members := ""
	switch kind {
	case Call:
		members = fmt.Sprintf(`"name":"echo","arguments":{"text":%q}`, echoText(sender))
	case Listen:
		members = `"notifications":{"toolsListChanged":true}`
	}
	if modern {
		if members != "" {
			members += ","
		}
		members += `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + Modern + `",` +
			`"io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1.0.0"},"io.modelcontextprotocol/clientCapabilities":{}}`
	}
	return `{"jsonrpc":"2.0","id":` + firstID + `,"method":"` + method(kind) + `","params":{` + members + `}}`
}

func echoText(sender int) string {
	return fmt.Sprintf("hello number %04d from a client that wants this back", sender)
}

func method(kind Kind) string {
	return [...]string{"tools/call", "tools/list", "subscriptions/listen"}[kind]
}

func want(kind Kind, sender int) string {
	return [...]string{echoText(sender), "echo_50", "subscriptions/acknowledged"}[kind]
}

// Line prepares a request for standard input.
func Line(kind Kind, modern bool, sender int) *Request {
	return prepare(Message(kind, modern, sender)+"\n", want(kind, sender))
}

// Post prepares a whole HTTP/1.1 request to host. Session is the legacy session id, or empty.
func Post(host string, kind Kind, modern bool, sender int, session string) *Request {
	return prepare(post(host, Message(kind, modern, sender), Headers(kind, modern, session)), want(kind, sender))
}

// Headers lists the headers of a POST that depend on kind, era and session, in pairs of name and value.
func Headers(kind Kind, modern bool, session string) [][2]string {
	headers := [][2]string{
		{"Content-Type", "application/json"},
		{"Accept", "application/json, text/event-stream"},
		{"MCP-Protocol-Version", Legacy},
	}
	if modern {
		headers[2][1] = Modern
		headers = append(headers, [2]string{"Mcp-Method", method(kind)})
		if kind == Call {
			headers = append(headers, [2]string{"Mcp-Name", "echo"})
		}
	}
	if session != "" {
		headers = append(headers, [2]string{SessionHeader, session})
	}
	return headers
}

// SessionHeader carries the id of a legacy session.
const SessionHeader = "Mcp-Session-Id"

func post(host, body string, headers [][2]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "POST /mcp HTTP/1.1\r\nHost: %s\r\n", host)
	for _, h := range headers {
		fmt.Fprintf(&b, "%s: %s\r\n", h[0], h[1])
	}
	fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n%s", len(body), body)
	return b.String()
}

// Get returns the HTTP/1.1 request that opens the event stream of a legacy session.
func Get(host, session string) string {
	return fmt.Sprintf("GET /mcp HTTP/1.1\r\nHost: %s\r\nAccept: text/event-stream\r\nMCP-Protocol-Version: %s\r\n%s: %s\r\n\r\n",
		host, Legacy, SessionHeader, session)
}

// The legacy handshake: InitializeMessage is answered, InitializedMessage is not.
const (
	InitializeMessage = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + Legacy +
		`","capabilities":{},"clientInfo":{"name":"bench","version":"1.0.0"}}}`
	InitializedMessage = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

// PostMessage returns a whole HTTP/1.1 request with any legacy message, for the handshake.
func PostMessage(host, message, session string) string {
	headers := Headers(Call, false, session)
	if message == InitializeMessage {
		headers = headers[:2]
	}
	return post(host, message, headers)
}

func prepare(text, want string) *Request {
	bytes := []byte(text)
	at := strings.Index(text, firstID)
	return &Request{bytes: bytes, id: bytes[at : at+len(firstID)], want: want}
}
