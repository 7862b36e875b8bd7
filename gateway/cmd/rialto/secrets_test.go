package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// kept is a folder with a configuration and with what its stores hold.
type kept struct {
	folder, vault string
	asked         atomic.Int32 // of Vault
	sealed        atomic.Bool  // Vault answers nothing
}

func keep(t *testing.T, configuration string) *kept {
	t.Helper()
	if _, err := exec.LookPath("cat"); err != nil {
		t.Skip("a helper of this test is the program cat:", err)
	}
	k := &kept{folder: t.TempDir()}
	vault := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch k.asked.Add(1); {
		case k.sealed.Load():
			w.WriteHeader(http.StatusServiceUnavailable)
		case r.Header.Get("X-Vault-Token") != "vault-token":
			w.WriteHeader(http.StatusForbidden)
		case strings.Contains(r.URL.Path, "/mounts/"):
			_, _ = io.WriteString(w, `{"data":{"path":"kv/","options":{"version":"2"}}}`)
		default:
			_, _ = io.WriteString(w, `{"data":{"data":{"key":"secret"}}}`)
		}
	}))
	t.Cleanup(vault.Close)
	k.vault = vault.URL
	k.put(t, "token", "secret\n")
	k.put(t, "mcp.json", strings.ReplaceAll(configuration, "FOLDER", k.folder))
	return k
}

func (k *kept) put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(k.folder, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// run runs a command beside the configuration.
func (k *kept) run(ctx context.Context, token string, args ...string) (code int, stdout, stderr string) {
	var out, said bytes.Buffer
	env := map[string]string{"VAULT_ADDR": k.vault, "VAULT_TOKEN": token}
	e := &environment{stdout: &out, stderr: &said, folder: k.folder, lookup: func(name string) (string, bool) { value, ok := env[name]; return value, ok }}
	code = run(ctx, args, e)
	return code, out.String(), said.String()
}

const helpers = `"gateway": {"secrets": {"cat": ["cat", "FOLDER/{ref}"]}}`

func entryWith(address, reference string) string {
	return `{"url": "` + address + `/auth", "headers": {"Authorization": "Bearer ` + reference + `"}}`
}

// TestSecretsOfEveryCommand holds that commands ask the stores that the gateway asks, and those only that they need.
func TestSecretsOfEveryCommand(t *testing.T) {
	ts := site(t)
	k := keep(t, `{`+helpers+`, "mcpServers": {"file": `+entryWith(ts.URL, "${file:token}")+`, "vault": `+entryWith(ts.URL, "${vault:kv/dev#key}")+`,
		"helper": `+entryWith(ts.URL, "${cat:token}")+`, "none": `+entryWith(ts.URL, "${cat:none}")+`}}`)
	for _, name := range []string{"file", "vault", "helper"} {
		k.asked.Store(0)
		code, stdout, stderr := k.run(t.Context(), "vault-token", "call", name, "echo", "text=in")
		if code != 0 || !strings.Contains(stdout, "in") || stderr != "" || (k.asked.Load() > 0) != (name == "vault") {
			t.Errorf("%s: exit %d, %q, %q, %d questions", name, code, stdout, stderr, k.asked.Load())
		}
	}
	for _, args := range [][]string{{"tools", "none"}, {"login", "none"}, {"logout", "none"}} {
		code, stdout, stderr := k.run(t.Context(), "vault-token", args...)
		want := `mcpServers.none.headers.Authorization: server "none": ${cat:none} has no value: "cat" has failed (exit status 1), and said: `
		if code != exitUsage || stdout != "" || !strings.Contains(stderr, want) || strings.Contains(stderr, "secret") {
			t.Errorf("%s: exit %d, %q, %q", args, code, stdout, stderr)
		}
	}
}

// TestCheckShowsReferences and asks no store, unless it connects.
func TestCheckShowsReferences(t *testing.T) {
	ts := site(t)
	k := keep(t, `{"gateway": {"secrets": {"touch": ["touch", "FOLDER/{ref}"]}}, "mcpServers": {"a": {"url": "`+ts.URL+`/auth", "headers": {"X-Key": "${vault:kv/dev#key}"}},
		"b": {"url": "${touch:seen}"}, "c": {"url": "`+ts.URL+`/mcp", "headers": {"X-Key": "${file:none}"}}}}`)
	code, stdout, stderr := k.run(t.Context(), "hush-hush", "check")
	if code != 0 || stderr != "" || k.asked.Load() != 0 || !strings.Contains(stdout, `"X-Key": "${vault:kv/dev#key}"`) || !strings.Contains(stdout, `"url": "${touch:seen}"`) {
		t.Errorf("exit %d, %s, %s after %d questions", code, stdout, stderr, k.asked.Load())
	}
	if _, err := os.Stat(filepath.Join(k.folder, "seen")); err == nil {
		t.Error("a program was run to show a file")
	}
	code, stdout, stderr = k.run(t.Context(), "hush-hush", "check", "--connect")
	if code != exitUsage || stdout != "" || strings.Contains(stderr, "hush") {
		t.Errorf("exit %d, %q", code, stdout)
	}
	for _, want := range []string{
		"mcpServers.a.headers.X-Key: server \"a\": ${vault:kv/dev#key} has no value: the Vault says no (403)",
		"mcpServers.b.url: server \"b\": ${touch:seen} has no value: \"touch\" has printed nothing",
		"mcpServers.c.headers.X-Key: server \"c\": ${file:none} has no value: there is no such file",
	} {
		if !strings.Contains(stderr, want) {
			t.Errorf("standard error lacks %q:\n%s", want, stderr)
		}
	}
}

// TestReloadOfSecrets connects anew where a store has something else now, and leaves out what it has nothing for any more.
func TestReloadOfSecrets(t *testing.T) {
	ts := site(t)
	k := keep(t, "{}")
	web := `"web": ` + entryWith(ts.URL, "${file:"+k.folder+"/token}")
	f := startFollowing(t, `{"mcpServers": {`+web+`, "other": {"url": "`+ts.URL+`/mcp"}}}`)
	f.again("nothing that the gateway uses is different")
	k.put(t, "token", "hush-hush")
	f.again("was read anew: changed web")
	if err := os.Remove(filepath.Join(k.folder, "token")); err != nil {
		t.Fatal(err)
	}
	f.again("was read anew: removed web")
	if got := f.stderr.String(); !strings.Contains(got, `mcpServers.web.headers.Authorization: server "web": ${file:`+k.folder+`/token} has no value: there is no such file`) {
		t.Errorf("standard error says %s", got)
	}
	k.put(t, "token", "secret")
	f.again("was read anew: added web")
	f.write(t, `{"gateway": {"stateKeys": ["${file:none}"]}, "mcpServers": {`+web+`}}`)
	f.again("was not taken into use")
	if got := f.stderr.String(); strings.Contains(got, "hush") || strings.Contains(got, "Bearer") || !strings.Contains(got, "gateway.stateKeys[0]: ${file:none} has no value") {
		t.Errorf("standard error says %s", got)
	}
}

// TestReloadWhileAStoreIsDown keeps the servers that run with what they have, and says so, until the store is there again. What the
// store says it does not have, and what stands otherwise in the file now, is left out all the same.
func TestReloadWhileAStoreIsDown(t *testing.T) {
	ts := site(t)
	k := keep(t, "{}")
	web, other := entryWith(ts.URL, "${vault:kv/dev#key}"), `{"url": "`+ts.URL+`/mcp"}`
	f := startFollowingIn(t, map[string]string{"VAULT_ADDR": k.vault, "VAULT_TOKEN": "vault-token"}, `{"mcpServers": {"web": `+web+`, "moved": `+web+`}}`)
	k.sealed.Store(true)
	f.write(t, `{"gateway": {"servers": {"web": {"alias": "w"}}}, "mcpServers": {"web": `+web+`, "moved": `+strings.Replace(web, "/auth", "/auth?", 1)+`, "other": `+other+`}}`)
	f.again("was read anew: added other; removed moved")
	for _, want := range []string{"the Vault is sealed or being looked after (503)", "the secrets of these could not be asked for, so they go on with those they have: web\n"} {
		if got := f.stderr.String(); !strings.Contains(got, want) {
			t.Errorf("standard error lacks %q: %s", want, got)
		}
	}
	k.sealed.Store(false)
	f.again("was read anew: added moved")
}

// TestOpenFilesOfSecrets are warned of once.
func TestOpenFilesOfSecrets(t *testing.T) {
	ts := site(t)
	k := keep(t, `{"mcpServers": {"a": `+entryWith(ts.URL, "${file:token}")+`, "b": `+entryWith(ts.URL, "${file:./token}")+`}}`)
	if err := os.Chmod(filepath.Join(k.folder, "token"), 0o644); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := k.run(t.Context(), "", "check", "--connect")
	if want := "warning: every user of this machine can read " + filepath.Join(k.folder, "token") + "; chmod o-r takes that away\n"; code != 0 || stderr != want {
		t.Errorf("exit %d, %q", code, stderr)
	}
}
