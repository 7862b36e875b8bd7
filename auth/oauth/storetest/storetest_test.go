package storetest_test

import (
	"path/filepath"
	"testing"

	"github.com/rialto-mcp/rialto/auth/oauth"
	"github.com/rialto-mcp/rialto/auth/oauth/storetest"
)

func TestMemoryStore(t *testing.T) {
	storetest.Store(t, func(*testing.T) (a, b oauth.Store) {
		s := oauth.NewMemoryStore(0)
		return s, s
	})
}

func TestFiles(t *testing.T) {
	storetest.Store(t, func(t *testing.T) (a, b oauth.Store) {
		dir := filepath.Join(t.TempDir(), "tokens")
		open := func() oauth.Store {
			s, err := oauth.OpenFiles(dir)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		return open(), open()
	})
}

func TestEncrypted(t *testing.T) {
	storetest.Store(t, func(t *testing.T) (a, b oauth.Store) {
		inner := oauth.NewMemoryStore(0)
		open := func() oauth.Store {
			s, err := oauth.Encrypt(inner, []byte("a secret of at least 32 bytes, out of a key chain"))
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		return open(), open()
	})
}
