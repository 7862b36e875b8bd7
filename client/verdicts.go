package client

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/rialto-mcp/rialto/internal/negotiate"
)

// Verdicts remembers which servers are of the legacy era, so that later connections to them are opened without a probe.
// Give one to all connections of a program by Options.Verdicts; with File it outlives the program. One that no longer holds
// costs nothing: a server that refuses initialize is probed after all. The zero value is ready to use, and may be used
// concurrently; the members are set before that.
type Verdicts struct {
	// File keeps the verdicts, in JSON, with mode 0600. A file that others can read or write is not believed, and replaced.
	// It names servers by a digest of their address or command line, since these may hold secrets. Empty means no file.
	File string

	// MaxAge is how old a verdict may be. Zero means 7 days; negative means no limit.
	MaxAge time.Duration

	mu     sync.Mutex
	loaded bool
	known  map[string]time.Time // legacy servers, and when they were found out
}

// mostVerdicts bounds how many servers are remembered; the oldest go first.
const mostVerdicts = 1000

const verdictAge = 7 * 24 * time.Hour

// keyOf names a server in a store.
func keyOf(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// isLegacy tells whether a server is known as a legacy one. A nil v knows nothing.
func (v *Verdicts) isLegacy(key string) bool {
	if v == nil || key == "" {
		return false
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	_ = v.load() // put reports what is wrong with the file
	at, ok := v.known[key]
	return ok && v.fresh(at)
}

func (v *Verdicts) fresh(at time.Time) bool {
	limit := v.MaxAge
	if limit == 0 {
		limit = verdictAge
	}
	return limit < 0 || negotiate.Stored{At: at}.Fresh(time.Now(), limit)
}

// put remembers what was found out.
func (v *Verdicts) put(key string, verdict Verdict) error {
	if v == nil || key == "" {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	failure := v.load()
	at, was := v.known[key]
	legacy := verdict.Era == negotiate.EraLegacy
	switch {
	case failure != nil: // replaced below
	case legacy && was && v.fresh(at), !legacy && !was:
		return nil
	}
	if legacy {
		v.known[key] = verdict.At
		v.trim()
	} else {
		delete(v.known, key)
	}
	if err := errors.Join(failure, v.save()); err != nil {
		return fmt.Errorf("keep what was found out about servers in %s: %w", v.File, err)
	}
	return nil
}

func (v *Verdicts) trim() {
	for len(v.known) > mostVerdicts {
		oldest := ""
		for key, at := range v.known {
			if oldest == "" || at.Before(v.known[oldest]) {
				oldest = key
			}
		}
		delete(v.known, oldest)
	}
}

// kept is the form of the file.
type kept struct {
	Legacy map[string]time.Time `json:"legacy"`
}

// load reads the file, once. What cannot be believed counts as nothing, and is said once.
func (v *Verdicts) load() error {
	if v.known == nil {
		v.known = make(map[string]time.Time)
	}
	if v.loaded || v.File == "" {
		return nil
	}
	info, err := os.Stat(v.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		v.loaded = true
		return nil
	case err != nil:
		return err
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("others can read or write it (mode %04o); it was not believed and is written anew", info.Mode().Perm())
	}
	raw, err := os.ReadFile(v.File)
	if err != nil {
		return err
	}
	var content kept
	if err := jsonv2.Unmarshal(raw, &content); err != nil {
		return fmt.Errorf("it cannot be read and is written anew: %w", err)
	}
	v.loaded = true
	for key, at := range content.Legacy {
		v.known[key] = at
	}
	v.trim()
	return nil
}

// save writes the file in one step.
func (v *Verdicts) save() error {
	if v.File == "" {
		return nil
	}
	raw, err := jsonv2.Marshal(kept{Legacy: v.known}, jsonv2.Deterministic(true))
	if err != nil {
		return err
	}
	to, err := os.CreateTemp(filepath.Dir(v.File), filepath.Base(v.File)+".*") // with mode 0600
	if err != nil {
		return err
	}
	_, err = to.Write(append(raw, '\n'))
	if err = errors.Join(err, to.Close()); err == nil {
		err = os.Rename(to.Name(), v.File)
	}
	if err != nil {
		return errors.Join(err, os.Remove(to.Name()))
	}
	v.loaded = true
	return nil
}
