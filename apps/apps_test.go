package apps_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/apps"
	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/mcptest"
	"github.com/rialto-mcp/rialto/server"
)

const page = "<!DOCTYPE html><title>Weather</title>"

// weather is a server with a page, a tool that is shown on it, and one for the page alone.
func weather(t testing.TB) *server.Server {
	t.Helper()
	s := server.New(mcp.Implementation{Name: "weather", Version: "1"}, server.Options{Extensions: []mcp.Extension{apps.Extension()}})
	border := true
	apps.AddResource(s, apps.Resource{URI: "ui://weather/view", Name: "Weather", HTML: page, UI: apps.ResourceMeta{
		CSP:         &apps.CSP{ConnectDomains: []string{"https://api.example.com"}},
		Permissions: &apps.Permissions{Geolocation: &struct{}{}, ClipboardWrite: &struct{}{}}, PrefersBorder: &border,
	}})
	apps.AddResource(s, apps.Resource{URI: "ui://weather/made", Name: "Made", Make: func(_ context.Context, req *server.Request) (string, error) {
		return "<!-- " + req.Name() + " --> <!doctype HTML><p>", nil
	}})
	apps.AddResource(s, apps.Resource{URI: "ui://weather/broken", Name: "Broken", Make: func(context.Context, *server.Request) (string, error) {
		return "<p>no document", nil
	}})
	s.AddResource(mcp.Resource{URI: "ui://weather/text", Name: "text"}, func(context.Context, *server.Request) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{mcp.TextResource("ui://weather/text", "text/html", page)}}, nil
	})
	answer := func(_ context.Context, req *server.Request, _ struct{}) (*mcp.CallToolResult, error) {
		if apps.Supported(req.ClientCapabilities()) {
			return mcp.TextResult("shown"), nil
		}
		return mcp.TextResult("told"), nil
	}
	view := "ui://weather/view"
	server.AddTool(s, apps.Link(mcp.Tool{Name: "forecast"}, apps.ToolMeta{ResourceURI: view}), answer)
	server.AddTool(s, apps.Link(mcp.Tool{Name: "refresh"}, apps.ToolMeta{ResourceURI: view, Visibility: []string{apps.ForApp}}), answer)
	server.AddTool(s, apps.Link(mcp.Tool{Name: "think"}, apps.ToolMeta{Visibility: []string{apps.ForModel}}), answer)
	server.AddTool(s, mcp.Tool{Name: "plain"}, answer)
	return s
}

// TestAppsOnEveryWire finds the page of a tool, reads it and calls the tool, as a host in either era.
func TestAppsOnEveryWire(t *testing.T) {
	s := weather(t)
	for _, wire := range mcptest.Wires() {
		t.Run(wire.Name, func(t *testing.T) {
			c := wire.Dial(t, s, client.Options{Extensions: []mcp.Extension{apps.Host()}})
			if c.ServerCapabilities().HasExtension(apps.Identifier) != wire.Modern {
				t.Errorf("the server declares %v", c.ServerCapabilities().Extensions)
			}
			tools := map[string]mcp.Tool{}
			for tool, err := range c.Tools(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				tools[tool.Name] = tool
			}
			meta, ok, err := apps.ToolUI(tools["forecast"])
			if err != nil || !ok || !meta.VisibleTo(apps.ForModel) || !meta.VisibleTo(apps.ForApp) {
				t.Fatalf("forecast says %+v, %v, %v", meta, ok, err)
			}
			view, err := apps.Read(t.Context(), c, meta.ResourceURI, apps.ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if view.HTML != page || view.UI.PrefersBorder == nil || view.UI.Permissions.Allow() != "geolocation; clipboard-write" {
				t.Errorf("the page is %+v", view)
			}
			if made, err := apps.Read(t.Context(), c, "ui://weather/made", apps.ReadOptions{}); err != nil || !strings.Contains(made.HTML, "ui://weather/made") {
				t.Errorf("the page made for each is %+v, %v", made, err)
			}
			out, err := c.CallTool(t.Context(), "forecast", nil)
			if err != nil || out.Text() != "shown" {
				t.Errorf("the tool answers a host with %+v, %v", out, err)
			}
			out, err = wire.Dial(t, s).CallTool(t.Context(), "forecast", nil)
			if err != nil || out.Text() != "told" {
				t.Errorf("the tool answers others with %+v, %v", out, err)
			}
		})
	}
}

func TestReadRefuses(t *testing.T) {
	c := mcptest.Pair(t, weather(t))
	for _, tc := range []struct {
		name, uri string
		opts      apps.ReadOptions
		want      string
	}{
		{"other scheme", "https://example.com/", apps.ReadOptions{}, "begins with ui://"},
		{"missing", "ui://weather/none", apps.ReadOptions{}, "not found"},
		{"other type", "ui://weather/text", apps.ReadOptions{}, `its type is "text/html"`},
		{"too large", "ui://weather/view", apps.ReadOptions{MaxBytes: 10}, "at most 10"},
		{"made without a doctype", "ui://weather/broken", apps.ReadOptions{}, "Internal error"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if view, err := apps.Read(t.Context(), c, tc.uri, tc.opts); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %+v and error %v, want one with %q", view, err, tc.want)
			}
		})
	}
	if _, err := apps.Read(t.Context(), c, "ui://weather/view", apps.ReadOptions{MaxBytes: -1}); err != nil {
		t.Error(err)
	}
}

// TestReadFromPeer reads what servers of other makes answer.
func TestReadFromPeer(t *testing.T) {
	const uri = "ui://x/y"
	listed := &mcp.Resource{URI: uri, Meta: mcp.Meta(`{"ui":{"domain":"listed"}}`)}
	for _, tc := range []struct{ name, contents, domain, fault string }{
		{"text", `{"uri":"ui://x/y","mimeType":"text/html; Profile=\"mcp-app\"","text":"<p>"}`, "listed", ""},
		{"bytes", `{"uri":"ui://x/y","mimeType":"text/html;profile=mcp-app","blob":"PHA+","_meta":{"ui":{"domain":"own","x":1}}}`, "own", ""},
		{"other page", `{"uri":"ui://x/z","mimeType":"text/html;profile=mcp-app","text":"<p>"}`, "", "something else"},
		{"two pages", `{"uri":"ui://x/y","mimeType":"text/html;profile=mcp-app","text":"<p>"},{"uri":"ui://x/z","text":""}`, "", "something else"},
		{"empty", `{"uri":"ui://x/y","mimeType":"text/html;profile=mcp-app","text":""}`, "", "empty"},
		{"not UTF-8", `{"uri":"ui://x/y","mimeType":"text/html;profile=mcp-app","blob":"/w=="}`, "", "not UTF-8"},
		{"no origin", `{"uri":"ui://x/y","mimeType":"text/html;profile=mcp-app","text":"<p>","_meta":{"ui":{"csp":{"connectDomains":["https://a.b; script-src *"]}}}}`, "", "no origin"},
		{"meta of another form", `{"uri":"ui://x/y","mimeType":"text/html;profile=mcp-app","text":"<p>","_meta":{"ui":"x"}}`, "", "_meta"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var result mcp.ReadResourceResult
			if err := json.Unmarshal([]byte(`{"contents":[`+tc.contents+`]}`), &result); err != nil {
				t.Fatal(err)
			}
			s := server.New(mcp.Implementation{Name: "x", Version: "1"}, server.Options{})
			s.AddResource(mcp.Resource{URI: uri, Name: "y"}, func(context.Context, *server.Request) (*mcp.ReadResourceResult, error) { return &result, nil })
			view, err := apps.Read(t.Context(), mcptest.Pair(t, s), uri, apps.ReadOptions{Listed: listed})
			if tc.fault != "" {
				if err == nil || !strings.Contains(err.Error(), tc.fault) {
					t.Errorf("the error is %v, want one with %q", err, tc.fault)
				}
				return
			}
			if err != nil || view.HTML != "<p>" || view.UI.Domain != tc.domain {
				t.Errorf("got %+v, %v", view, err)
			}
		})
	}
}

func TestToolUI(t *testing.T) {
	for _, tc := range []struct {
		name, meta, uri        string
		found, toModel, toApps bool
		fault                  string
	}{
		{"none", ``, "", false, true, true, ""},
		{"new form", `{"ui":{"resourceUri":"ui://a","x":1}}`, "ui://a", true, true, true, ""},
		{"old form", `{"ui/resourceUri":"ui://b"}`, "ui://b", true, true, true, ""},
		{"both forms", `{"ui/resourceUri":"ui://b","ui":{"resourceUri":"ui://a"}}`, "ui://a", true, true, true, ""},
		{"for pages", `{"ui":{"visibility":["app"]}}`, "", true, false, true, ""},
		{"for nobody", `{"ui":{"visibility":[]}}`, "", true, false, false, ""},
		{"other scheme", `{"ui":{"resourceUri":"https://a"}}`, "", true, false, false, "begins with ui://"},
		{"unknown reader", `{"ui":{"visibility":["App"]}}`, "", true, false, false, "not to"},
		{"no object", `{"ui":7}`, "", true, false, false, "_meta"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tool := mcp.Tool{Name: "t", Meta: mcp.Meta(tc.meta)}
			m, found, err := apps.ToolUI(tool)
			if found != tc.found || m.ResourceURI != tc.uri {
				t.Errorf("got %+v, %v", m, found)
			}
			if tc.fault == "" && err != nil || tc.fault != "" && (err == nil || !strings.Contains(err.Error(), tc.fault)) {
				t.Errorf("the error is %v, want %q", err, tc.fault)
			}
			tools := []mcp.Tool{tool}
			if got := len(apps.Visible(tools, apps.ForModel)) == 1; got != tc.toModel {
				t.Errorf("shown to the model: %v", got)
			}
			if got := apps.MayCall(tools, "t") == nil; got != tc.toApps {
				t.Errorf("may be called by a page: %v", got)
			}
		})
	}
	if err := apps.MayCall(nil, "t"); err == nil {
		t.Error("a page may call a tool of another server")
	}
}

func TestSupported(t *testing.T) {
	for in, want := range map[string]bool{
		`{}`: false,
		`{"extensions":{"io.modelcontextprotocol/ui":{}}}`:                                               false,
		`{"extensions":{"io.modelcontextprotocol/ui":7}}`:                                                false,
		`{"extensions":{"io.modelcontextprotocol/ui":{"MimeTypes":["text/html;profile=mcp-app"]}}}`:      false,
		`{"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html"]}}}`:                      false,
		`{"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["x","text/html; profile=mcp-app"]}}}`: true,
	} {
		var c mcp.ClientCapabilities
		if err := json.Unmarshal([]byte(in), &c); err != nil {
			t.Fatal(err)
		}
		if apps.Supported(c) != want {
			t.Errorf("%s: %v", in, !want)
		}
	}
}

func TestPolicy(t *testing.T) {
	const rest = "; font-src 'self'; media-src 'self' data:; frame-src 'none'; object-src 'none'; base-uri 'self'"
	for _, tc := range []struct {
		name string
		csp  *apps.CSP
		want string
	}{
		{"nothing said", nil, "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; connect-src 'none'; img-src 'self' data:" + rest},
		{"empty", &apps.CSP{}, "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src 'self' data:" + rest},
		{"all", &apps.CSP{
			ConnectDomains: []string{"wss://a.example:8080"}, ResourceDomains: []string{"https://*.b.example", "https://c.example/"},
			FrameDomains: []string{"https://d.example"}, BaseURIDomains: []string{"https://e.example"},
		}, "default-src 'none'; script-src 'self' 'unsafe-inline' https://*.b.example https://c.example/; style-src 'self' 'unsafe-inline' https://*.b.example https://c.example/" +
			"; connect-src 'self' wss://a.example:8080; img-src 'self' data: https://*.b.example https://c.example/; font-src 'self' https://*.b.example https://c.example/" +
			"; media-src 'self' data: https://*.b.example https://c.example/; frame-src https://d.example; object-src 'none'; base-uri https://e.example"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got, err := tc.csp.Policy(); err != nil || got != tc.want {
				t.Errorf("got  %s\nwant %s\nerror %v", got, tc.want, err)
			}
		})
	}
	for _, bad := range []string{"", "*", "https://*", "https:", "'unsafe-eval'", "data:", "https://a b", "https://a;script-src", "https://a,b", "https://a/b", "javascript:x", "https://a\n"} {
		if got, err := (&apps.CSP{ResourceDomains: []string{bad}}).Policy(); err == nil {
			t.Errorf("%q became %s", bad, got)
		}
	}
	if _, err := (&apps.CSP{FrameDomains: make([]string, 101)}).Policy(); err == nil || !strings.Contains(err.Error(), "at most 100") {
		t.Errorf("a long list: %v", err)
	}
}

// FuzzPolicy holds that no origin of a server can add a directive or a source to a policy.
func FuzzPolicy(f *testing.F) {
	f.Add("https://a.example")
	f.Add("https://a.example; script-src *")
	f.Fuzz(func(t *testing.T, o string) {
		policy, err := (&apps.CSP{ConnectDomains: []string{o}}).Policy()
		if err == nil && (strings.Count(policy, ";") != 9 || !strings.Contains(policy, "connect-src 'self' "+o+";") || strings.ContainsAny(o, " \t\r\n'\",")) {
			t.Errorf("%q became %s", o, policy)
		}
	})
}

func TestPanics(t *testing.T) {
	s := server.New(mcp.Implementation{Name: "x", Version: "1"}, server.Options{})
	html := func(context.Context, *server.Request) (string, error) { return page, nil }
	for name, f := range map[string]func(){
		"scheme":      func() { apps.AddResource(s, apps.Resource{URI: "https://x", Name: "x", HTML: page}) },
		"name":        func() { apps.AddResource(s, apps.Resource{URI: "ui://x", HTML: page}) },
		"nothing":     func() { apps.AddResource(s, apps.Resource{URI: "ui://x", Name: "x"}) },
		"both":        func() { apps.AddResource(s, apps.Resource{URI: "ui://x", Name: "x", HTML: page, Make: html}) },
		"no document": func() { apps.AddResource(s, apps.Resource{URI: "ui://x", Name: "x", HTML: "<!-- <!doctype html>"}) },
		"no origin": func() {
			apps.AddResource(s, apps.Resource{URI: "ui://x", Name: "x", HTML: page, UI: apps.ResourceMeta{CSP: &apps.CSP{FrameDomains: []string{"*"}}}})
		},
		"link":         func() { apps.Link(mcp.Tool{Name: "t"}, apps.ToolMeta{ResourceURI: "x"}) },
		"link to whom": func() { apps.Link(mcp.Tool{Name: "t"}, apps.ToolMeta{Visibility: []string{"user"}}) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("it was taken")
				}
			}()
			f()
		})
	}
}
