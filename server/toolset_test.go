package server_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// Library keeps books, and its methods are tools.
type Library struct{ titles []string }

type Search struct {
	Word string `json:"word" jsonschema:"part of a title"`
}

func (l *Library) SearchBooks(_ context.Context, _ *server.Request, in Search) ([]string, error) {
	var found []string
	for _, title := range l.titles {
		if strings.Contains(title, in.Word) {
			found = append(found, title)
		}
	}
	return found, nil
}

func (l *Library) CloseHouse(_ context.Context, req *server.Request, _ struct{}) (string, error) {
	return "", errors.New("it is too early to " + req.Name())
}

// Count is no tool: it has another form.
func (l *Library) Count() int { return len(l.titles) }

func (l *Library) DescribeTools() map[string]mcp.Tool {
	return map[string]mcp.Tool{"SearchBooks": {Description: "Finds books"}, "CloseHouse": {Name: "close"}}
}

func ExampleRegisterTools() {
	s := server.New(mcp.Implementation{Name: "library", Version: "1"}, server.Options{})
	fmt.Println(server.RegisterTools(s, &Library{titles: []string{"Peer Gynt", "Hunger"}}))

	ask(s, "tools/call", `{"name":"search_books","arguments":{"word":"Gynt"}}`)
	ask(s, "tools/call", `{"name":"close"}`)
	// Output:
	// [close search_books]
	// {"content":[{"type":"text","text":"[\"Peer Gynt\"]"}],"structuredContent":["Peer Gynt"]}
	// {"content":[{"type":"text","text":"it is too early to close"}],"isError":true}
}

func TestRegisterTools(t *testing.T) {
	s := newServer(server.Options{})
	server.RegisterTools(s, &Library{})
	w := dial(t, s, modern)
	list := string(w.call("tools/list", "").Result)
	for _, part := range []string{`"description":"Finds books"`, `"description":"part of a title"`, `"required":["word"]`} {
		if !strings.Contains(list, part) {
			t.Errorf("%s is missing in %s", part, list)
		}
	}
	if m := w.call("tools/call", `"name":"search_books"`); member(t, m.Result, "isError") != "true" {
		t.Errorf("want the missing word named, got %s", m.Frame())
	}
}

type verbs struct{}

func (verbs) GetURLFor(context.Context, *server.Request, struct{}) (string, error) { return "", nil }
func (verbs) ID(context.Context, *server.Request, struct{}) (string, error)        { return "", nil }
func (verbs) Add2Numbers(context.Context, *server.Request, struct{}) (any, error)  { return nil, nil }
func (verbs) Plain_Name(context.Context, *server.Request, struct{}) (any, error)   { return nil, nil } //nolint:revive // the case

func TestToolNamesOfMethods(t *testing.T) {
	want := []string{"add2_numbers", "get_url_for", "id", "plain_name"}
	if got := server.RegisterTools(newServer(server.Options{}), verbs{}); !reflect.DeepEqual(got, want) {
		t.Errorf("want %q, got %q", want, got)
	}
}

type mistaken struct{ verbs }

func (mistaken) DescribeTools() map[string]mcp.Tool { return map[string]mcp.Tool{"GetUrlFor": {}} }

func TestRegisterToolsRefuses(t *testing.T) {
	for name, v := range map[string]any{"nothing": nil, "no methods": struct{}{}, "no such method": mistaken{}} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if text, ok := recover().(string); !ok || !strings.HasPrefix(text, "server: ") {
					t.Errorf("want a panic that begins with the package, got %q", text)
				}
			}()
			server.RegisterTools(newServer(server.Options{}), v)
		})
	}
}
