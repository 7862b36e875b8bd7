package client_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// pages answers tools/list by the cursor it is asked with; "-" stands for none. A page is its tools and the next cursor.
func pages(next func(cursor string) (tools []string, following *string)) script {
	return script{"tools/list": func(p *peer, m *jsonrpc.Message) {
		cursor := "-"
		if raw, ok := jsonrpc.Member(m.Params, "cursor"); ok {
			cursor, _ = jsonrpc.Text(raw)
		}
		names, following := next(cursor)
		var list []string
		for _, name := range names {
			list = append(list, fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"}}`, name))
		}
		more := ""
		if following != nil {
			more = fmt.Sprintf(`,"nextCursor":%q`, *following)
		}
		p.write(m, fmt.Sprintf(`{"jsonrpc":"2.0","id":{id},"result":{"tools":[%s]%s}}`, strings.Join(list, ","), more))
	}}
}

func TestPages(t *testing.T) {
	to := func(s string) *string { return &s }
	long := strings.Repeat("x", 4096)
	fresh := 0
	for name, tc := range map[string]struct {
		next func(string) ([]string, *string)
		want string
		warn string
	}{
		"empty cursor, empty page": {func(c string) ([]string, *string) {
			switch c {
			case "-":
				return []string{"a", "b"}, to("")
			case "":
				return nil, to(long)
			}
			return []string{"c", "a"}, nil
		}, "a b c", ""},
		"same cursor": {func(string) ([]string, *string) { return []string{"a"}, to("x") }, "a", "repeats the cursor"},
		"cycle": {func(c string) ([]string, *string) {
			return []string{"t" + c}, to(map[string]string{"-": "A", "A": "B", "B": "A"}[c])
		}, "t- tA tB", "repeats the cursor"},
		"endless": {func(string) ([]string, *string) {
			fresh++
			return []string{"a"}, to(fmt.Sprint(fresh))
		}, "a", "more than 5 pages"},
	} {
		t.Run(name, func(t *testing.T) {
			eras(t, pages(tc.next), func(t *testing.T, era string, conn transport.Conn, p *peer) {
				var warned []string
				c := connect(t, conn, client.Options{MaxPages: 5, OnError: func(err error) { warned = append(warned, err.Error()) }})
				var got []string
				for tool, err := range c.Tools(t.Context()) {
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, tool.Name)
				}
				if strings.Join(got, " ") != tc.want || !strings.Contains(strings.Join(warned, "\n"), tc.warn) || (tc.warn == "") != (warned == nil) {
					t.Errorf("got %v, warned %q", got, warned)
				}
			})
		})
	}
}

func TestOddLists(t *testing.T) {
	good := `{"name":"good","inputSchema":{"type":"object","properties":{"n":{"type":["number","null"]}}},"outputSchema":{"type":["null","array"]}}`
	for name, tc := range map[string]struct {
		body  string
		want  string
		warns int
		fails bool
	}{
		"null list":     {`{"tools":null}`, "", 1, false},
		"no list":       {`{}`, "", 1, false},
		"null element":  {`{"tools":[null,` + good + `]}`, "good", 1, false},
		"object":        {`{"tools":{}}`, "", 0, true},
		"no schema":     {`{"tools":[{"name":"bare"},{"name":"any","inputSchema":true},` + good + `]}`, "bare any good", 2, false},
		"broken member": {`{"tools":[{"name":7,"inputSchema":{"type":"object"}},` + good + `]}`, "good", 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			eras(t, script{"tools/list": result(tc.body)}, func(t *testing.T, era string, conn transport.Conn, p *peer) {
				warns := 0
				c := connect(t, conn, client.Options{OnError: func(error) { warns++ }})
				page, err := c.ListTools(t.Context(), nil)
				var got []string
				if err == nil {
					for _, tool := range page.Tools {
						got = append(got, tool.Name)
					}
				}
				if strings.Join(got, " ") != tc.want || warns != tc.warns || (err != nil) != tc.fails || tc.fails && !errors.Is(err, mcp.CodeInvalidResult) {
					t.Errorf("got %v, %d warnings, %v", got, warns, err)
				}
			})
		})
	}
}

func TestListsOfEveryKind(t *testing.T) {
	rest := script{
		"prompts/list":             result(`{"prompts":[{"name":"p"}],"ttlMs":5000,"cacheScope":"public"}`),
		"resources/list":           result(`{"resources":[{"uri":"a:1","name":"r"}]}`),
		"resources/templates/list": result(`{"resourceTemplates":[{"uriTemplate":"a:{x}","name":"t"}]}`),
	}
	eras(t, rest, func(t *testing.T, era string, conn transport.Conn, p *peer) {
		c := connect(t, conn, client.Options{})
		got := ""
		for v, err := range c.Prompts(t.Context()) {
			got += fmt.Sprintln(v.Name, err)
		}
		for v, err := range c.Resources(t.Context()) {
			got += fmt.Sprintln(v.URI, err)
		}
		for v, err := range c.ResourceTemplates(t.Context()) {
			got += fmt.Sprintln(v.URITemplate, err)
		}
		if got != "p <nil>\na:1 <nil>\na:{x} <nil>\n" {
			t.Error(got)
		}
		page, err := c.ListPrompts(t.Context(), nil)
		if err != nil || (page.Cache.Scope == "public") != (era == "modern") {
			t.Errorf("%+v, %v", page, err)
		}
	})
}

func TestWithoutCapability(t *testing.T) {
	bare := func(t *testing.T, strict bool) (page *mcp.ListToolsResult, sent string, err error) {
		conn, p := play(script{"server/discover": result(`{"supportedVersions":["2026-07-28"],"capabilities":{}}`), "tools/list": result(`{"tools":[]}`)})
		defer p.conn.Close()
		c := connect(t, conn, client.Options{StrictCapabilities: strict})
		page, err = c.ListTools(t.Context(), nil)
		return page, p.methods(), err
	}
	synctest.Test(t, func(t *testing.T) {
		if page, sent, err := bare(t, false); err != nil || len(page.Tools) != 0 || sent != "server/discover" {
			t.Errorf("lenient: %v, sent %s", err, sent)
		}
		if _, sent, err := bare(t, true); !errors.Is(err, mcp.CodeCapabilityNotSupported) || sent != "server/discover" {
			t.Errorf("strict: %v, sent %s", err, sent)
		}
	})
}
