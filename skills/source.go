package skills

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// Options says where skills stand and bounds them. The zero value is ready to use.
type Options struct {
	// Prefix is put in front of the path of every skill, such as "acme/billing". Empty means nothing.
	Prefix string

	// MaxFiles and MaxBytes bound one skill: the files it has, and their bytes together. Zero means 512 and 16 MiB, which
	// every host takes; negative means no bound.
	MaxFiles int
	MaxBytes int64

	// MaxTotal bounds the bytes of all skills of a Set, which are kept in memory. Zero means 256 MiB; negative means no
	// bound.
	MaxTotal int64

	// PageSize is the number of entries on a page of skills/list and of resources/directory/read. A page of skills ends at
	// 1 MiB as well. Zero or less means 100.
	PageSize int

	// Cache is the hint for entries, folders and files. What it does not say the server's options do.
	Cache mcp.CacheHint
}

func (o Options) withDefaults() Options {
	fill := func(n *int64, otherwise int64) {
		switch {
		case *n == 0:
			*n = otherwise
		case *n < 0:
			*n = 1<<63 - 1
		}
	}
	files := int64(o.MaxFiles)
	fill(&files, MaxFiles)
	fill(&o.MaxBytes, MaxBytes)
	fill(&o.MaxTotal, 256<<20)
	o.MaxFiles = int(min(files, 1<<31-1))
	if o.PageSize <= 0 {
		o.PageSize = 100
	}
	return o
}

// Source is one skill as a Go value.
type Source struct {
	// Path is where the skill stands, such as "billing/refunds". Its last segment is the name in the front matter.
	Path string

	// Files are the contents of its files by their path in its folder, with / between segments; SKILL.md is one. They are
	// not copied and must not be changed any more.
	Files map[string][]byte

	// Made are files that are made when they are read, by their path. A skill with any has no digests, and hosts may
	// decline it.
	Made map[string]Maker

	// Unlisted keeps the skill out of skills/list. Who knows its URI can have it, and its files are resources like others.
	Unlisted bool
}

// Maker makes a file for one reader. It may be called concurrently. Errors are answered as those of resource handlers.
type Maker func(ctx context.Context, req *server.Request) ([]byte, error)

// New makes a Set of Go values. A skill may stand inside the folder of another, and its files belong to both then. The error
// names every skill that cannot be served.
func New(o Options, sources ...Source) (*Set, error) {
	b := newBuilder(o)
	for _, src := range sources {
		b.add(src)
	}
	return b.finish()
}

// Load reads the skills in a folder and all folders below it: those with a SKILL.md. A folder that has one itself is a
// skill, under the name in its front matter.
//
// Files and folders whose names begin with a dot are left out, and so is what belongs to no skill. Symbolic links and other
// special files inside a skill are refused, since they may lead out of the folder, and links beside skills are not followed; for
// a folder on disk use os.OpenRoot(dir) and its FS, which nothing leads out of. The error names every skill that cannot be served.
func Load(fsys fs.FS, o Options) (*Set, error) {
	found, err := survey(fsys)
	if err != nil {
		return nil, err
	}
	b := newBuilder(o)
	for _, folder := range found.folders {
		b.load(fsys, folder, found.files[folder])
	}
	return b.finish()
}

// surveyed is what stands in a folder.
type surveyed struct {
	folders []string            // those with a SKILL.md, the folder itself first
	files   map[string][]string // those of each skill, without those of skills inside it
}

func survey(fsys fs.FS) (surveyed, error) {
	s := surveyed{files: map[string][]string{}}
	var all []string
	odd := map[string]bool{}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name != "." && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			return nil
		case d.Name() == Manifest:
			s.folders = append(s.folders, path.Dir(name))
		}
		all = append(all, name)
		odd[name] = !d.Type().IsRegular()
		return nil
	})
	if err != nil {
		return s, fmt.Errorf("read the folder of skills: %w", err)
	}
	if i := slices.Index(s.folders, "."); i > 0 {
		s.folders[0], s.folders[i] = s.folders[i], s.folders[0]
	}
	var faults []error
	folders := map[string]bool{}
	for _, folder := range s.folders {
		folders[folder] = true
	}
	for _, name := range all {
		owner, ok := owner(folders, name)
		switch {
		case ok && odd[name]:
			faults = append(faults, fault(owner, fmt.Errorf("%s is a symbolic link or a special file; put a copy there", name)))
		case ok:
			s.files[owner] = append(s.files[owner], name)
		}
	}
	return s, errors.Join(faults...)
}

// owner is the innermost skill that a file stands in.
func owner(folders map[string]bool, name string) (string, bool) {
	for dir := path.Dir(name); ; dir = path.Dir(dir) {
		if folders[dir] {
			return dir, true
		}
		if dir == "." {
			return "", false
		}
	}
}

// load reads the files of one skill.
func (b *builder) load(fsys fs.FS, folder string, files []string) {
	src := Source{Path: path.Join(b.base, folder), Files: map[string][]byte{}}
	left := b.opts.MaxBytes
	for _, name := range files {
		if len(src.Files) == b.opts.MaxFiles {
			b.refuse(folder, fmt.Errorf("it has more than %d files", b.opts.MaxFiles))
			return
		}
		content, err := read(fsys, name, min(left, b.opts.MaxTotal-b.total))
		if errors.Is(err, errTooLarge) {
			err = fmt.Errorf("with %s it exceeds %d bytes, or all skills together exceed %d", name, b.opts.MaxBytes, b.opts.MaxTotal)
		}
		if err != nil {
			b.refuse(folder, err)
			return
		}
		left -= int64(len(content))
		b.total += int64(len(content))
		src.Files[strings.TrimPrefix(name, strings.TrimPrefix(folder, ".")+"/")] = content
	}
	b.total -= b.opts.MaxBytes - left // add counts them
	b.add(src)
}

var errTooLarge = errors.New("too large")

// read reads a file of at most limit bytes.
func read(fsys fs.FS, name string, limit int64) (content []byte, err error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if limit < 1<<62 {
		content, err = io.ReadAll(io.LimitReader(f, limit+1))
	} else {
		content, err = io.ReadAll(f)
	}
	if err == nil && int64(len(content)) > limit {
		return nil, errTooLarge
	}
	return content, err
}
