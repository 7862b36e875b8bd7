package app

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/config"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// as dials as the owner of a token.
func as(t testing.TB, url, token string, mode client.Mode) *client.Client {
	t.Helper()
	c, err := client.DialHTTP(t.Context(), url, client.Options{Mode: mode, Headers: http.Header{"Authorization": {"Bearer " + token}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() }) // the gateway may be gone by then
	return c
}

// TestCallersWithTokens holds that clients of every era and wire get in with a token and not without one.
func TestCallersWithTokens(t *testing.T) {
	login := startLogin(t)
	up := startWatched(t, server.Options{})
	r := start(t, read(t, protected(`{"resource": "`+resource+`", "tokens": [{"name": "ann", "token": "`+annsToken+`"}], "jwt": {"issuer": "`+login.url+`"}}`, up.url)))
	defer r.end(t)
	r.err.wait(t, "watched: ready")
	for name, token := range map[string]string{"of the file": annsToken, "of the issuer": login.token(t, nil)} {
		for _, mode := range []client.Mode{client.Legacy, client.Modern, client.Auto} {
			result, err := as(t, r.url, token, mode).CallTool(t.Context(), "greet", nil)
			if err != nil || result.Text() != "hello" {
				t.Errorf("%s, %v: %v, %v", name, mode, result, err)
			}
		}
		old, err := client.DialSSE(t.Context(), r.base()+"/sse", client.Options{Headers: http.Header{"Authorization": {"Bearer " + token}}})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if result, err := old.CallTool(t.Context(), "greet", nil); err != nil || result.Text() != "hello" {
			t.Errorf("%s over HTTP+SSE: %v, %v", name, result, err)
		}
		if err := old.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, mode := range []client.Mode{client.Legacy, client.Modern, client.Auto} {
		if _, err := client.DialHTTP(t.Context(), r.url, client.Options{Mode: mode}); err == nil || !strings.Contains(err.Error(), "401") {
			t.Errorf("nobody, %v: %v", mode, err)
		}
	}
	if _, err := client.DialSSE(t.Context(), r.base()+"/sse", client.Options{}); err == nil || !strings.Contains(err.Error(), "401") {
		t.Errorf("nobody over HTTP+SSE: %v", err)
	}
}

// TestC089SessionsOfOthers holds that a session, its streams and where an oldest client posts belong to who opened them, not to
// who knows the id, and to every token of theirs.
func TestC089SessionsOfOthers(t *testing.T) {
	login := startLogin(t)
	up := startWatched(t, server.Options{})
	r := start(t, read(t, protected(strings.TrimSuffix(own, "}")+`, "resource": "`+resource+`", "jwt": {"issuer": "`+login.url+`"}}`, up.url)))
	defer r.end(t)
	r.err.wait(t, "watched: ready")
	issued := login.token(t, nil)
	for owner, tokens := range map[string]struct {
		token, fresh string
		others       []string
	}{
		"ann of the file":   {annsToken, annsToken, []string{bobsToken, issued}}, // the issuer knows an ann as well
		"ann of the issuer": {issued, login.token(t, map[string]any{"jti": "fresh"}), []string{annsToken, bobsToken, login.token(t, map[string]any{"sub": "bob"})}},
	} {
		hello := ask(t, "POST", r.url, helloLegacy, bearer(tokens.token)...)
		session := []string{"Mcp-Session-Id", hello.header.Get("Mcp-Session-Id")}
		stream := openSSE(t, r.base(), tokens.token)
		for i, other := range tokens.others {
			for _, method := range []string{"POST", "GET", "DELETE"} {
				if got := ask(t, method, r.url, greetLegacy, append(bearer(other), session...)...); got.status != http.StatusNotFound {
					t.Errorf("%s, other %d, %s: %v", owner, i, method, got)
				}
			}
			if got := ask(t, "POST", stream.messages, greetLegacy, bearer(other)...); got.status != http.StatusNotFound {
				t.Errorf("%s, other %d posts for a stream: %v", owner, i, got)
			}
		}
		if got := ask(t, "POST", r.url, greetLegacy, append(bearer(tokens.fresh), session...)...); got.status != http.StatusOK || !strings.Contains(got.body, "hello") {
			t.Errorf("%s with a token of their own: %v", owner, got)
		}
		if got := ask(t, "POST", stream.messages, helloLegacy, bearer(tokens.fresh)...); got.status != http.StatusAccepted || !strings.Contains(stream.next(), `"rialto"`) {
			t.Errorf("%s posts for a stream: %v", owner, got)
		}
	}
}

// sseStream is a stream of events, that of an oldest client say.
type sseStream struct {
	messages string // where an oldest client posts
	read     *bufio.Scanner
}

func openSSE(t testing.TB, base, token string) *sseStream {
	t.Helper()
	s := openStream(t, base+"/sse", bearer(token)...)
	s.messages = base + s.next()
	return s
}

// openStream opens the stream of a GET. headers are names and values by turns.
func openStream(t testing.TB, url string, headers ...string) *sseStream {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() }) // a stream has no end to be read to
	if res.StatusCode != http.StatusOK {
		t.Fatalf("%s answers %d", url, res.StatusCode)
	}
	return &sseStream{read: bufio.NewScanner(res.Body)}
}

// next returns the data of the next event, "" at the end.
func (s *sseStream) next() string {
	for s.read.Scan() {
		if data, ok := strings.CutPrefix(s.read.Text(), "data: "); ok && data != "" {
			return data
		}
	}
	return ""
}

// TestParkedCallsOfOthers holds that a call which waits for its client's answer is gone on with by that client alone: what it is
// called by is sealed to the principal. Both ways in which a call can wait are tried: kept by the gateway, for a legacy server,
// and in the state of a modern one.
func TestParkedCallsOfOthers(t *testing.T) {
	for name, versions := range map[string][]string{"kept here": mcp.LegacyVersions(), "in a state": mcp.ModernVersions()} {
		t.Run(name, func(t *testing.T) {
			up := startWatched(t, server.Options{Versions: versions})
			r := start(t, read(t, protected(own, up.url)))
			defer r.end(t)
			r.err.wait(t, "watched: ready")
			first := modern(t, r.url, "ask", "", bearer(annsToken)...)
			var result struct {
				Result struct {
					InputRequests map[string]json.RawMessage
					RequestState  string
				}
			}
			if err := json.Unmarshal([]byte(first.body), &result); err != nil || len(result.Result.InputRequests) != 1 {
				t.Fatalf("%v, %v", first, err)
			}
			answers := ""
			for key := range result.Result.InputRequests {
				answers = fmt.Sprintf(`"inputResponses":{%q:{"action":"accept","content":{"Name":"Ada"}}},"requestState":%q,`, key, result.Result.RequestState)
			}
			if got := modern(t, r.url, "ask", answers, bearer(bobsToken)...); !strings.Contains(got.body, `"code":-32602`) || strings.Contains(got.body, "Ada") {
				t.Errorf("bob goes on with it: %v", got)
			}
			if got := modern(t, r.url, "ask", answers); got.status != 401 {
				t.Errorf("nobody goes on with it: %v", got)
			}
			if got := modern(t, r.url, "ask", answers, bearer(annsToken)...); !strings.Contains(got.body, "hello Ada") {
				t.Errorf("ann goes on with it: %v", got)
			}
		})
	}
}

// TestC090TokensStayHere holds that what a client says of itself to the gateway reaches no server behind it.
func TestC090TokensStayHere(t *testing.T) {
	for name, versions := range map[string][]string{"a legacy server": mcp.LegacyVersions(), "a modern server": mcp.ModernVersions()} {
		t.Run(name, func(t *testing.T) {
			login := startLogin(t)
			up := startWatched(t, server.Options{Versions: versions})
			r := start(t, read(t, protected(strings.TrimSuffix(own, "}")+`, "resource": "`+resource+`", "jwt": {"issuer": "`+login.url+`"}}`, up.url)))
			defer r.end(t)
			r.err.wait(t, "watched: ready")
			issued := login.token(t, nil)
			for _, token := range []string{annsToken, issued} {
				secrets := append(bearer(token), "Cookie", "hush=1", "X-Api-Key", "hush", "Proxy-Authorization", "Basic hush", "DPoP", "hush")
				if got := modern(t, r.url, "greet", "", secrets...); got.status != 200 {
					t.Errorf("modern: %v", got)
				}
				hello := ask(t, "POST", r.url, helloLegacy, secrets...)
				if got := ask(t, "POST", r.url, greetLegacy, append(secrets, "Mcp-Session-Id", hello.header.Get("Mcp-Session-Id"))...); got.status != 200 {
					t.Errorf("legacy: %v", got)
				}
			}
			seen := strings.ToLower(up.all())
			if !strings.Contains(seen, "greet") {
				t.Fatalf("nothing arrived:\n%s", seen)
			}
			for _, hidden := range []string{"authorization", "cookie", "x-api-key", "dpop", "hush", annsToken, issued[:30], issued[len(issued)-30:]} {
				if strings.Contains(seen, strings.ToLower(hidden)) {
					t.Errorf("%q arrived:\n%s", hidden, seen)
				}
			}
		})
	}
}

// TestVariablesOfTokensStayHere holds that a variable which holds the token of a caller is none that servers see which are started:
// those have what their entries name.
func TestVariablesOfTokensStayHere(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("needs a shell to see what a process is given")
	}
	t.Setenv("RIALTO_TEST_TOKEN", annsToken)
	seen := filepath.Join(t.TempDir(), "seen")
	conf, err := config.Read(strings.NewReader(`{"gateway": {"auth": {"tokens": [{"name": "ann", "token": "${RIALTO_TEST_TOKEN}"}]}},
		"mcpServers": {"child": {"command": "sh", "args": ["-c", "{ env; echo $0 $@; } >`+seen+`"], "env": {"NAMED": "here"}}}}`), "mcp.json", config.Options{Lookup: os.LookupEnv})
	check(t, err)
	r := start(t, conf)
	defer r.end(t)
	r.err.wait(t, "child: failed")
	if got := ask(t, "POST", r.url, helloLegacy, bearer(annsToken)...); got.status != 200 {
		t.Errorf("ann: %v", got)
	}
	env, err := os.ReadFile(seen)
	if err != nil || !strings.Contains(string(env), "NAMED=here") || strings.Contains(string(env), annsToken) || strings.Contains(string(env), "RIALTO_TEST_TOKEN") {
		t.Errorf("the child sees, %v:\n%s", err, env)
	}
}
