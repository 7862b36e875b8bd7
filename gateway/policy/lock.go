package policy

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/jsonrpc"
)

// Prints are the digests of what one server lists: by kind, name and part of the definition.
type Prints map[route.Kind]map[string]map[string]string

// unprinted are the members of definitions that are no part of what a model or a person goes by.
var unprinted = []string{"_meta", "icons"}

// printed are the lists whose entries have digests. Resources come and go with the data of a server and are left out.
var printed = []struct {
	kind route.Kind
	of   func(*upstream.Lists) []upstream.Item
}{
	{route.Tool, func(l *upstream.Lists) []upstream.Item { return l.Tools }},
	{route.Prompt, func(l *upstream.Lists) []upstream.Item { return l.Prompts }},
	{route.Template, func(l *upstream.Lists) []upstream.Item { return l.Templates }},
}

// PrintsOf makes the digests of what a server lists: of each member of a definition apart, in a canonical form, so that it can
// be told what has changed, and the order of members and the way numbers and texts are written do not count.
func PrintsOf(l *upstream.Lists) Prints {
	p := make(Prints)
	for _, list := range printed {
		for _, item := range list.of(l) {
			if p[list.kind] == nil {
				p[list.kind] = make(map[string]map[string]string)
			}
			p[list.kind][item.Key] = printOf(item.Raw)
		}
	}
	return p
}

func printOf(definition json.RawMessage) map[string]string {
	parts := make(map[string]string)
	for name, value := range jsonrpc.Members(definition) {
		if !slices.Contains(unprinted, name) {
			sum := sha256.Sum256(canonical(nil, value))
			parts[name] = base64.RawURLEncoding.EncodeToString(sum[:])
		}
	}
	return parts
}

// Lock is what the file of pins holds: the digests of what servers listed when that was accepted.
type Lock struct {
	Version int               `json:"version"`
	Servers map[string]Prints `json:"servers"`
}

const (
	lockVersion = 1
	maxLock     = 64 << 20 // bytes of the file
)

// ReadLock reads a file of pins. One that does not exist is empty.
func ReadLock(path string) (*Lock, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &Lock{Version: lockVersion, Servers: make(map[string]Prints)}, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular(): // a pipe would be waited for
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxLock+1))
	switch {
	case err != nil:
		return nil, err
	case len(raw) > maxLock:
		return nil, fmt.Errorf("%s is larger than %d bytes", path, maxLock)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	lock := &Lock{}
	err = d.Decode(lock)
	if _, more := d.Token(); err == nil && !errors.Is(more, io.EOF) {
		err = errors.New("something follows its end")
	}
	if err != nil {
		return nil, fmt.Errorf("%s is damaged (%w); put back what it held, or delete it and accept what the servers list now with rialto pin", path, err)
	}
	if lock.Version != lockVersion {
		return nil, fmt.Errorf("%s has the version %d, and this program reads version %d", path, lock.Version, lockVersion)
	}
	if lock.Servers == nil {
		return nil, fmt.Errorf("%s is damaged (it has no \"servers\"); put back what it held, or delete it and accept what the servers list now with rialto pin", path)
	}
	return lock, nil
}

// Write puts the lock into a file, in one step: the file holds the old or the new in whole, whatever happens. A symbolic link stays,
// and the file that it leads to is written.
func (l *Lock) Write(path string) (err error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	raw, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // what went wrong is told by err
		}
	}()
	_, err = f.Write(append(raw, '\n'))
	err = errors.Join(err, f.Sync(), f.Chmod(modeOf(path)), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// modeOf is the mode of a file that is there already, else that of one that all may read: it holds no secrets.
func modeOf(path string) os.FileMode {
	if info, err := os.Stat(path); err == nil {
		return info.Mode().Perm()
	}
	const usual = 0o644
	return usual
}

// Difference is one thing that a server lists otherwise than it was accepted.
type Difference struct {
	Kind  route.Kind
	Name  string
	What  string   // new, changed or removed
	Parts []string // of the definition, that are different
}

// String is the difference in words, as in "tool forecast has changed: description".
func (d Difference) String() string {
	switch d.What {
	case isNew:
		return fmt.Sprintf("%s %q is new", wordFor(d.Kind), d.Name)
	case isRemoved:
		return fmt.Sprintf("%s %q is gone", wordFor(d.Kind), d.Name)
	}
	return fmt.Sprintf("%s %q has changed: %s", wordFor(d.Kind), d.Name, visible(strings.Join(d.Parts, ", ")))
}

const (
	isNew     = "new"
	isChanged = "changed"
	isRemoved = "removed"
)

func wordFor(kind route.Kind) string {
	if kind == route.Template {
		return "resource template"
	}
	return string(kind)
}

// Compare says what is different in what a server lists now, by kind and name. A server that is not in the lock has nothing
// that is different; see [Lock.Knows].
func (l *Lock) Compare(server string, now Prints) (out []Difference) {
	known, ok := l.Servers[server]
	if !ok {
		return nil
	}
	for _, list := range printed {
		was, is := known[list.kind], now[list.kind]
		for name := range maps.Keys(is) {
			if _, ok := was[name]; !ok {
				out = append(out, Difference{Kind: list.kind, Name: name, What: isNew})
			} else if parts := differing(was[name], is[name]); parts != nil {
				out = append(out, Difference{list.kind, name, isChanged, parts})
			}
		}
		for name := range maps.Keys(was) {
			if _, ok := is[name]; !ok {
				out = append(out, Difference{Kind: list.kind, Name: name, What: isRemoved})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Difference) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name)) })
	return out
}

func differing(a, b map[string]string) (parts []string) {
	for part := range a {
		if a[part] != b[part] {
			parts = append(parts, part)
		}
	}
	for part := range b {
		if _, ok := a[part]; !ok {
			parts = append(parts, part)
		}
	}
	slices.Sort(parts)
	return parts
}

// Knows tells whether anything of a server has been accepted.
func (l *Lock) Knows(server string) bool {
	_, ok := l.Servers[server]
	return ok
}
