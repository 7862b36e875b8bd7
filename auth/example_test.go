package auth_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rialto-mcp/rialto/auth"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// show plays a client: it calls a tool with a token and prints status, challenge and text of the answer.
func show(h http.Handler, tool, token string) {
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `",` + meta + `}}`
	r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(body))
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool,
	} {
		r.Header.Set(name, value)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	fmt.Println(w.Code)
	for _, challenge := range w.Header().Values("WWW-Authenticate") {
		fmt.Println(" ", strings.ReplaceAll(challenge, ", ", ",\n    "))
	}
	if text, ok := strings.CutPrefix(w.Body.String(), `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":`); ok {
		text, _, _ = strings.Cut(text, "}]")
		fmt.Println(" ", text)
	}
}

// Keys that are handed out by hand protect a server without an authorization server.
func ExampleStaticTokens() {
	s := server.New(mcp.Implementation{Name: "weather", Version: "1.0.0"}, server.Options{})
	server.AddTool(s, mcp.Tool{Name: "hello"}, func(_ context.Context, req *server.Request, _ struct{}) (string, error) {
		return "hello, " + req.Principal().Subject, nil
	})

	// [static]
	guarded := auth.Bearer(auth.Options{
		Verifier: auth.StaticTokens(map[string]mcp.Principal{
			"a-long-random-key":     {Subject: "ann"},
			"another-of-bobs-phone": {Subject: "bob", ClientID: "phone"},
		}),
	})(s.Handler())
	// [end]

	show(guarded, "hello", "a-long-random-key")
	show(guarded, "hello", "")
	// Output:
	// 200
	//   "hello, ann"
	// 401
	//   Bearer
}

// A server whose users sign in at https://login.example.com, and which asks for more scopes where a tool writes.
func ExampleBearer() {
	s := server.New(mcp.Implementation{Name: "notes", Version: "1.0.0"}, server.Options{})
	for _, tool := range []string{"read_note", "write_note"} {
		server.AddTool(s, mcp.Tool{Name: tool}, func(_ context.Context, req *server.Request, _ struct{}) (string, error) {
			return req.Principal().Subject + " may " + req.Name(), nil
		})
	}
	tokens := verifierForExamples()

	// [bearer]
	opts := auth.Options{
		Resource:             "https://notes.example.com/mcp", // as clients write it
		AuthorizationServers: []string{"https://login.example.com"},
		Verifier:             tokens,
		Scopes:               []string{"notes:read"}, // for every request
		ScopesFor:            auth.ToolScopes(map[string][]string{"write_note": {"notes:write"}}),
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", auth.Bearer(opts)(s.Handler()))
	mux.Handle("/.well-known/", auth.Metadata(opts))
	// [end]

	show(mux, "read_note", "")
	show(mux, "read_note", "token-of-ann")
	show(mux, "write_note", "token-of-ann")
	// Output:
	// 401
	//   Bearer resource_metadata="https://notes.example.com/.well-known/oauth-protected-resource/mcp",
	//     scope="notes:read"
	// 200
	//   "ann may read_note"
	// 403
	//   Bearer resource_metadata="https://notes.example.com/.well-known/oauth-protected-resource/mcp",
	//     scope="notes:read notes:write",
	//     error="insufficient_scope",
	//     error_description="the access token does not grant what this request needs: notes:read notes:write"
}

// What a call needs may show in its arguments only.
func ExampleRequire() {
	s := server.New(mcp.Implementation{Name: "notes", Version: "1.0.0"}, server.Options{})
	type note struct {
		Folder string `json:"folder,omitempty"`
	}

	// [require]
	server.AddTool(s, mcp.Tool{Name: "read_note"}, func(ctx context.Context, _ *server.Request, in note) (string, error) {
		if in.Folder != "public" {
			if err := auth.Require(ctx, "notes:private"); err != nil {
				return "", err
			}
		}
		return "a note", nil
	})
	// [end]

	guarded := auth.Bearer(auth.Options{Resource: "https://notes.example.com/mcp", Verifier: verifierForExamples()})(s.Handler())
	show(guarded, "read_note", "token-of-ann")
	// Output:
	// 403
	//   Bearer scope="notes:private",
	//     error="insufficient_scope",
	//     error_description="the access token does not grant what this request needs: notes:private"
}

func ExampleMetadata() {
	opts := auth.Options{
		Resource: "https://notes.example.com/mcp", AuthorizationServers: []string{"https://login.example.com"},
		ScopesSupported: []string{"notes:read"}, Name: "Notes", Verifier: verifierForExamples(),
	}
	w := httptest.NewRecorder()
	auth.Metadata(opts).ServeHTTP(w, httptest.NewRequest(http.MethodGet, auth.MetadataPath+"/mcp", http.NoBody))
	doc := jsontext.Value(w.Body.Bytes())
	fmt.Println(w.Code, doc.Indent())
	fmt.Println(doc)
	// Output:
	// 200 <nil>
	// {
	// 	"resource": "https://notes.example.com/mcp",
	// 	"authorization_servers": [
	// 		"https://login.example.com"
	// 	],
	// 	"scopes_supported": [
	// 		"notes:read"
	// 	],
	// 	"bearer_methods_supported": [
	// 		"header"
	// 	],
	// 	"resource_name": "Notes"
	// }
}

// Signed tokens: the keys are found by the issuer's metadata when the first token comes.
func ExampleNewJWT() {
	// [jwt]
	tokens, err := auth.NewJWT(auth.JWTOptions{Issuer: "https://login.example.com"})
	// [end]
	fmt.Println(tokens != nil, err)

	_, err = auth.NewJWT(auth.JWTOptions{Issuer: "https://login.example.com", Algorithms: []string{"HS256"}})
	fmt.Println(err)
	// Output:
	// true <nil>
	// auth: "HS256" is no signature algorithm with public keys that is known here
}

// Tokens that mean nothing by themselves: the authorization server is asked about each.
func ExampleNewIntrospection() {
	login := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"active":%t,"sub":"ann","scope":"notes:read","aud":"https://notes.example.com/mcp"}`, r.FormValue("token") == "good")
	}))
	defer login.Close()

	// [introspection]
	tokens, err := auth.NewIntrospection(auth.IntrospectionOptions{
		URL: login.URL + "/introspect", Issuer: "https://login.example.com",
		ClientID: "notes-server", ClientSecret: "kept elsewhere",
		CacheFor: 10 * time.Second, // how long a revoked token may still work
	})
	// [end]
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, token := range []string{"good", "stolen"} {
		found, err := tokens.Verify(context.Background(), token)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(found.Principal.Subject, found.Principal.Scopes)
	}
	// Output:
	// ann [notes:read]
	// the access token is not, or no longer, good
}

// verifierForExamples knows one token.
func verifierForExamples() auth.Verifier {
	// [custom]
	return auth.VerifierFunc(func(_ context.Context, token string) (*auth.Token, error) {
		if token != "token-of-ann" { // ask your database
			return nil, auth.Invalidf("the access token is not known here")
		}
		return &auth.Token{
			Principal: mcp.Principal{Issuer: "https://login.example.com", Subject: "ann", Scopes: []string{"notes:read"}},
			Audience:  []string{"https://notes.example.com/mcp"},
		}, nil
	})
	// [end]
}
