package client_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	rialto "github.com/rialto-mcp/rialto/server"
)

// TestC100ArgumentsInHeaders is the client's half: what the headers say is what the body says, in the form of the specification
// and under no other name; a tool that declares them wrongly is left out alone; one that has changed since the list costs one
// list and one repetition, and a list is read at no other time.
//
// Seen to fail with the repetition taken out: the caller got "header mismatch: the header Mcp-Param-Place is missing".
func TestC100ArgumentsInHeaders(t *testing.T) {
	const region = `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"n":{"type":"integer","x-mcp-header":"N"},
		"at":{"type":"object","properties":{"zone":{"type":"string","x-mcp-header":"Zone"}}}}}`
	s := serveStrict(t, rialto.Options{}, map[string]string{"tool": region})
	c := s.dial(t, client.Options{})
	list(t, c)
	s.last()
	for args, want := range map[string]string{
		`{"region":"us"}`:          "[[Region: us]]",
		`{"region":"Zürich"}`:      "[[Region: =?base64?WsO8cmljaA==?=]]",
		`{"region":"a\r\nX: y"}`:   "[[Region: =?base64?YQ0KWDogeQ==?=]]",
		`{"region":null}`:          "[[]]",
		`{}`:                       "[[]]",
		`{"n":9007199254740992}`:   "[]", // 2^53 is refused here, and not sent
		`{"at":{"zone":"b"}}`:      "[[Zone: b]]",
		`{"X":"\r\nMcp-Param: 1"}`: "[[]]",
	} {
		_, err := c.CallTool(t.Context(), "tool", json.RawMessage(args))
		calls, posts := s.last()
		if fmt.Sprint(calls) != want || strings.Contains(posts, mcp.MethodListTools) || (err != nil) != (want == "[]") {
			t.Errorf("%s was sent with %v after %s (%v), want %s", args, calls, posts, err, want)
		}
	}
	o := client.CallOptions{Headers: http.Header{"Mcp-Param-Region": {"elsewhere"}}}
	if _, err := c.CallTool(t.Context(), "tool", map[string]string{"region": "us"}, o); err == nil {
		t.Error("a header that says something else than the body was taken")
	}
	s.last()
	s.add(t, "tool", `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Place"}}}`)
	for range 2 {
		if _, err := c.CallTool(t.Context(), "tool", map[string]string{"region": "us"}); err != nil {
			t.Error(err)
		}
	}
	if calls, posts := s.last(); fmt.Sprint(calls) != "[[Region: us] [Place: us] [Place: us]]" || strings.Count(posts, mcp.MethodListTools) != 1 {
		t.Errorf("of a tool that has changed: %v, %s", calls, posts)
	}
}

// TestC100WrongDeclarations: a number, the same name in another case, one under items.
func TestC100WrongDeclarations(t *testing.T) {
	page, wrong := wrongTools()
	body := `{"jsonrpc":"2.0","id":{id},"result":` + page + `}`
	s := serve(t, reactions{"server/discover": answer(200, jsonType, discoverOK), "tools/list": answer(200, jsonType, body)})
	c, err := client.DialHTTP(t.Context(), s.URL, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	got := list(t, c)
	for _, name := range []string{"number", "twice by case", "under items"} {
		if wrong[name] == "" || slices.Contains(got, name) {
			t.Errorf("%q is listed, or was not asked for: %q", name, got)
		}
	}
	if !slices.Contains(got, "valid") || !slices.Contains(got, "plain") {
		t.Errorf("good tools are missing in %q", got)
	}
}
