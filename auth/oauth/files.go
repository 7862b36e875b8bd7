package oauth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

// Files is a Store in a folder, which several processes may share. Each record is a file that only its owner can read
// (mode 0600 in a folder of 0700), written beside and renamed, so that a reader sees the old or the new. Locks are locks
// of the operating system, which end with their process. The records are not encrypted: for a key chain, write a Store.
type Files struct {
	dir string
}

var _ Store = (*Files)(nil)

// OpenFiles opens the store in a folder, and makes the folder where there is none. It fails where others could read the
// folder, on systems that have such modes.
func OpenFiles(dir string) (*Files, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open the store of tokens: %w", err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, fmt.Errorf("open the store of tokens: %w", err)
	}
	if hasModes && info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("open the store of tokens: others can reach %s (mode %04o); make it 0700", dir, info.Mode().Perm())
	}
	f := &Files{dir: dir}
	f.sweep()
	return f, nil
}

// sweep removes what processes have left that ended in the middle of a Put. Nobody looks at it any more, and it is secret.
func (f *Files) sweep() {
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return // Get and Put will say what is wrong
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err == nil && strings.HasPrefix(entry.Name(), unfinished) && time.Since(info.ModTime()) > time.Hour {
			_ = os.Remove(filepath.Join(f.dir, entry.Name())) // the next one to open the store tries again
		}
	}
}

const unfinished = "new-" // what the names of files begin with that are being written

const maxRecord = 1 << 20 // bytes; far more than any set of tokens

// path names the file of a key. The key itself may hold what no file name can.
func (f *Files) path(key, suffix string) string {
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(f.dir, hex.EncodeToString(sum[:16])+suffix)
}

// Get implements Store.
func (f *Files) Get(ctx context.Context, key string) ([]byte, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	file, err := os.Open(f.path(key, ".json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	value, err := io.ReadAll(io.LimitReader(file, maxRecord+1))
	if err != nil {
		return nil, err
	}
	if len(value) > maxRecord {
		return nil, fmt.Errorf("the record in %s is larger than %d bytes", file.Name(), maxRecord)
	}
	return value, nil
}

// Put implements Store.
func (f *Files) Put(ctx context.Context, key string, value []byte) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if len(value) > maxRecord {
		return fmt.Errorf("a record of %d bytes is larger than %d", len(value), maxRecord)
	}
	file, err := os.CreateTemp(f.dir, unfinished+"*") // mode 0600
	if err != nil {
		return err
	}
	_, err = file.Write(value)
	if err == nil {
		err = file.Sync()
	}
	err = errors.Join(err, file.Close())
	if err == nil {
		err = os.Rename(file.Name(), f.path(key, ".json"))
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}

// Delete implements Store.
func (f *Files) Delete(ctx context.Context, key string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := os.Remove(f.path(key, ".json")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Lock implements Store.
func (f *Files) Lock(ctx context.Context, key string) (func(), error) {
	const again = 25 * time.Millisecond
	lock := flock.New(f.path(key, ".lock"), flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, again); err != nil {
		lock.Close()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, err
	}
	// The file stays: removing it would let two hold a lock of the same name.
	return sync.OnceFunc(func() { lock.Close() }), nil
}
