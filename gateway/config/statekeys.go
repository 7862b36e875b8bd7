package config

import (
	"crypto/sha256"
	"fmt"

	"github.com/rialto-mcp/rialto/manager"
)

// Limits of the keys that seal what clients carry.
const (
	maxStateKeys     = 16
	shortestStateKey = 32 // characters; that many hexadecimal digits cannot be guessed
)

// StateKeys are the keys that seal what clients carry, the newest first.
type StateKeys struct {
	Keys [][]byte // in the way of server.Options.StateKeys

	shown []string
}

// All returns the keys; nil of nothing.
func (k *StateKeys) All() [][]byte {
	if k == nil {
		return nil
	}
	return k.Keys
}

func (k *StateKeys) show() []string {
	if k == nil {
		return nil
	}
	return k.shown
}

// stateKeys reads the keys that seal what clients carry: the ids of tasks, and the states of calls that wait for answers. A key is
// made of the digest of a text, so any text will do that cannot be guessed.
func (s *section) stateKeys(v *manager.Value) {
	if !s.is(v, manager.List) {
		return
	}
	if len(v.Children()) > maxStateKeys {
		s.problems.Add(v, "there are more than %d keys; an old one is of no use once what it sealed has expired", maxStateKeys)
		return
	}
	k := &StateKeys{}
	for _, child := range v.Children() {
		text, ok := s.expanded(child)
		if !ok {
			continue
		}
		s.guessable(child)
		k.shown = append(k.shown, maskValue(child.Text()))
		written := s.unread(text)
		if text == mask || !written && !s.check(child, checkStateKey(text)) {
			continue // the normal form's mask is nobody's key
		}
		key := sha256.Sum256([]byte("rialto state key\x00" + text))
		k.Keys = append(k.Keys, key[:])
	}
	if len(k.shown) > 0 {
		s.config.StateKeys = k
	}
}

func checkStateKey(text string) error {
	if len(text) < shortestStateKey {
		return fmt.Errorf("a key needs at least %d characters that nobody can guess; openssl rand -hex 32 prints some", shortestStateKey)
	}
	return nil
}
