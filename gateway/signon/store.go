package signon

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/rialto-mcp/rialto/auth/oauth"
)

// Where tokens are kept, by variables of the environment.
const (
	FolderVariable = "RIALTO_TOKENS"     // the folder; the default is rialto/tokens in the user's folder of configurations
	KeyVariable    = "RIALTO_TOKENS_KEY" // the secret that encrypts them; the default is the file beside the folder that ends in .key
)

const keyBytes = 32

// Folder is where the tokens of logins are kept.
func Folder(lookup func(string) (string, bool)) (string, error) {
	if folder, ok := lookup(FolderVariable); ok && folder != "" {
		return folder, nil
	}
	base, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("find a folder for tokens: %w; set %s", err, FolderVariable)
	}
	return filepath.Join(base, "rialto", "tokens"), nil
}

// OpenStore opens the store of tokens in a folder, which several processes may share, and makes what is missing. What stands in it
// is encrypted, by the secret of [KeyVariable] or by a key that lies beside the folder: then a copy of the folder alone is of no
// use to anybody.
func OpenStore(folder string, lookup func(string) (string, bool)) (oauth.Store, error) {
	files, err := oauth.OpenFiles(folder)
	if err != nil {
		return nil, err
	}
	if secret, ok := lookup(KeyVariable); ok && secret != "" {
		store, err := oauth.Encrypt(files, []byte(secret))
		if err != nil {
			return nil, fmt.Errorf("%s: the secret needs at least 32 characters; openssl rand -hex 32 makes a good one", KeyVariable)
		}
		return store, nil
	}
	key, err := keyFile(filepath.Clean(folder) + ".key")
	if err != nil {
		return nil, fmt.Errorf("the key of the store of tokens: %w", err)
	}
	return oauth.Encrypt(files, key)
}

// keyFile reads a key, and makes it where there is none. Two processes may come at once: one of them makes it.
func keyFile(path string) ([]byte, error) {
	key, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeKey(path); err != nil {
			return nil, err
		}
		key, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, err
	}
	if len(key) != keyBytes {
		return nil, fmt.Errorf("%s does not have %d bytes; restore it, or remove it and the tokens and sign in anew", path, keyBytes)
	}
	return key, nil
}

// makeKey writes a new key, whole or not at all, unless another has done so meanwhile.
func makeKey(path string) error {
	file, err := os.CreateTemp(filepath.Dir(path), ".key-") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	key := make([]byte, keyBytes)
	_, _ = rand.Read(key) // never fails
	_, err = file.Write(key)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Link(file.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// Lazy is a store that is opened when it is first needed: nothing is made on disk for who signs in nowhere.
func Lazy(open func() (oauth.Store, error)) oauth.Store { return &lazy{open: sync.OnceValues(open)} }

type lazy struct{ open func() (oauth.Store, error) }

// Get implements oauth.Store.
func (l *lazy) Get(ctx context.Context, key string) ([]byte, error) {
	s, err := l.open()
	if err != nil {
		return nil, err
	}
	return s.Get(ctx, key)
}

// Put implements oauth.Store.
func (l *lazy) Put(ctx context.Context, key string, value []byte) error {
	s, err := l.open()
	if err != nil {
		return err
	}
	return s.Put(ctx, key, value)
}

// Delete implements oauth.Store.
func (l *lazy) Delete(ctx context.Context, key string) error {
	s, err := l.open()
	if err != nil {
		return err
	}
	return s.Delete(ctx, key)
}

// Lock implements oauth.Store.
func (l *lazy) Lock(ctx context.Context, key string) (func(), error) {
	s, err := l.open()
	if err != nil {
		return nil, err
	}
	return s.Lock(ctx, key)
}
