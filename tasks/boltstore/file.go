package boltstore

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"github.com/rialto-mcp/rialto/tasks"
)

// growth is by how many bytes the file grows: as little as is still one write in many, for MaxBytes to be kept closely.
const growth = 1 << 20

// Open opens the file, and makes it where there is none, readable by its owner alone. It fails when another process has it,
// when it is damaged, and when it is a file of something else; that is left as it is.
func Open(path string, opts Options) (s *Store, err error) {
	opts.MaxTasks = cmp.Or(opts.MaxTasks, 100_000)
	opts.MaxRecordBytes = cmp.Or(opts.MaxRecordBytes, 16<<20)
	opts.MaxBytes = cmp.Or(opts.MaxBytes, 1<<30)
	opts.LockTimeout = cmp.Or(opts.LockTimeout, 5*time.Second)
	s = &Store{path: path, opts: opts}
	if err := s.open(); err != nil {
		return nil, s.unopened(err)
	}
	if err := s.prepare(); err != nil {
		return nil, errors.Join(s.unopened(err), s.db.Close())
	}
	return s, nil
}

// unopened says why the file was not opened, and what to do about it.
func (s *Store) unopened(err error) error {
	what := ""
	switch {
	case s.damage.Load() != nil:
		return err
	case errors.Is(err, berrors.ErrTimeout):
		what = "; another process has it open: one at a time may"
	case errors.Is(err, berrors.ErrInvalid), errors.Is(err, berrors.ErrChecksum), errors.Is(err, berrors.ErrVersionMismatch):
		what = "; it is damaged, or no file of tasks: move it away, and a new one is made"
	}
	return fmt.Errorf("open the file of tasks %s: %w%s", s.path, err, what)
}

func (s *Store) open() (err error) {
	var file *os.File
	defer func() {
		if err != nil && file != nil {
			_ = file.Close() // and its lock with it; the library has done so, unless it has panicked
		}
	}()
	defer s.contain(&err)()
	const mode = 0o600
	s.db, err = bbolt.Open(s.path, mode, &bbolt.Options{
		Timeout: s.opts.LockTimeout,
		OpenFile: func(name string, flag int, mode os.FileMode) (*os.File, error) {
			f, err := os.OpenFile(name, flag, mode) //nolint:gosec // the path is the caller's
			file = f
			return f, err
		},
	})
	if err == nil {
		s.db.AllocSize = growth
	}
	return err
}

var buckets = [][]byte{byID, order, ends, counts, meta}

// prepare makes the buckets of a new file. One with other buckets belongs to another program, which would not expect ours.
func (s *Store) prepare() error {
	err := s.read(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, _ *bbolt.Bucket) error {
			if !slices.ContainsFunc(buckets, func(own []byte) bool { return string(own) == string(name) }) {
				return fmt.Errorf("it has a bucket %q, so it is a file of another program; give a path of its own", name)
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	return s.change(0, func(tx *bbolt.Tx) error {
		for _, name := range buckets {
			if _, err := tx.CreateBucketIfNotExists(name); err != nil {
				return err
			}
		}
		s.last = tx.Bucket(byID).Sequence()
		return nil
	})
}

// Close closes the file. The server that uses it is shut down before.
func (s *Store) Close() error { return s.db.Close() }

// read runs fn on the file as it is now.
func (s *Store) read(fn func(tx *bbolt.Tx) error) (err error) {
	defer s.contain(&err)()
	tx, err := s.db.Begin(false)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // it was only read
	return fn(tx)
}

// change runs fn and keeps what it changes, all or nothing, in a file of at most so many bytes; zero or less means any.
func (s *Store) change(most int, fn func(tx *bbolt.Tx) error) (err error) {
	if damage := s.damage.Load(); damage != nil {
		return *damage
	}
	defer s.contain(&err)()
	tx, err := s.db.Begin(true)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after a commit; the managed form of it would read pages, which may be what is damaged
	s.db.MaxSize = max(most, 0)          // nobody else looks while this change has begun
	if err := fn(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// contain makes an error of a panic, to be deferred as what it returns: the library has no other word for pages that make no
// sense. A page behind the end of a file that was cut short is a fault of memory, which becomes a panic on this goroutine.
// From then on nothing is written: on such pages a change might take whole ones with it.
func (s *Store) contain(err *error) func() {
	before := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(before)
		v := recover()
		if own, ok := v.(callers); ok {
			panic(own.value)
		}
		if v == nil {
			return
		}
		*err = fmt.Errorf("the file of tasks %s is damaged (%v), and nothing is written to it any more; stop the server, move the file away or put a copy of it from before in its place, and start the server again: it makes a new file where there is none", s.path, v)
		s.damage.CompareAndSwap(nil, err)
	}
}

// callers is a panic of the caller's own function, which says nothing of the file.
type callers struct{ value any }

// guarded runs a function of the caller inside a change.
func guarded(change func(*tasks.Record) error, r *tasks.Record) error {
	returned := false
	defer func() {
		if v := recover(); !returned && v != nil {
			panic(callers{v})
		}
	}()
	err := change(r)
	returned = true
	return err
}

// isFull tells whether a change has failed because the file may not grow, or has as many tasks as it may.
func isFull(err error) bool {
	return errors.Is(err, errNoRoom) || errors.Is(err, berrors.ErrMaxSizeReached)
}

// full says what a change that found no room has failed of.
func (s *Store) full() error {
	return fmt.Errorf("%w: the file %s has %d tasks or %d bytes, which are the limits (MaxTasks, MaxBytes), and all of its tasks still run", tasks.ErrFull, s.path, s.opts.MaxTasks, s.opts.MaxBytes)
}
