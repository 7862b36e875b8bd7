package bridge_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/apps"
	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/bridge"
	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/skills"
)

var vendorExtension = mcp.Extension{Identifier: "com.example/x", Settings: json.RawMessage(`{"n":1.0}`)}

// telling registers a tool that says which extensions its client has declared.
func telling(s *server.Server) {
	server.AddTool(s, mcp.Tool{Name: "tell"}, func(_ context.Context, req *server.Request, _ noInput) (string, error) {
		_, capabilities := req.Envelope()
		raw, _ := mcp.Member(capabilities, "extensions")
		return string(raw), nil
	})
}

// TestExtensionsOfClients holds which declarations of a client reach a server: pages of apps, and what the rules name; nothing
// that the gateway does not know. A legacy server is told at its handshake what can be passed on to clients.
func TestExtensionsOfClients(t *testing.T) {
	const ui = `"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}`
	for name, rules := range map[string]bridge.Rules{"": {}, ", named": {Extensions: []string{"com.example/x"}}} {
		for _, http := range []bool{false, true} {
			t.Run(map[bool]string{false: "pipe", true: "http"}[http]+name, func(t *testing.T) {
				pairings(t, func(t *testing.T, modern, upModern bool) {
					w := newWorldWith(t, bridge.Options{Rules: rules}, backend{name: "a", modern: upModern, http: http, fill: telling})
					dial := w.dial
					if http {
						dial = w.dialHTTP
					}
					tell := func(extensions ...mcp.Extension) string {
						result, err := dial(t, modern, client.Options{Extensions: extensions}).CallTool(t.Context(), "tell", nil)
						if err != nil {
							t.Fatal(err)
						}
						return result.Text()
					}
					none, all := "", "{"+ui+"}"
					if !upModern { // once for all clients: pages, and tasks, which the gateway waits for itself where it must
						all = `{"io.modelcontextprotocol/tasks":{},` + ui + `}`
						none = all
					} else if rules.Extensions != nil {
						all = `{"com.example/x":{"n":1.0},` + ui + `}`
					}
					if got := tell(); got != none {
						t.Errorf("of a client without extensions it knows %s, want %s", got, none)
					}
					if got := tell(vendorExtension, apps.Host()); got != all {
						t.Errorf("of a client with extensions it knows %s, want %s", got, all)
					}
				})
			})
		}
	}
}

// TestExtensionsOfServers holds what a client is told: the extensions that a server has at the moment and that are passed on, with
// its settings. A legacy client is told of none.
func TestExtensionsOfServers(t *testing.T) {
	tasks := `"io.modelcontextprotocol/tasks":{}`
	for _, tc := range []struct {
		name    string
		rules   bridge.Rules
		servers [2][]mcp.Extension
		want    string
	}{
		{"none", bridge.Rules{}, [2][]mcp.Extension{}, `{` + tasks + `}`},
		{"pages", bridge.Rules{}, [2][]mcp.Extension{{}, {apps.Extension()}}, `{` + tasks + `,"io.modelcontextprotocol/ui":{}}`},
		{"skills of one", bridge.Rules{}, [2][]mcp.Extension{{skills.Extension()}, {}}, `{"io.modelcontextprotocol/skills":{"directoryRead":true},` + tasks + `}`},
		{"skills of two, one without folders", bridge.Rules{}, [2][]mcp.Extension{
			{{Identifier: skills.Identifier, ServerOnly: true, Settings: json.RawMessage(`{"x":1}`)}}, {skills.Extension()},
		}, `{"io.modelcontextprotocol/skills":{"x":1,"directoryRead":true},` + tasks + `}`},
		{"one that is not known", bridge.Rules{}, [2][]mcp.Extension{{vendorExtension}, {}}, `{` + tasks + `}`},
		{"one that the rules name", bridge.Rules{Extensions: []string{"com.example/x"}}, [2][]mcp.Extension{{vendorExtension}, {}}, `{"com.example/x":{"n":1.0},` + tasks + `}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorldWith(t, bridge.Options{Rules: tc.rules},
				backend{name: "a", modern: true, opts: server.Options{Extensions: tc.servers[0]}, fill: telling},
				backend{name: "b", modern: true, opts: server.Options{Extensions: tc.servers[1]}, fill: telling})
			for _, dial := range []func(*testing.T, bool, client.Options) *client.Client{w.dial, w.dialHTTP} {
				for _, modern := range []bool{false, true} {
					got, err := json.Marshal(dial(t, modern, client.Options{}).ServerCapabilities().Extensions)
					if want := map[bool]string{true: tc.want, false: "null"}[modern]; err != nil || string(got) != want {
						t.Errorf("modern %v: a client is told %s, want %s", modern, got, want)
					}
				}
			}
		})
	}
}

// TestExtensionsComeAndGo holds that what is declared follows the servers.
func TestExtensionsComeAndGo(t *testing.T) {
	w := newWorld(t, route.Naming{},
		backend{name: "a", modern: true, fill: telling},
		backend{name: "b", modern: true, opts: server.Options{Extensions: []mcp.Extension{apps.Extension(), skills.Extension()}}, fill: telling})
	declares := func(identifier string) bool {
		_, ok := w.dial(t, true, client.Options{}).ServerCapabilities().Extensions[identifier]
		return ok
	}
	if !declares(apps.Identifier) || !declares(skills.Identifier) {
		t.Error("what b has is not declared")
	}
	w.reload(t, route.Naming{}, "a")
	if declares(apps.Identifier) || declares(skills.Identifier) {
		t.Error("without b it is declared all the same")
	}
	c := w.dial(t, true, client.Options{})
	for _, method := range []string{skills.MethodList, skills.MethodGet, skills.MethodReadDirectory} {
		if f := fault(t, c, method, `{"uri":"skill://x"}`); f.Code != mcp.CodeMethodNotFound {
			t.Errorf("%s without a server that has skills: %v", method, f)
		}
	}
	if names := toolNames(t, c); !slices.Contains(names, "tell") || strings.Contains(strings.Join(names, " "), "__") {
		t.Errorf("the tools are %v", names)
	}
}
