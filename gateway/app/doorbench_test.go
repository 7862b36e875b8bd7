package app

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/gateway/config"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/transport/streamhttp"
)

// BenchmarkDoor is what a token costs: calls of a server over HTTP through the door of the gateway, without a lock, with a token
// of the file, and with signed ones. What the ratio of two of them is counts, not how long one takes.
func BenchmarkDoor(b *testing.B) {
	login := startLogin(b)
	secret, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		b.Fatal(err)
	}
	rs := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		sendJSON(w, map[string]any{"keys": []any{map[string]any{
			"kty": "RSA", "kid": "k1", "n": encode(secret.N.Bytes()), "e": encode(big.NewInt(int64(secret.E)).Bytes()),
		}}})
	}))
	b.Cleanup(rs.Close)
	const other = "https://rs.example"
	text := encode(toJSON(b, map[string]any{"alg": "RS256", "typ": "at+jwt", "kid": "k1"})) + "." + encode(toJSON(b, login.claims(map[string]any{"iss": other})))
	sum := sha256.Sum256([]byte(text))
	mac, err := rsa.SignPKCS1v15(rand.Reader, secret, crypto.SHA256, sum[:])
	if err != nil {
		b.Fatal(err)
	}
	auth := &config.Auth{
		Resource: resource, DPoP: config.DPoPOff, Tokens: []config.Token{{Name: "ann", Digest: sha256.Sum256([]byte(annsToken))}},
		Issuers: []config.Issuer{{URL: login.url}, {URL: other, JWKSURL: rs.URL}},
	}
	s := server.New(mcp.Implementation{Name: "bench", Version: "1"}, server.Options{})
	server.AddTool(s, mcp.Tool{Name: "greet"}, func(context.Context, *server.Request, struct{}) (string, error) { return "hello", nil })
	b.Cleanup(func() {
		if err := s.Shutdown(context.Background()); err != nil {
			b.Error(err)
		}
	})
	for _, c := range []struct {
		name, token string
		auth        *config.Auth
	}{{"open", "", nil}, {"file", annsToken, auth}, {"ES256", login.token(b, nil), auth}, {"RS256", text + "." + encode(mac), auth}} {
		d := newDoor(streamhttp.NewGuard(nil, nil), &refusals{line: b.Logf})
		conf := config.Default()
		conf.Auth = c.auth
		l, err := d.fit(conf, false)
		if err != nil {
			b.Fatal(err)
		}
		d.lock.Store(l)
		web := httptest.NewUnstartedServer(d.guard(atEndpoint, s.Handler()))
		web.Config.ConnContext = withSender
		web.Start()
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				call(b, web.URL+"/mcp", c.token)
			}
		})
		web.Close()
	}
}

const benched = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet","arguments":{},` + modernMeta + `}}`

func call(b *testing.B, url, token string) {
	req, err := http.NewRequestWithContext(b.Context(), "POST", url, strings.NewReader(benched))
	if err != nil {
		b.Fatal(err)
	}
	req.Header = http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
		"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {"greet"},
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	raw, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != 200 {
		b.Fatalf("%d %s %v", res.StatusCode, raw, err)
	}
	if err := res.Body.Close(); err != nil {
		b.Fatal(err)
	}
}
