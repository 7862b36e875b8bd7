package boltstore

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"

	"github.com/rialto-mcp/rialto/tasks"
)

// Options adjusts a store. The zero value is ready to use. For the limits zero means the default and a negative value means no
// bound.
type Options struct {
	// MaxTasks bounds the tasks that are kept; room is made as for MaxBytes. Zero means 100,000.
	MaxTasks int

	// MaxRecordBytes bounds one task, its result included; more than a quarter of MaxBytes it never has. Zero means 16 MiB.
	MaxRecordBytes int

	// MaxBytes bounds the file. Once it is reached, tasks whose time is over make room, and then the oldest of those that have
	// ended, beginning with the owner that has most tasks; when there are none, a new task or a change fails with
	// tasks.ErrFull and the file is as it was. Making room may itself take a few MiB more, once. A file that is larger
	// already does not shrink. Zero means 1 GiB.
	MaxBytes int

	// LockTimeout is how long Open waits for another process that has the file open. Zero means 5 s.
	LockTimeout time.Duration
}

// Store keeps tasks in one file. Its methods may be called concurrently; one process at a time has the file.
type Store struct {
	db   *bbolt.DB
	path string
	opts Options
	last uint64 // the number of the last task that was there when the file was opened

	damage atomic.Pointer[error] // found in the file, so that nothing is written any more; nil while none was
}

var _ tasks.Store = (*Store)(nil)

// The buckets of a file. Keys of order begin with the owner, so that a list is one walk; those of ends with the time.
var (
	byID   = []byte("tasks")  // id -> entry
	order  = []byte("order")  // owner, number -> id
	ends   = []byte("ends")   // time, number -> id
	counts = []byte("counts") // owner -> how many
	meta   = []byte("meta")   // "tasks" -> how many in all
)

// entry is a task in the file.
type entry struct {
	Number uint64       `json:"number"` // in the order of creation
	Task   tasks.Record `json:"task"`
}

// Create implements tasks.Store.
func (s *Store) Create(ctx context.Context, r tasks.Record, most int) error {
	return s.write(ctx, func(tx *bbolt.Tx) error {
		all, own := number(tx.Bucket(meta).Get(byID)), number(tx.Bucket(counts).Get([]byte(r.Owner+"\x00")))
		switch {
		case tx.Bucket(byID).Get([]byte(r.ID)) != nil:
			return tasks.ErrTaken
		case most > 0 && own >= uint64(most):
			return tasks.ErrTooMany
		case s.opts.MaxTasks > 0 && all >= uint64(s.opts.MaxTasks):
			return errNoRoom
		}
		next, err := tx.Bucket(byID).NextSequence()
		if err != nil {
			return err
		}
		e := entry{Number: next, Task: r}
		return errors.Join(s.put(tx, &e),
			tx.Bucket(order).Put(orderKey(r.Owner, next), []byte(r.ID)), tx.Bucket(ends).Put(endKey(&e), []byte(r.ID)), count(tx, r.Owner, 1))
	})
}

// Get implements tasks.Store.
func (s *Store) Get(ctx context.Context, id string) (r tasks.Record, err error) {
	if ctx.Err() != nil {
		return r, context.Cause(ctx)
	}
	err = s.read(func(tx *bbolt.Tx) error {
		e, err := get(tx, id)
		r = e.Task
		return err
	})
	return r, err
}

// Update implements tasks.Store.
func (s *Store) Update(ctx context.Context, id string, change func(*tasks.Record) error) (r tasks.Record, err error) {
	err = s.write(ctx, func(tx *bbolt.Tx) error {
		e, err := get(tx, id)
		if err != nil {
			return err
		}
		r = e.Task
		before := endKey(&e)
		if err := guarded(change, &e.Task); err != nil {
			return err
		}
		if err := s.put(tx, &e); err != nil {
			return err
		}
		r = e.Task
		if after := endKey(&e); !bytes.Equal(before, after) {
			return errors.Join(tx.Bucket(ends).Delete(before), tx.Bucket(ends).Put(after, []byte(id)))
		}
		return nil
	})
	return r, err
}

// List implements tasks.Store.
func (s *Store) List(ctx context.Context, owner, after string, limit int) (all []tasks.Record, err error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	err = s.read(func(tx *bbolt.Tx) error {
		prefix := orderKey(owner, 0)[:len(owner)+1]
		from := prefix
		if after != "" {
			e, err := get(tx, after)
			if err != nil || e.Task.Owner != owner {
				return tasks.ErrNotFound
			}
			from = orderKey(owner, e.Number+1)
		}
		c := tx.Bucket(order).Cursor()
		for key, id := c.Seek(from); key != nil && bytes.HasPrefix(key, prefix) && len(all) < limit; key, id = c.Next() {
			e, err := get(tx, string(id))
			if err != nil || e.Task.Owner != owner {
				continue // its time is over, or it cannot be read any more, or the key only looks like the owner's
			}
			all = append(all, e.Task)
		}
		return nil
	})
	return all, err
}

// Orphans implements tasks.Store: one process has the file, so nobody runs what had not ended when it was opened. What has
// begun since is run here, by whichever host.
func (s *Store) Orphans(ctx context.Context) (ids []string, err error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var unreadable error
	err = s.read(func(tx *bbolt.Tx) error {
		return tx.Bucket(byID).ForEach(func(id, _ []byte) error {
			e, err := get(tx, string(id))
			switch {
			case errors.Is(err, tasks.ErrNotFound):
			case err != nil:
				unreadable = err // the others are found all the same
			case e.Number <= s.last && !e.Task.Status.Final():
				ids = append(ids, string(id))
			}
			return nil
		})
	})
	return ids, errors.Join(err, unreadable)
}

// put writes a task.
func (s *Store) put(tx *bbolt.Tx, e *entry) error {
	raw, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("write a task: %w", err)
	}
	const part = 4 // else all others might have to go for one
	if most := s.opts.MaxRecordBytes; most > 0 && len(raw) > most || s.opts.MaxBytes > 0 && len(raw) > s.opts.MaxBytes/part {
		return fmt.Errorf("%w for a task of %d bytes", tasks.ErrFull, len(raw))
	}
	return tx.Bucket(byID).Put([]byte(e.Task.ID), raw)
}

// get reads a task whose time is not over.
func get(tx *bbolt.Tx, id string) (e entry, err error) {
	raw := tx.Bucket(byID).Get([]byte(id))
	if raw == nil {
		return e, tasks.ErrNotFound
	}
	if err := json.Unmarshal(raw, &e); err != nil {
		return e, fmt.Errorf("read a task of the file: %w", err)
	}
	if !e.Task.Expires().After(time.Now()) {
		return entry{}, tasks.ErrNotFound
	}
	return e, nil
}

// count adds to the number of tasks of an owner, and of all.
func count(tx *bbolt.Tx, owner string, by int) error {
	add := func(bucket, key []byte) error {
		n := max(int64(number(tx.Bucket(bucket).Get(key)))+int64(by), 0) //nolint:gosec // so many tasks fit in no file
		if n == 0 {
			return tx.Bucket(bucket).Delete(key)
		}
		return tx.Bucket(bucket).Put(key, binary.BigEndian.AppendUint64(nil, uint64(n)))
	}
	return errors.Join(add(counts, []byte(owner+"\x00")), add(meta, byID)) // an empty key is none
}

func number(raw []byte) uint64 {
	const size = 8
	if len(raw) != size {
		return 0
	}
	return binary.BigEndian.Uint64(raw)
}

func orderKey(owner string, n uint64) []byte {
	return binary.BigEndian.AppendUint64(append([]byte(owner), 0), n)
}

// ownerIn is the owner in a key of order.
func ownerIn(key []byte) string {
	const behind = 9 // a zero byte and the number
	return string(key[:len(key)-behind])
}

func endKey(e *entry) []byte {
	at, expires := int64(math.MaxInt64), e.Task.Expires()
	if expires.Before(time.Unix(0, math.MaxInt64)) { // nanoseconds count up to 2262
		at = max(expires.UnixNano(), 0)
	}
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, uint64(at)), e.Number)
}
