package signon_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rialto-mcp/rialto/auth/oauth"
	"github.com/rialto-mcp/rialto/auth/oauth/storetest"
	"github.com/rialto-mcp/rialto/gateway/signon"
)

// variables looks texts up.
func variables(v map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { value, ok := v[name]; return value, ok }
}

// TestStore holds the store of tokens to what stores promise, opened by each who uses it, and opened when it is first needed.
func TestStore(t *testing.T) {
	storetest.Store(t, func(t *testing.T) (a, b oauth.Store) {
		folder := filepath.Join(t.TempDir(), "tokens")
		open := func() (oauth.Store, error) { return signon.OpenStore(folder, variables(nil)) }
		return signon.Lazy(open), signon.Lazy(open)
	})
}

// TestKeyOfTheStore holds whose key opens a store: that of the file beside it, which many processes may make at once, or the secret
// of the environment; and that nothing in the folder can be read without.
func TestKeyOfTheStore(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "tokens")
	stores := make([]oauth.Store, 8)
	var opening sync.WaitGroup
	for i := range stores {
		opening.Go(func() {
			var err error
			if stores[i], err = signon.OpenStore(folder, variables(nil)); err != nil {
				t.Error(err)
			}
		})
	}
	opening.Wait()
	if err := stores[0].Put(t.Context(), "token of ada", []byte("a secret")); err != nil {
		t.Fatal(err)
	}
	for _, s := range stores {
		if value, err := s.Get(t.Context(), "token of ada"); string(value) != "a secret" || err != nil {
			t.Errorf("got %q, %v", value, err)
		}
	}
	entries, err := os.ReadDir(filepath.Dir(folder))
	if err != nil || len(entries) != 2 { // the folder and its key
		t.Errorf("beside the folder lie %v, %v", entries, err)
	}
	if info, err := os.Stat(folder + ".key"); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key: %v, %v", info, err)
	}
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if raw, err := os.ReadFile(filepath.Join(folder, f.Name())); err != nil || bytes.Contains(raw, []byte("a secret")) {
			t.Errorf("%s: %q, %v", f.Name(), raw, err)
		}
	}
	other, err := signon.OpenStore(folder, variables(map[string]string{signon.KeyVariable: strings.Repeat("k", 32)}))
	if err != nil {
		t.Fatal(err)
	}
	if value, err := other.Get(t.Context(), "token of ada"); err == nil {
		t.Errorf("another key reads %q", value)
	}
	if _, err := signon.OpenStore(folder, variables(map[string]string{signon.KeyVariable: "short"})); err == nil || !strings.Contains(err.Error(), signon.KeyVariable) {
		t.Errorf("a short secret: %v", err)
	}
	if err := os.WriteFile(folder+".key", []byte("cut"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := signon.OpenStore(folder, variables(nil)); err == nil || !strings.Contains(err.Error(), "does not have 32 bytes") {
		t.Errorf("a broken key: %v", err)
	}
}

// TestFolder holds where tokens are kept.
func TestFolder(t *testing.T) {
	if got, err := signon.Folder(variables(map[string]string{signon.FolderVariable: "/srv/tokens"})); got != "/srv/tokens" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	t.Setenv("XDG_CONFIG_HOME", "/home/ada/.config")
	t.Setenv("HOME", "/home/ada")
	if got, err := signon.Folder(variables(nil)); !strings.HasSuffix(filepath.ToSlash(got), "rialto/tokens") || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}
