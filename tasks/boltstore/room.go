package boltstore

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"github.com/rialto-mcp/rialto/tasks"
)

// errNoRoom is why a change has to wait until room is made for one more task.
var errNoRoom = errors.New("there are as many tasks as may be")

// write runs one change of the file, after what is over has gone. Where there is no room for it, some is made and the change is
// run again.
func (s *Store) write(ctx context.Context, change func(tx *bbolt.Tx) error) error {
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		err := s.change(s.opts.MaxBytes, func(tx *bbolt.Tx) error {
			if _, err := sweep(tx); err != nil {
				return err
			}
			return change(tx)
		})
		if !isFull(err) {
			return err
		}
		made, err := s.makeRoom()
		switch {
		case err != nil:
			return err
		case !made:
			return s.full()
		}
	}
}

// makeRoom removes tasks that are over, or else some that have ended. It answers false when there are none. Even a removal
// writes pages, so no bound holds for it; what it has freed is used again.
func (s *Store) makeRoom() (made bool, err error) {
	err = s.change(0, func(tx *bbolt.Tx) error {
		n, err := sweep(tx)
		if err == nil && n == 0 {
			n, err = evict(tx)
		}
		made = n > 0
		return err
	})
	return made && err == nil, err
}

// mostSwept bounds how many tasks one change removes whose time is over, and mostEvicted how many that have ended: a change
// must not become long by that, and no more is to go than has to.
const (
	mostSwept   = 1000
	mostEvicted = 16
)

// sweep removes tasks whose time is over, and counts them.
func sweep(tx *bbolt.Tx) (int, error) {
	now := endKey(&entry{Task: tasks.Record{Created: time.Now()}})
	var keys, gone [][]byte
	c := tx.Bucket(ends).Cursor()
	for key, id := c.First(); key != nil && bytes.Compare(key[:8], now[:8]) <= 0 && len(keys) < mostSwept; key, id = c.Next() {
		keys, gone = append(keys, bytes.Clone(key)), append(gone, bytes.Clone(id))
	}
	for i, id := range gone {
		if err := drop(tx, id, keys[i]); err != nil {
			return 0, err
		}
	}
	return len(gone), nil
}

// drop removes one task, by its id and its key in ends.
func drop(tx *bbolt.Tx, id, end []byte) error {
	var e entry
	place, owner := []byte(nil), ""
	if err := json.Unmarshal(tx.Bucket(byID).Get(id), &e); err == nil {
		place, owner = orderKey(e.Task.Owner, e.Number), e.Task.Owner
	} else { // it must not keep all others from changing, and its owner is to have its place again
		place, owner = placeOf(tx, id)
	}
	err := errors.Join(tx.Bucket(byID).Delete(id), tx.Bucket(ends).Delete(end), count(tx, owner, -1))
	if place != nil {
		err = errors.Join(err, tx.Bucket(order).Delete(place))
	}
	return err
}

// placeOf looks for a task that cannot be read any more among all others.
func placeOf(tx *bbolt.Tx, id []byte) (place []byte, owner string) {
	c := tx.Bucket(order).Cursor()
	for key, value := c.First(); key != nil; key, value = c.Next() {
		if bytes.Equal(value, id) {
			return bytes.Clone(key), ownerIn(key)
		}
	}
	return nil, ""
}

// evict removes the oldest tasks that have ended of the owner that has most tasks, or of the next one where all of those run:
// who fills the file pays for it. It counts them.
func evict(tx *bbolt.Tx) (int, error) {
	type holder struct {
		owner string
		n     uint64
	}
	var holders []holder
	c := tx.Bucket(counts).Cursor()
	for key, n := c.First(); key != nil; key, n = c.Next() {
		holders = append(holders, holder{string(bytes.TrimSuffix(key, []byte{0})), number(n)})
	}
	slices.SortFunc(holders, func(a, b holder) int { return cmp.Compare(b.n, a.n) })
	for _, h := range holders {
		gone := ended(tx, h.owner)
		for i := range gone {
			if err := drop(tx, []byte(gone[i].Task.ID), endKey(&gone[i])); err != nil {
				return 0, err
			}
		}
		if len(gone) > 0 {
			return len(gone), nil
		}
	}
	return 0, nil
}

// ended lists the oldest tasks of an owner that have ended.
func ended(tx *bbolt.Tx, owner string) (all []entry) {
	prefix := orderKey(owner, 0)[:len(owner)+1]
	c := tx.Bucket(order).Cursor()
	for key, id := c.Seek(prefix); key != nil && bytes.HasPrefix(key, prefix) && len(all) < mostEvicted; key, id = c.Next() {
		if e, err := get(tx, string(id)); err == nil && e.Task.Owner == owner && e.Task.Status.Final() {
			e.Task.Outcome.Result = nil // it is not needed, and may be large
			all = append(all, e)
		}
	}
	return all
}
