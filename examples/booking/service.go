package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/rialto-mcp/rialto/server"
)

// bookings stands for a booking service elsewhere, as payment services and the like are: each request carries an idempotency
// key, and a key that comes again gets the answer of the first time and nothing is done. It keeps what it has done in files,
// and counts every request in requests.log.
type bookings struct {
	folder string
	slow   time.Duration // how long it takes to answer
}

// receipt is what the service answers.
type receipt struct {
	Number string `json:"number"`
	What   string `json:"what"`
}

// Do does something once for each key.
func (b bookings) Do(ctx context.Context, key, what string) (receipt, error) {
	if err := b.count(what); err != nil {
		return receipt{}, err
	}
	name := nameOf(key)
	file := filepath.Join(b.folder, name+".json")
	done := receipt{Number: "B" + name[:6], What: what}
	raw, err := json.Marshal(done)
	if err != nil {
		return receipt{}, err
	}
	switch err := createOnce(file, raw); {
	case errors.Is(err, fs.ErrExist):
		old, err := os.ReadFile(file)
		if err != nil {
			return receipt{}, err
		}
		if err := json.Unmarshal(old, &done); err != nil {
			return receipt{}, err
		}
		if done.What != what {
			return receipt{}, fmt.Errorf("the key was used for something else: %s", done.What)
		}
	case err != nil:
		return receipt{}, err
	}
	select {
	case <-time.After(b.slow):
		return done, nil
	case <-ctx.Done():
		return receipt{}, context.Cause(ctx)
	}
}

// count notes a request.
func (b bookings) count(what string) error {
	log, err := os.OpenFile(filepath.Join(b.folder, "requests.log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = log.WriteString(what + "\n")
	return errors.Join(err, log.Close())
}

// createOnce makes a whole file, or fails with fs.ErrExist where there is one: no two processes can both make it.
func createOnce(file string, content []byte) error {
	draft, err := os.CreateTemp(filepath.Dir(file), "draft-")
	if err != nil {
		return err
	}
	_, err = draft.Write(content)
	if err = errors.Join(err, draft.Close()); err == nil {
		err = os.Link(draft.Name(), file)
	}
	return errors.Join(err, os.Remove(draft.Name()))
}

// nameOf makes a file name of any text.
func nameOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// usedStates is a folder with one file for each state that has been used, shared by all copies of the program: whoever makes
// the file is the first. A real one would throw the files away some time after their expiry, which each holds.
type usedStates string

var _ server.Consumer = usedStates("")

// Consume implements server.Consumer.
func (u usedStates) Consume(_ context.Context, nonce string, expiry time.Time) (first bool, err error) {
	err = createOnce(filepath.Join(string(u), nameOf(nonce)), []byte(expiry.Format(time.RFC3339)))
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	return err == nil, err
}
