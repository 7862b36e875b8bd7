package oauth

import (
	"context"
	"testing"
)

func TestWhatIsNoOption(t *testing.T) {
	flow := Redirect{URL: "https://harbour.test/back", Visit: func(context.Context, string) (string, error) { return "", nil }}
	for name, c := range map[string]struct {
		server string
		opts   Options
	}{
		"no address":            {"mcp.test", Options{Flow: flow}},
		"http":                  {"http://mcp.test/mcp", Options{Flow: flow}},
		"no flow":               {"https://mcp.test", Options{}},
		"no visit":              {"https://mcp.test", Options{Flow: Redirect{URL: "https://x.test"}}},
		"redirect to http":      {"https://mcp.test", Options{Flow: Redirect{URL: "http://harbour.test/", Visit: flow.Visit}}},
		"document without path": {"https://mcp.test", Options{Flow: flow, ClientMetadataURL: "https://harbour.test/"}},
		"document over http":    {"https://mcp.test", Options{Flow: flow, ClientMetadataURL: "http://harbour.test/x"}},
		"no client id":          {"https://mcp.test", Options{Flow: flow, Credentials: []Credentials{{Secret: "x"}}}},
		"basic without secret":  {"https://mcp.test", Options{Flow: flow, Credentials: []Credentials{{ClientID: "x", Method: MethodBasic}}}},
		"unknown method":        {"https://mcp.test", Options{Flow: flow, Credentials: []Credentials{{ClientID: "x", Method: "magic"}}}},
		"no credentials":        {"https://mcp.test", Options{Flow: ClientCredentials{}}},
		"no assertion":          {"https://mcp.test", Options{Flow: Workload{}}},
		"no identity":           {"https://mcp.test", Options{Flow: Enterprise{}}},
		"provider over http":    {"https://mcp.test", Options{Flow: Enterprise{Provider: "http://idp.test", Client: Credentials{ClientID: "x"}, Identity: func(context.Context) (string, error) { return "", nil }}}},
		"nothing to show":       {"https://mcp.test", Options{Flow: Device{}}},
		"no port":               {"https://mcp.test", Options{Flow: Browser{Port: 70000}}},
		"no path":               {"https://mcp.test", Options{Flow: Browser{Path: "callback"}}},
	} {
		if a, err := New(c.server, c.opts); err == nil {
			a.Close()
			t.Errorf("%s: no error", name)
		}
	}
	a, err := New("http://mcp.test/mcp", Options{Flow: flow, PlainHTTP: true})
	if err != nil {
		t.Fatal(err)
	}
	a.Close()
}
