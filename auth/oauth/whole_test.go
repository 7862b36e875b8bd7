package oauth_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/auth"
	"github.com/rialto-mcp/rialto/auth/oauth"
	"github.com/rialto-mcp/rialto/client"
)

// agree is a browser whose person agrees to everything.
func agree(ctx context.Context, page string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, page, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req) // follows the way back to the program
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

// TestWholeWay goes the whole way, from the client's door to a guarded server's tool and back, in both eras: a login, a
// wider one, and a refresh.
func TestWholeWay(t *testing.T) {
	for _, era := range []struct {
		name string
		mode client.Mode
	}{{"legacy", client.Legacy}, {"modern", client.Modern}} {
		for _, c := range []struct {
			name string
			dpop *auth.DPoPOptions
		}{
			{"bearer", nil},
			{"both schemes", &auth.DPoPOptions{}},
			{"proofs", &auth.DPoPOptions{Required: true}},
			{"proofs with nonces", &auth.DPoPOptions{Required: true, NonceKey: bytes.Repeat([]byte("k"), 32)}},
		} {
			t.Run(era.name+" "+c.name, func(t *testing.T) {
				o := openOffice(c.dpop)
				t.Cleanup(o.close)
				a, err := oauth.New(o.address, oauth.Options{Flow: oauth.Browser{Open: agree}})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { a.Close() })
				conn, err := client.DialHTTP(t.Context(), o.address, client.Options{HTTPClient: a.Client(), Mode: era.mode})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { conn.Close() })
				for _, tool := range []string{"read", "write", "read"} {
					result, err := conn.CallTool(t.Context(), tool, nil)
					if err != nil || result.IsError {
						t.Fatalf("%s: %v, %v", tool, result, err)
					}
				}
				o.revoke()
				if result, err := conn.CallTool(t.Context(), "write", nil); err != nil || result.Text() != "written" {
					t.Fatalf("after all tokens were revoked: %v, %v", result, err)
				}
				if got := o.granted(); got != "authorization_code authorization_code refresh_token" {
					t.Errorf("grants %s", got)
				}
			})
		}
	}
}

// TestWholeWayOfAProgram is the same for a program with credentials: a token, and one for more when a tool needs it.
func TestWholeWayOfAProgram(t *testing.T) {
	for name, dpop := range map[string]*auth.DPoPOptions{
		"bearer": nil, "proofs": {Required: true}, "proofs with nonces": {Required: true, NonceKey: bytes.Repeat([]byte("k"), 32)},
	} {
		t.Run(name, func(t *testing.T) {
			o := openOffice(dpop)
			t.Cleanup(o.close)
			a, err := oauth.New(o.address, oauth.Options{
				Flow: oauth.ClientCredentials{}, Credentials: []oauth.Credentials{{Issuer: o.login, ClientID: "robot", Secret: "kept"}},
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { a.Close() })
			conn, err := client.DialHTTP(t.Context(), o.address, client.Options{HTTPClient: a.Client()})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { conn.Close() })
			for tool, want := range map[string]string{"read": "notes of Ada", "write": "written"} {
				if result, err := conn.CallTool(t.Context(), tool, nil); err != nil || result.Text() != want {
					t.Errorf("%s: %v, %v", tool, result, err)
				}
			}
			if got := o.granted(); got != "client_credentials client_credentials" {
				t.Errorf("grants %s", got)
			}
		})
	}
}

// TestDialWithoutToken holds that a dial which gets no token fails once, with what is missing, and not as a question of eras.
func TestDialWithoutToken(t *testing.T) {
	o := openOffice(nil)
	t.Cleanup(o.close)
	a, err := oauth.New(o.address, oauth.Options{Flow: oauth.Stored{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	began := time.Now()
	_, err = client.DialHTTP(t.Context(), o.address, client.Options{HTTPClient: a.Client()})
	var of *oauth.Error
	if !errors.As(err, &of) || !errors.Is(err, client.ErrUnauthorized) || !errors.Is(err, oauth.ErrLoginNeeded) {
		t.Errorf("error %v", err)
	}
	if strings.Contains(err.Error(), "could not be reached") {
		t.Errorf("%v blames the network", err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
}
