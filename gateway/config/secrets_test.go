package config

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rialto-mcp/rialto/gateway/secret"
)

// TestSecretsOfTheSection puts in what stores hold wherever the section has variables. The Vault is asked once for its secret, also
// where entries refer to it too.
func TestSecretsOfTheSection(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{"ann": "token-of-ann-0123456789\n", "key": strings.Repeat("k", 40)} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var asked atomic.Int32
	vault := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1); strings.Contains(r.URL.Path, "/mounts/") {
			_, _ = io.WriteString(w, `{"data":{"path":"kv/","options":{"version":"2"}}}`)
			return
		}
		_, _ = io.WriteString(w, `{"data":{"data":{"bob":"token-of-bob-0123456789","key":"hush"}}}`)
	}))
	defer vault.Close()
	env := map[string]string{"VAULT_ADDR": vault.URL, "VAULT_TOKEN": "t", "STAGE": "dev"}
	lookup := func(name string) (string, bool) { value, ok := env[name]; return value, ok }
	const file = `{"gateway": {"stateKeys": ["${file:key}"], "auth": {"tokens": [
		{"name": "ann", "token": "${file:ann}"}, {"name": "bob", "token": "${vault:kv/${STAGE}#bob}"}]}},
		"mcpServers": {"a": {"url": "https://a.example", "headers": {"X-Key": "${vault:kv/dev#key}"}}}}`
	path := filepath.Join(folder, "mcp.json")
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := ReadFile(path, Options{Lookup: lookup, Stores: &secret.Options{Lookup: lookup}})
	if err != nil {
		t.Fatal(err)
	}
	written, err := Read(strings.NewReader(strings.NewReplacer("${file:ann}", "token-of-ann-0123456789", "${vault:kv/${STAGE}#bob}", "token-of-bob-0123456789", "${file:key}", strings.Repeat("k", 40)).Replace(file)), "f", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(c.Auth.Tokens[0].Digest, c.Auth.Tokens[1].Digest, c.StateKeys.Keys) != fmt.Sprint(written.Auth.Tokens[0].Digest, written.Auth.Tokens[1].Digest, written.StateKeys.Keys) {
		t.Error("what stores hold is not what is in force")
	}
	if got := c.Servers[0].Headers["X-Key"]; got != "hush" || asked.Load() != 2 {
		t.Errorf("got %q after %d questions", got, asked.Load())
	}
	normal, err := c.Marshal()
	for _, want := range []string{`"${file:ann}"`, `"${file:key}"`, `"${vault:kv/dev#key}"`} {
		if err != nil || !strings.Contains(string(normal), want) || strings.Contains(string(normal), "hush") || strings.Contains(string(normal), "token-of") {
			t.Errorf("%v; the normal form lacks %s, or tells more than that:\n%s", err, want, normal)
		}
	}
	asked.Store(0)
	if _, err := ReadFile(path, Options{Lookup: lookup}); err != nil || asked.Load() != 0 {
		t.Errorf("a file that is shown: %v after %d questions", err, asked.Load())
	}
	env["VAULT_TOKEN"] = ""
	if c, err = ReadFile(path, Options{Lookup: lookup, Stores: &secret.Options{Lookup: lookup}}); c != nil || err == nil || !strings.Contains(err.Error(), "mcp.json:2:69: gateway.auth.tokens[1].token: ${vault:...} has no value: the Vault has to know who asks") {
		t.Errorf("a section without its secret: %v, %v", c, err)
	}
	if c, err = ReadFile(path, Options{Lookup: lookup, Stores: &secret.Options{Lookup: lookup}, Only: []string{"b"}}); err != nil || asked.Load() != 0 {
		t.Errorf("an entry that needs no secret: %v, %v", c, err)
	}
}

func TestWrongHelpers(t *testing.T) {
	var many []string
	for i := range maxHelpers + 1 {
		many = append(many, fmt.Sprintf(`"h%d": ["x", "{ref}"]`, i))
	}
	for secrets, want := range map[string]string{
		`[]`:                                "f:1:23: gateway.secrets: this must be an object, not a list",
		`{"op": "op read {ref}"}`:           "f:1:30: gateway.secrets.op: this must be a list, not text in quotes",
		`{"op": ["op", 7]}`:                 "f:1:37: gateway.secrets.op[1]: this must be text in quotes, not a number",
		`{"vault": ["op", "{ref}"]}`:        "f:1:33: gateway.secrets.vault: ${vault:...} has a meaning already; choose another name",
		`{"op": ["op", "read"]}`:            `f:1:30: gateway.secrets.op: the program is not told what is asked for; write {ref} into an argument, as in ["op", "read", "op://{ref}"]`,
		`{"op": []}`:                        `f:1:30: gateway.secrets.op: this names no program; write a list such as ["op", "read", "op://{ref}"]`,
		`{` + strings.Join(many, ",") + `}`: "f:1:23: gateway.secrets: there are more than 50 helpers; one program may give many secrets",
	} {
		if _, err := read(`{"gateway":{"secrets":` + secrets + `},"mcpServers":{}}`); err == nil || err.Error() != want {
			t.Errorf("%.60s:\n got %v\nwant %s", secrets, err, want)
		}
	}
	_, err := Read(strings.NewReader(`{"gateway": {"secrets": {"op": ["op", "{ref}"]}}, "mcpServers": {"a": {"command": "${pass:hush}"}}}`), "f", Options{Lookup: func(string) (string, bool) { return "", false }})
	if want := `f:1:83: mcpServers.a.command: server "a": this ${...} is none of ${VAR}, ${VAR:-default}, ${env:VAR}, ${file:...}, ${keychain:...}, ${op:...}, ${vault:...}; for the characters themselves write $${`; err == nil || err.Error() != want {
		t.Errorf("a helper that is not there:\n got %v\nwant %s", err, want)
	}
}

// TestShownHelpers holds that the normal form of a helper can be read again, whatever its arguments sound like.
func TestShownHelpers(t *testing.T) {
	c, err := read(`{"gateway": {"secrets": {"aws": ["aws", "--secret-id", "{ref}", "--token", "hush", "PASSWORD=x{ref}", "--key=hush"]}}, "mcpServers": {}}`)
	if err != nil {
		t.Fatal(err)
	}
	normal, err := c.Marshal()
	if err != nil || strings.Contains(string(normal), "hush") {
		t.Errorf("%v\n%s", err, normal)
	}
	again, err := read(string(normal))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(again.Helpers[0].Command, " "); got != "aws --secret-id {ref} --token *** ***{ref} --key=***" {
		t.Errorf("got %s", got)
	}
}

// TestLoneReferences are shown, and what is more or less than one is not.
func TestLoneReferences(t *testing.T) {
	for text, want := range map[string]string{
		"${vault:kv/dev/db#password}": "", "${op:dev/git hub/token}": "", "${file:/run/secrets/x.y}": "", "${my-store:a:b}": "", "${vault:kv/${STAGE}#k}": mask,
		"${vault:kv/a#k:-hush}": mask, "${vault:-hush}": mask, "x${vault:a/b#c}": mask, "${vault:a/b#c}x": mask, "${vault:}": mask, "${Vault:hush}": mask, "${vault:a\nb}": mask,
		"${vault:a}${vault:b}": mask, "${vault: hush}": mask,
	} {
		if want == "" {
			want = text
		}
		if got := maskValue(text); got != want {
			t.Errorf("%s: got %s", text, got)
		}
	}
}
