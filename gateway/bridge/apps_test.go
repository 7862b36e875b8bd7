package bridge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/apps"
	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// paged registers a page under the same address as every other server's, and tools that belong to it. The page is listed, or
// only to be found by those who know its address.
func paged(name string, listed bool) func(*server.Server) {
	page := apps.Resource{
		URI: "ui://weather/view", Name: "view", HTML: "<!doctype html><p>" + name,
		UI: apps.ResourceMeta{
			CSP:         &apps.CSP{ConnectDomains: []string{"https://" + name + ".example"}},
			Permissions: &apps.Permissions{Geolocation: &struct{}{}},
		},
	}
	return func(s *server.Server) {
		if listed {
			apps.AddResource(s, page)
		} else {
			s.AddResourceTemplate(mcp.ResourceTemplate{URITemplate: "ui://weather/{which}", Name: "views"},
				func(_ context.Context, req *server.Request, _ map[string]string) (*mcp.ReadResourceResult, error) {
					contents := mcp.TextResource(req.Name(), apps.MIMEType, page.HTML)
					meta, err := mcp.NewMeta("ui", page.UI)
					contents.Meta = meta
					return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{contents}}, err
				})
		}
		linked := apps.Link(mcp.Tool{Name: "forecast_" + name}, apps.ToolMeta{ResourceURI: page.URI})
		server.AddTool(s, linked, func(_ context.Context, req *server.Request, _ noInput) (string, error) {
			return fmt.Sprint("shows pages: ", apps.Supported(req.ClientCapabilities())), nil
		})
		hidden := apps.Link(mcp.Tool{Name: "refresh_" + name}, apps.ToolMeta{ResourceURI: page.URI, Visibility: []string{apps.ForApp}})
		server.AddTool(s, hidden, func(context.Context, *server.Request, noInput) (string, error) { return "fresh from " + name, nil })
		old := mcp.Tool{Name: "old_" + name, Meta: mcp.Meta(`{"ui/resourceUri":"ui://weather/view","openai/outputTemplate":"ui://weather/view"}`)}
		server.AddTool(s, old, func(context.Context, *server.Request, noInput) (string, error) { return "", nil })
	}
}

// TestPagesOfTwins holds that the page of a tool is that of its own server, where two servers have one under the same address,
// listed or not; that what the page may reach arrives; and that a tool for the page alone is listed and can be called.
func TestPagesOfTwins(t *testing.T) {
	for _, listed := range []bool{true, false} {
		for _, http := range []bool{false, true} {
			t.Run(fmt.Sprintf("listed %v, http %v", listed, http), func(t *testing.T) {
				pairings(t, func(t *testing.T, modern, upModern bool) {
					w := newWorld(t, route.Naming{},
						backend{name: "a", modern: upModern, http: http, fill: paged("a", listed)},
						backend{name: "b", modern: upModern, http: http, fill: paged("b", listed)})
					dial := w.dial
					if http {
						dial = w.dialHTTP
					}
					c := dial(t, modern, client.Options{Extensions: []mcp.Extension{apps.Host()}})
					var tools []mcp.Tool
					for tool, err := range c.Tools(t.Context()) {
						if err != nil {
							t.Fatal(err)
						}
						tools = append(tools, tool)
						owner := tool.Name[strings.Index(tool.Name, "_")+1:]
						meta, found, err := apps.ToolUI(tool)
						if err != nil || !found {
							t.Fatalf("%s says %s of its page: %v", tool.Name, tool.Meta, err)
						}
						view, err := apps.Read(t.Context(), c, meta.ResourceURI, apps.ReadOptions{})
						if err != nil || !strings.HasSuffix(view.HTML, "<p>"+owner) {
							t.Errorf("the page of %s is %+v, %v", tool.Name, view, err)
							continue
						}
						if !slices.Equal(view.UI.CSP.ConnectDomains, []string{"https://" + owner + ".example"}) || view.UI.Permissions.Allow() != "geolocation" {
							t.Errorf("the page of %s may reach %+v", tool.Name, view.UI)
						}
						if text, ok := tool.Meta.Text("openai/outputTemplate"); ok && text != meta.ResourceURI {
							t.Errorf("%s says %s", tool.Name, tool.Meta)
						}
					}
					if len(tools) != 6 || len(apps.Visible(tools, apps.ForModel)) != 4 || apps.MayCall(tools, "refresh_b") != nil {
						t.Errorf("the tools are %v", tools)
					}
					if result, err := c.CallTool(t.Context(), "refresh_b", nil); err != nil || result.Text() != "fresh from b" {
						t.Errorf("got %v, %v", result, err)
					}
				})
			})
		}
	}
}

// TestPageTokenForToken holds that what a tool says of its page stays as it was written but for the address, and all of it where
// the address stays.
func TestPageTokenForToken(t *testing.T) {
	const tool = `{"name":"%s","inputSchema":{"type":"object"},"_meta":{"z":1.0e0,"ui":{"n":1E400,"resourceUri":"ui:\/\/view","csp":{"connectDomains":["ui://view"]},"visibility":["app"]},"a":"\u00e9"}}`
	pairings(t, func(t *testing.T, modern, upModern bool) {
		raws := func(name string) backend {
			b := rawBackend(name, upModern, func(context.Context, *server.Request) (*server.RawResult, error) {
				return &server.RawResult{Result: json.RawMessage(`{"content":[],"_meta":{"b":1.0,"ui":{"resourceUri":"ui://view"}}}`)}, nil
			})
			b.opts.Catalogue = catalogue{fmt.Sprintf(tool, "tool_"+name)}
			b.opts.Capabilities.Resources = &mcp.ResourcesCapability{}
			return b
		}
		w := newWorld(t, route.Naming{}, raws("a"), raws("b"))
		c := w.dial(t, modern, client.Options{})
		list := raw(t, c, mcp.MethodListTools, `{}`)
		for _, name := range []string{"a", "b"} { // neither lists it, so neither keeps it
			want := strings.Replace(fmt.Sprintf(tool, "tool_"+name), `"ui:\/\/view"`, `"ui://rialto+`+name+`/view"`, 1)
			if !strings.Contains(list, want) {
				t.Errorf("the list is %s, want %s in it", list, want)
			}
			result := raw(t, c, mcp.MethodCallTool, `{"name":"tool_`+name+`"}`)
			if want := `{"content":[],"_meta":{"b":1.0,"ui":{"resourceUri":"ui://rialto+` + name + `/view"}`; !strings.HasPrefix(result, want) {
				t.Errorf("the result is %s, want it to begin with %s", result, want)
			}
		}
		w = newWorld(t, route.Naming{}, raws("a"))
		if list := raw(t, w.dial(t, modern, client.Options{}), mcp.MethodListTools, `{}`); !strings.Contains(list, fmt.Sprintf(tool, "tool_a")) {
			t.Errorf("alone: the list is %s", list)
		}
	})
}
