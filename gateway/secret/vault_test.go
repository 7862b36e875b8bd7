package secret

import (
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rialto-mcp/rialto/manager"
)

const vaultToken = "hvs.token-of-the-test"

// fakeVault is a Vault with an engine of each version. It notes what it is asked for.
type fakeVault struct {
	mu    sync.Mutex
	asked []string
	with  http.Header // of the last request
	old   bool        // it does not know the question for mounts
}

func (v *fakeVault) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v.mu.Lock()
	v.asked, v.with = append(v.asked, r.URL.EscapedPath()), r.Header
	v.mu.Unlock()
	mounts := "/v1/sys/internal/ui/mounts/"
	path, answer := r.URL.Path, ""
	switch {
	case r.Header.Get("X-Vault-Token") != vaultToken:
		w.WriteHeader(http.StatusForbidden)
		answer = `{"errors":["permission denied for ` + r.Header.Get("X-Vault-Token") + `"]}`
	case strings.HasPrefix(path, mounts) && v.old:
		w.WriteHeader(http.StatusNotFound)
	case strings.HasPrefix(path, mounts+"kv/"):
		answer = `{"data":{"path":"kv/","type":"kv","options":{"version":"2"}}}`
	case strings.HasPrefix(path, mounts+"team/old/"):
		answer = `{"data":{"path":"team/old/","type":"kv","options":{"version":"1"}}}`
	case strings.HasPrefix(path, mounts+"plain/"):
		answer = `{"data":{"path":"plain/","type":"kv","options":null}}`
	case strings.HasPrefix(path, mounts+"pki/"):
		answer = `{"data":{"path":"pki/","type":"pki"}}`
	case strings.HasPrefix(path, mounts+"elsewhere/"):
		answer = `{"data":{"path":"kv/","type":"kv"}}`
	case strings.HasPrefix(path, mounts):
		w.WriteHeader(http.StatusForbidden)
	case path == "/v1/kv/data/dev/db":
		answer = `{"data":{"data":{"password":"hush","a#b":"odd","port":5432,"big":9007199254740993,"on":true,"none":null,"list":["x"],"object":{},"empty":"","zero":"a\u0000"},"metadata":{"version":3}}}`
	case path == "/v1/kv/data/a b/ü":
		answer = `{"data":{"data":{"k":"spaced"}}}`
	case path == "/v1/kv/data/deleted":
		w.WriteHeader(http.StatusNotFound)
		answer = `{"data":{"data":null,"metadata":{"deletion_time":"2026-01-01T00:00:00Z"}}}`
	case path == "/v1/team/old/db", path == "/v1/plain/db":
		answer = `{"data":{"password":"hush of version 1"}}`
	default:
		w.WriteHeader(http.StatusNotFound)
	}
	_, _ = io.WriteString(w, answer)
}

// vaultAt gives a way to ask the Vault at an address.
func vaultAt(address string, more ...string) manager.SecretFunc {
	env := map[string]string{"VAULT_ADDR": address, "VAULT_TOKEN": vaultToken}
	for i := 0; i < len(more); i += 2 {
		env[more[i]] = more[i+1]
	}
	return Stores(Options{Lookup: func(name string) (string, bool) { value, ok := env[name]; return value, ok }})["vault"]
}

func TestVault(t *testing.T) {
	for _, tc := range []struct{ ref, want, fault string }{
		{"kv/dev/db#password", "hush", ""}, {"/kv/dev/db/#password", "hush", ""}, {"kv/dev/db#a#b", "odd", ""},
		{"kv/dev/db#port", "5432", ""}, {"kv/dev/db#big", "9007199254740993", ""}, {"kv/dev/db#on", "true", ""},
		{"kv/a b/ü#k", "spaced", ""},
		{"team/old/db#password", "hush of version 1", ""}, {"plain/db#password", "hush of version 1", ""},
		{"kv/dev/db", "", "the key is missing; write ${vault:MOUNT/PATH#KEY}"}, {"kv/dev/db#", "", "the key is missing; write ${vault:MOUNT/PATH#KEY}"},
		{"kv#k", "", "this is no path in Vault; write ${vault:MOUNT/PATH#KEY}, such as ${vault:kv/dev/db#password}"},
		{"kv//db#k", "", "this is no path in Vault; write ${vault:MOUNT/PATH#KEY}, such as ${vault:kv/dev/db#password}"},
		{"kv/../sys/raw#k", "", "a path in Vault has no steps . and ..; write it out"},
		{"kv/dev/db#pass", "", "the secret has no such key; vault kv get shows those that it has"},
		{"kv/dev/db#none", "", "the key holds null; write a text into it"},
		{"kv/dev/db#list", "", "the key holds an object or a list; name one that holds a text"},
		{"kv/dev/db#object", "", "the key holds an object or a list; name one that holds a text"},
		{"kv/dev/db#empty", "", "the key holds an empty text; write the secret into it"},
		{"kv/dev/db#zero", "", "the key holds what is not UTF-8 text; write a text into it"},
		{"kv/gone#k", "", "there is no secret at this path, or its last version was deleted; vault kv list shows what there is"},
		{"kv/deleted#k", "", "there is no secret at this path, or its last version was deleted; vault kv list shows what there is"},
		{"other/db#k", "", statusError(403).Error()},
		{"pki/cert#k", "", "the engine for this path keeps no keys and values; name one of the type kv"},
		{"elsewhere/db#k", "", "the Vault has no engine for this path; vault secrets list shows those that there are"},
		{"kv/dev/db?x=1#password", "", "there is no secret at this path, or its last version was deleted; vault kv list shows what there is"},
	} {
		ts := httptest.NewServer(&fakeVault{})
		got, err := vaultAt(ts.URL+"/")(t.Context(), tc.ref)
		ts.Close()
		if got != tc.want || fmt.Sprint(err) != fault(tc.fault) {
			t.Errorf("%s: got %q, %v", tc.ref, got, err)
		}
	}
}

// TestVaultIsAskedOnce for a secret, whatever keys of it are wanted, and as whoever is named.
func TestVaultIsAskedOnce(t *testing.T) {
	v := &fakeVault{}
	ts := httptest.NewServer(v)
	defer ts.Close()
	get := vaultAt(ts.URL, "VAULT_NAMESPACE", "team/a")
	var asking sync.WaitGroup
	for _, key := range []string{"password", "port", "on", "password"} {
		asking.Go(func() {
			if _, err := get(t.Context(), "kv/dev/db#"+key); err != nil {
				t.Error(err)
			}
		})
	}
	asking.Wait()
	if got := strings.Join(v.asked, " "); got != "/v1/sys/internal/ui/mounts/kv/dev/db /v1/kv/data/dev/db" {
		t.Errorf("asked for %s", got)
	}
	if v.with.Get("X-Vault-Namespace") != "team/a" || v.with.Get("X-Vault-Request") != "true" {
		t.Errorf("asked with %v", v.with)
	}
	old := httptest.NewServer(&fakeVault{old: true})
	defer old.Close()
	if got, err := vaultAt(old.URL)(t.Context(), "plain/db#password"); got != "hush of version 1" || err != nil {
		t.Errorf("an old Vault: got %q, %v", got, err)
	}
}

// TestHostileVault: whatever answers, there is an error in time that does not tell the token.
func TestHostileVault(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the token went elsewhere: %v", r.Header)
	}))
	defer elsewhere.Close()
	say := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }
	}
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(code)
			_, _ = io.WriteString(w, `{"errors":["`+r.Header.Get("X-Vault-Token")+`"]}`)
		}
	}
	const notVault = "what answers is not Vault; see that VAULT_ADDR leads to it"
	for name, tc := range map[string]struct {
		handler http.HandlerFunc
		fault   string
	}{
		"a page":     {say("<html>welcome</html>"), notVault},
		"nothing":    {say(""), notVault},
		"other JSON": {say(`{"data": 7}`), notVault},
		"a list":     {say(`[]`), notVault},
		"no mount":   {say(`{}`), "the Vault has no engine for this path; vault secrets list shows those that there are"},
		"huge":       {say(`{"data": "` + strings.Repeat("x", largestAnswer) + `"}`), "the Vault has answered with more than 1 MiB; see that VAULT_ADDR leads to it"},
		"redirected": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL+r.URL.Path, http.StatusTemporaryRedirect)
		}, errElsewhere.Error()},
		"in a circle": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.Path, http.StatusTemporaryRedirect)
		}, "the Vault sends from one address to the next without an end; see that VAULT_ADDR is right"},
		"sealed":     {status(503), statusError(503).Error()},
		"busy":       {status(429), statusError(429).Error()},
		"refused":    {status(403), statusError(403).Error()},
		"broken":     {status(500), statusError(500).Error()},
		"a bad path": {status(400), statusError(400).Error()},
		"not HTTP": {func(w http.ResponseWriter, r *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_, _ = io.WriteString(conn, r.Header.Get("X-Vault-Token")+"\r\n\r\n")
				_ = conn.Close()
			}
		}, `the Vault cannot be reached: net/http: HTTP/1.x transport connection broken: malformed HTTP response "***"; see that it runs and that VAULT_ADDR leads to it`},
	} {
		ts := httptest.NewServer(tc.handler)
		got, err := vaultAt(ts.URL)(t.Context(), "kv/dev/db#password")
		ts.Close()
		if got != "" || !strings.Contains(fmt.Sprint(err), tc.fault) || strings.Contains(fmt.Sprint(err), vaultToken) {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
}

// TestSlowVault ends with its reader, and says what may be wrong.
func TestSlowVault(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	ts := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	}))
	defer ts.Close()
	if _, err := vaultAt(ts.URL)(ctx, "kv/dev/db#password"); err == nil || !strings.Contains(err.Error(), "the Vault cannot be reached: context canceled") {
		t.Errorf("got %v", err)
	}
	c, err := openVault(Options{Lookup: func(name string) (string, bool) {
		return map[string]string{"VAULT_ADDR": ts.URL, "VAULT_TOKEN": "t"}[name], true
	}}.withDefaults())
	if err != nil || c.http.Timeout != longestAnswer {
		t.Errorf("got %v, %v", c, err)
	}
}

func TestVaultOverTLS(t *testing.T) {
	ts := httptest.NewUnstartedServer(&fakeVault{})
	ts.Config.ErrorLog = nil
	ts.StartTLS()
	defer ts.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ts.Certificate().Raw}), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := vaultAt(ts.URL, "VAULT_CACERT", file)(t.Context(), "kv/dev/db#password"); got != "hush" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := vaultAt(ts.URL)(t.Context(), "kv/dev/db#password"); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("a certificate that nobody knows: %v", err)
	}
}

func TestWhereVaultIs(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{"token": vaultToken + "\n", "empty": "", "none.pem": "x"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := "http://" + l.Addr().String()
	_ = l.Close()
	ts := httptest.NewServer(&fakeVault{})
	defer ts.Close()
	const address = "VAULT_ADDR must be an address such as https://vault.example:8200"
	for _, tc := range []struct {
		name           string
		env            map[string]string
		fault, warning string
	}{
		{"a file", map[string]string{"VAULT_ADDR": ts.URL, "VAULT_TOKEN_FILE": "token"}, "", ""},
		{"nowhere", nil, "where Vault is has to be said; set VAULT_ADDR, to https://vault.example:8200 for example", ""},
		{"nobody", map[string]string{"VAULT_ADDR": ts.URL}, "the Vault has to know who asks; set VAULT_TOKEN, or VAULT_TOKEN_FILE to the path of a file with the token", ""},
		{"no address", map[string]string{"VAULT_ADDR": "vault:8200"}, address, ""},
		{"another scheme", map[string]string{"VAULT_ADDR": "ftp://h"}, address, ""},
		{"a password", map[string]string{"VAULT_ADDR": "https://a:hush@h"}, address, ""},
		{"no file", map[string]string{"VAULT_ADDR": ts.URL, "VAULT_TOKEN_FILE": "gone"}, "VAULT_TOKEN_FILE: there is no such file; a relative path begins where the configuration is", ""},
		{"an empty file", map[string]string{"VAULT_ADDR": ts.URL, "VAULT_TOKEN_FILE": "empty"}, "VAULT_TOKEN_FILE: the file is empty; write the secret into it", ""},
		{"a broken token", map[string]string{"VAULT_ADDR": ts.URL, "VAULT_TOKEN": "hush\nhush"}, "VAULT_TOKEN and VAULT_NAMESPACE must be of printable characters without spaces; see that they were copied as a whole, and nothing else with them", ""},
		{"no certificate", map[string]string{"VAULT_ADDR": ts.URL, "VAULT_TOKEN": "t", "VAULT_CACERT": "none.pem"}, "VAULT_CACERT: the file holds no certificate; name one in the PEM form", ""},
		{"refused", map[string]string{"VAULT_ADDR": ts.URL, "VAULT_TOKEN": "hush"}, statusError(403).Error(), ""},
		{"closed", map[string]string{"VAULT_ADDR": closed, "VAULT_TOKEN": "hush"}, "the Vault cannot be reached: dial tcp", ""},
		{"in the open", map[string]string{"VAULT_ADDR": "http://vault.invalid", "VAULT_TOKEN": "hush"}, "the Vault cannot be reached", "VAULT_ADDR begins with http://"},
	} {
		warned := ""
		get := Stores(Options{Folder: folder, Warn: func(text string) { warned += text }, Lookup: func(name string) (string, bool) { value, ok := tc.env[name]; return value, ok }})["vault"]
		got, err := get(t.Context(), "kv/dev/db#password")
		if (got == "hush") != (tc.fault == "") || !strings.Contains(fmt.Sprint(err), tc.fault) && tc.fault != "" || err != nil && strings.Contains(err.Error(), "hush") || !strings.HasPrefix(warned, tc.warning) || (warned == "") != (tc.warning == "") {
			t.Errorf("%s: got %q, %v, warned %q", tc.name, got, err, warned)
		}
	}
}

// FuzzVault takes any answer, and gives a text or an error.
func FuzzVault(f *testing.F) {
	for _, seed := range []string{`{"data":{"path":"kv/","options":{"version":"2"},"data":{"k":"v"}}}`, `{"data":{"k":"v"}}`, `{"data":{"path":"kv"}}`, `{`, `null`, `{"data":{"path":"kv/","data":{"k":{}}}}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		get := (&vault{secrets: make(map[string]*vaultSecret), open: func() (*vaultClient, error) {
			c, err := openVault(Options{Lookup: func(name string) (string, bool) {
				return map[string]string{"VAULT_ADDR": "http://127.0.0.1:1", "VAULT_TOKEN": "t"}[name], true
			}}.withDefaults())
			if c != nil {
				c.http.Transport = answering(body)
			}
			return c, err
		}}).get
		if got, err := get(t.Context(), "kv/a#k"); (got == "") != (err != nil) {
			t.Errorf("got %q, %v", got, err)
		}
	})
}

// answering is a wire where every request has this answer.
type answering string

func (a answering) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(string(a))), Request: r}, nil
}
