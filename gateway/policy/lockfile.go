package policy

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// lockWait bounds the wait for another process that writes the pins, which takes it as long as to read and write one file.
const lockWait = 10 * time.Second

// UpdateLock changes a file of pins by what change does to what it holds. Processes that do so take turns, so that none writes over
// what another one has just accepted; who reads needs no turn. It answers what the file holds then. A file that does not exist is
// made. It fails where the file cannot be read or written, and where the turn does not come for 10 seconds.
func UpdateLock(path string, change func(*Lock)) (*Lock, error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // one turn for one file, by whatever name
	}
	release, err := turn(path + ".lock")
	if err != nil {
		return nil, fmt.Errorf("another process may be writing %s: %w", path, err)
	}
	defer release()
	l, err := ReadLock(path)
	if err != nil {
		return nil, err
	}
	change(l)
	return l, l.Write(path)
}

// turn waits until no other process holds a file locked. release gives the turn on, and takes the file away where the system
// removes files that are open, so that nothing is left beside the pins.
func turn(path string) (release func(), err error) {
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	for {
		const again, perm = 10 * time.Millisecond, 0o644
		held := flock.New(path, flock.SetPermissions(perm))
		if _, err := held.TryLockContext(ctx, again); err != nil {
			_ = held.Close() // it is not locked
			return nil, err
		}
		if current(held, path) {
			return func() {
				_ = os.Remove(path) // while it is locked: who waits for it finds that it is gone, and takes another
				_ = held.Close()    // the system releases it with the process at the latest
			}, nil
		}
		_ = held.Close() // whoever had it before has removed it
	}
}

// current tells whether a locked file is still the one by its name.
func current(held *flock.Flock, path string) bool {
	mine, err := held.Stat()
	if err != nil {
		return false
	}
	var named fs.FileInfo
	named, err = os.Stat(path)
	return err == nil && os.SameFile(mine, named)
}
