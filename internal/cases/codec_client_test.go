package cases

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
)

// oldServer is a legacy server that a test plays: it opens a session and leaves the rest to the test.
type oldServer struct {
	url     string
	mu      sync.Mutex
	answers []string      // that the client has posted
	posted  chan struct{} // gets one for each
}

// playServer answers every request but the handshake with what answer writes.
func playServer(t *testing.T, answer func(s *oldServer, w http.ResponseWriter, id, method string)) *oldServer {
	t.Helper()
	s := &oldServer{posted: make(chan struct{}, 16)}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		switch {
		case r.Method != http.MethodPost:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case err != nil || json.Unmarshal(body, &m) != nil:
			w.WriteHeader(http.StatusBadRequest)
		case m.Method == "initialize":
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set(sessionHeader, "old")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"hologram":{"a":null}},"serverInfo":{"name":"old","version":"1","mood":"fine"}}}`, m.ID)
		case m.Method == "":
			s.mu.Lock()
			s.answers = append(s.answers, string(body))
			s.mu.Unlock()
			w.WriteHeader(http.StatusAccepted)
			s.posted <- struct{}{}
		case m.ID == nil:
			w.WriteHeader(http.StatusAccepted)
		default:
			answer(s, w, string(m.ID), m.Method)
		}
	}))
	t.Cleanup(web.Close)
	s.url = web.URL
	return s
}

// complaints are what a client has reported.
type complaints struct {
	mu   sync.Mutex
	text string
}

func (c *complaints) add(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.text += err.Error() + "\n"
}

func (c *complaints) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text
}

func dialOld(t *testing.T, s *oldServer, said *complaints) *client.Client {
	t.Helper()
	c, err := client.DialHTTP(t.Context(), s.url, client.Options{Mode: client.Legacy, OnError: said.add})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// listed dials a server whose answer to tools/list is the one given, and collects all tools.
func listed(t *testing.T, result string) (names []string, said *complaints, failed error) {
	t.Helper()
	s := playServer(t, func(_ *oldServer, w http.ResponseWriter, id, _ string) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
	})
	said = &complaints{}
	for tool, err := range dialOld(t, s, said).Tools(t.Context()) {
		if err != nil {
			return names, said, err
		}
		names = append(names, tool.Name)
	}
	return names, said, nil
}

// TestC064ClientsReadNull is the client's half: elsewhere a client that was sent null for a list, or within one, panicked.
// Here a list that is none is an error or an empty list with a word about it, and a null in a list is left out with one.
func TestC064ClientsReadNull(t *testing.T) {
	const good = `{"name":"good","inputSchema":{"type":"object"}}`
	for _, c := range []struct {
		result string
		names  string
		silent bool // neither an error nor a word
	}{
		{`{"tools":[` + good + `]}`, "good", true},
		{`{"tools":[]}`, "", true},
		{`{"tools":null}`, "", false},
		{`{}`, "", false},
		{`{"tools":{}}`, "", false},
		{`{"tools":"x"}`, "", false},
		{`{"tools":[null]}`, "", false},
		{`{"tools":[null,` + good + `]}`, "good", false},
		{`{"tools":[1,` + good + `,[]]}`, "good", false},
		{`[]`, "", false},
		{`null`, "", false},
	} {
		names, said, err := listed(t, c.result)
		if got := strings.Join(names, " "); got != c.names && err == nil {
			t.Errorf("%s: tools %q, want %q", c.result, got, c.names)
		}
		if silent := err == nil && said.String() == ""; silent != c.silent {
			t.Errorf("%s: error %v, reported %q", c.result, err, said)
		}
		if c.names != "" && err != nil {
			t.Errorf("%s: %v", c.result, err)
		}
	}
}

// TestC065ClientsKeepOddSchemas is the client's half: of five tools every one with a legal schema is there.
func TestC065ClientsKeepOddSchemas(t *testing.T) {
	names, _, err := listed(t, `{"tools":[
		{"name":"output","inputSchema":{"type":"object"},"outputSchema":{"type":["null","array"]}},
		{"name":"missing"},
		{"name":"true","inputSchema":true},
		{"name":"union","inputSchema":{"type":"object","properties":{"n":{"type":["number","null"]}}}},
		{"name":"normal","inputSchema":{"type":"object"}}]}`)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"output", "union", "normal"} {
		if !strings.Contains(" "+strings.Join(names, " ")+" ", " "+name+" ") {
			t.Errorf("the tool %q is lost; there are %q", name, names)
		}
	}
}

// TestC070ClientsIgnoreTheUnknown is the client's half: a notification nobody knows is ignored, a request nobody knows is
// answered with -32601, and a kind of content nobody knows stays as it was sent.
func TestC070ClientsIgnoreTheUnknown(t *testing.T) {
	const hologram = `{"type":"hologram","data":[1.0,{"a":null}],"x":"\u00e9"}`
	s := playServer(t, func(s *oldServer, w http.ResponseWriter, id, _ string) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, data := range []string{
			`{"jsonrpc":"2.0","method":"notifications/stderr","params":{"content":"a"}}`,
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"nobody","progress":1}}`,
			`{"jsonrpc":"2.0","id":"s1","method":"hologram/show","params":{}}`,
		} {
			fmt.Fprintf(w, "data: %s\n\n", data)
			w.(http.Flusher).Flush()
		}
		<-s.posted
		fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"hi\"},%s],\"mood\":\"fine\"}}\n\n", id, hologram)
	})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	out, err := dialOld(t, s, &complaints{}).CallTool(ctx, "any", nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Content) != 2 {
		t.Fatalf("%d blocks", len(out.Content))
	}
	unknown, ok := out.Content[1].(*mcp.UnknownContent)
	if !ok {
		t.Fatalf("the unknown block is a %T", out.Content[1])
	}
	if raw, err := unknown.AppendJSON(nil); err != nil || string(raw) != hologram {
		t.Errorf("the unknown block: %s, %v", raw, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.answers) != 1 {
		t.Fatalf("the client answered %q", s.answers)
	}
	wanted{code: -32601, id: `"s1"`}.in(t, s.answers[0])
}
