package server_test

import (
	"context"
	"fmt"
	"reflect"
	"sort"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// letters is a prompt with a required and an optional argument that shows what it got.
func letters(s *server.Server) {
	s.AddPrompt(mcp.Prompt{Name: "letter", Arguments: []mcp.PromptArgument{{Name: "to", Required: true}, {Name: "tone"}}},
		func(_ context.Context, _ *server.Request, args map[string]string) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{Messages: []mcp.PromptMessage{mcp.UserMessage(mcp.Text(fmt.Sprint(args)))}}, nil
		})
}

func TestPrompts(t *testing.T) {
	shows := func(args string) string {
		return `{"messages":[{"role":"user","content":{"type":"text","text":"map[` + args + `]"}}]}`
	}
	for _, c := range []struct{ arguments, want string }{
		{`{"to":"<Ada>","tone":"warm"}`, shows("to:<Ada> tone:warm")},
		{`{"to":""}`, shows("to:")}, // empty is a value
		{`{"to":"a","more":"b"}`, shows("more:b to:a")},
		{`{}`, "error -32602"},
		{`null`, "error -32602"},
		{`{"tone":"warm"}`, "error -32602"},
		{`{"to":null}`, "error -32602"},
		{`{"to":5}`, "error -32602"},
		{`["to"]`, "error -32602"},
		{`{"To":"a"}`, "error -32602"},
	} {
		for _, revision := range bothEras {
			s := newServer(server.Options{})
			letters(s)
			dial(t, s, revision).want("prompts/get", `"name":"letter","arguments":`+c.arguments, c.want)
		}
	}
	s := newServer(server.Options{})
	letters(s)
	m := dial(t, s, modern).call("prompts/get", `"name":"letter"`)
	if m.Error == nil || !strings.Contains(m.Error.Message, `"to"`) {
		t.Errorf("want the missing argument named, got %s", m.Frame())
	}
	if !s.HasPrompt("letter") || !reflect.DeepEqual(s.PromptNames(), []string{"letter"}) || s.RemovePrompt("letter") != 1 || s.HasPrompt("letter") {
		t.Error("HasPrompt, PromptNames or RemovePrompt is wrong about what is there")
	}
}

// A prompt without messages has an empty list of them.
func TestEmptyPrompt(t *testing.T) {
	s := newServer(server.Options{})
	s.AddPrompt(mcp.Prompt{Name: "x"}, func(context.Context, *server.Request, map[string]string) (*mcp.GetPromptResult, error) {
		return nil, nil
	})
	dial(t, s, legacy).want("prompts/get", `"name":"x"`, `{"messages":[]}`)
}

// showing is a template handler that shows its name and what it matched.
func showing(name string) server.TemplateHandler {
	return func(_ context.Context, _ *server.Request, vars map[string]string) (*mcp.ReadResourceResult, error) {
		var pairs []string
		for k, v := range vars {
			pairs = append(pairs, k+"="+v)
		}
		sort.Strings(pairs)
		return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{{Text: name + " " + strings.Join(pairs, " ")}}}, nil
	}
}

func TestResourceTemplates(t *testing.T) {
	s := newServer(server.Options{})
	s.AddResource(mcp.Resource{URI: "book:7", Name: "seven"}, func(context.Context, *server.Request) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{mcp.TextResource("book:7#cover", "text/plain", "the very one")}}, nil
	})
	for i, uriTemplate := range []string{"book:{id}", "book:{other}", "file:///{+path}", "shop:{dept}/{item}{?colour,size}", "tags:{/names*}", "empty:x{?q}"} {
		s.AddResourceTemplate(mcp.ResourceTemplate{URITemplate: uriTemplate, Name: uriTemplate}, showing(fmt.Sprint(i)))
	}
	for uri, want := range map[string]string{
		"book:7":                           "the very one", // an exact resource goes first
		"book:8":                           "0 id=8",       // then the templates in their order
		"book:a%20b":                       "0 id=a b",
		"file:///a/b/c.txt":                "2 path=a/b/c.txt",
		"shop:toys/bear?colour=red&size=2": "3 colour=red dept=toys item=bear size=2",
		"tags:/a/b":                        "4 names=a,b",
		"empty:x":                          "5 ",
		"book:a/b":                         "",
		"book:":                            "0 id=",
		"nothing":                          "",
		"":                                 "",
	} {
		for _, revision := range bothEras {
			m := dial(t, s, revision).call("resources/read", fmt.Sprintf(`"uri":%q`, uri))
			if want == "" {
				if m.Error == nil || member(t, m.Error.Data, "uri") != fmt.Sprintf("%q", uri) {
					t.Errorf("%q: want that it is missing, got %s", uri, m.Frame())
				}
				continue
			}
			named := uri
			if want == "the very one" {
				named += "#cover"
			}
			if got := member(t, m.Result, "contents"); !strings.Contains(got, fmt.Sprintf(`"text":%q`, want)) || !strings.Contains(got, fmt.Sprintf(`"uri":%q`, named)) {
				t.Errorf("%q: want %q, got %s", uri, want, m.Frame())
			}
		}
	}
	if got := s.URITemplates(); len(got) != 6 || got[1] != "book:{other}" || !s.HasResourceTemplate("book:{id}") {
		t.Errorf("the templates are %q", got)
	}
	if s.RemoveResourceTemplate("book:{id}", "no") != 1 || s.RemoveResource("book:7") != 1 || s.HasResource("book:7") || len(s.ResourceURIs()) != 0 {
		t.Error("the counts of what was removed are wrong")
	}
	w := dial(t, s, modern)
	if got := string(w.call("resources/read", `"uri":"book:7"`).Result); !strings.Contains(got, `"1 other=7"`) {
		t.Errorf("want the second template, got %s", got)
	}
}

// An empty answer cannot be told from a missing resource, so it is one.
func TestResourceWithoutContents(t *testing.T) {
	s := newServer(server.Options{})
	s.AddResource(mcp.Resource{URI: "a:1", Name: "a"}, func(context.Context, *server.Request) (*mcp.ReadResourceResult, error) { return nil, nil })
	dial(t, s, modern).want("resources/read", `"uri":"a:1"`, `error -32602 {"uri":"a:1"}`)
}

func TestCacheHintsOfReads(t *testing.T) {
	s := newServer(server.Options{Cache: mcp.CacheFor(1e9, mcp.CachePublic)})
	s.AddResource(mcp.Resource{URI: "a:1", Name: "a"}, func(context.Context, *server.Request) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{{Text: "x"}}, Cache: mcp.CacheHint{Scope: mcp.CachePrivate}}, nil
	})
	result := dial(t, s, modern).call("resources/read", `"uri":"a:1"`).Result
	if member(t, result, "ttlMs") != "1000" || member(t, result, "cacheScope") != `"private"` {
		t.Errorf("the hints of handler and server do not complete each other: %s", result)
	}
	dial(t, s, legacy).want("resources/read", `"uri":"a:1"`, `{"contents":[{"uri":"a:1","text":"x"}]}`)
}

func TestCompletion(t *testing.T) {
	s := newServer(server.Options{})
	letters(s)
	s.AddResourceTemplate(mcp.ResourceTemplate{URITemplate: "book:{id}", Name: "book"}, showing(""))
	s.AddResource(mcp.Resource{URI: "a:1", Name: "a"}, func(context.Context, *server.Request) (*mcp.ReadResourceResult, error) { return nil, nil })
	s.CompletePrompt("letter", "to", func(_ context.Context, _ *server.Request, value string, settled map[string]string) ([]string, error) {
		return []string{value + "-" + settled["tone"]}, nil
	})
	s.CompleteTemplate("book:{id}", "id", func(context.Context, *server.Request, string, map[string]string) ([]string, error) {
		return make([]string, 250), nil
	})
	prompt := func(rest string) string { return `"ref":{"type":"ref/prompt","name":"letter"},` + rest }
	for _, c := range []struct{ members, want string }{
		{prompt(`"argument":{"name":"to","value":"A"}`), `{"completion":{"values":["A-"],"total":1,"hasMore":false}}`},
		{prompt(`"argument":{"name":"to","value":"A"},"context":{"arguments":{"tone":"warm"}}`), `{"completion":{"values":["A-warm"],"total":1,"hasMore":false}}`},
		{prompt(`"argument":{"name":"tone","value":""}`), `{"completion":{"values":[],"total":0,"hasMore":false}}`}, // nobody suggests
		{`"ref":{"type":"ref/resource","uri":"a:1"},"argument":{"name":"x","value":""}`, `{"completion":{"values":[],"total":0,"hasMore":false}}`},
		{`"ref":{"type":"ref/resource","uri":"book:{id}"},"argument":{"name":"id","value":""}`,
			`{"completion":{"values":[""` + strings.Repeat(`,""`, 99) + `],"total":250,"hasMore":true}}`},
		{prompt(`"argument":{"value":"A"}`), "error -32602"},
		{prompt(`"argument":{"name":"to","value":7}`), "error -32602"},
		{prompt(`"argument":"to"`), "error -32602"},
		{`"ref":"letter","argument":{"name":"to","value":""}`, "error -32602"},
	} {
		for _, revision := range bothEras {
			dial(t, s, revision).want("completion/complete", c.members, c.want)
		}
	}
	s.CompletePrompt("letter", "to", nil)
	dial(t, s, modern).want("completion/complete", prompt(`"argument":{"name":"to","value":"A"}`), `{"completion":{"values":[],"total":0,"hasMore":false}}`)
}
