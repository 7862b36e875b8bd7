package skills

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/rialto-mcp/rialto/internal/frontmatter"
	"github.com/rialto-mcp/rialto/mcp"
)

// Set is what a server serves: skills with all their files. It is not changed any more and may be used concurrently.
type Set struct {
	opts    Options
	skills  map[string]*skill // by URI
	listed  []item            // entries in the order of their URIs
	files   []*file           // in the order of their URIs
	byURI   map[string]*file
	folders map[string][]item // what stands in a folder, by its URI
}

// skill is one skill with its entry as it goes out.
type skill struct {
	Skill
	raw json.RawMessage
}

// file is one file that is served.
type file struct {
	resource mcp.Resource
	content  []byte // nil when it is made
	digest   string
	made     Maker
}

// item is an entry of a list.
type item struct {
	key string // its URI
	raw json.RawMessage
}

// Skills lists the entries of all skills, unlisted ones included, by their URIs.
func (s *Set) Skills() []Skill {
	var all []Skill
	for _, uri := range slices.Sorted(maps.Keys(s.skills)) {
		all = append(all, s.skills[uri].Skill)
	}
	return all
}

// builder gathers the files of a Set.
type builder struct {
	opts    Options
	base    string // in front of the folders below one that is a skill itself
	total   int64
	sources []Source         // with whole paths
	roots   map[string]bool  // the paths of sources
	files   map[string]*file // by path
	names   []string         // the paths of files, sorted; set by finish
	faults  []error
}

func newBuilder(o Options) *builder {
	return &builder{opts: o.withDefaults(), roots: map[string]bool{}, files: map[string]*file{}}
}

func (b *builder) refuse(path string, err error) { b.faults = append(b.faults, fault(path, err)) }

// add takes the files of a source.
func (b *builder) add(src Source) {
	if err := b.place(&src); err != nil {
		b.refuse(src.Path, err)
		return
	}
	b.sources = append(b.sources, src)
	b.roots[src.Path] = true
	for name, content := range src.Files {
		b.put(src.Path, name, &file{content: content, digest: Digest(content)})
	}
	for name, made := range src.Made {
		b.put(src.Path, name, &file{made: made})
	}
}

// place finds the whole path of a source.
func (b *builder) place(src *Source) error {
	manifest, ok := src.Files[Manifest]
	if !ok {
		return fmt.Errorf("it has no %s", Manifest)
	}
	if src.Path == "." { // the folder that is loaded is a skill itself
		matter, err := frontmatter.JSON(manifest)
		if err != nil {
			return fmt.Errorf("%s: %w", Manifest, err)
		}
		src.Path = Skill{FrontMatter: matter}.Name()
		b.base = src.Path
	}
	valid := validPath(src.Path) && (b.opts.Prefix == "" || validPath(b.opts.Prefix))
	if src.Path = path.Join(b.opts.Prefix, src.Path); !valid {
		return errors.New("the path must be segments with / between them, without empty ones and those that begin with a dot")
	}
	if b.roots[src.Path] {
		return errors.New("it is there twice")
	}
	return nil
}

// validPath tells whether a path leads down, by names that URIs and folders have alike.
func validPath(p string) bool {
	return fs.ValidPath(p) && !strings.HasPrefix(p, ".") && !strings.Contains(p, "/.") && !strings.ContainsAny(p, "\\\x00")
}

func (b *builder) put(folder, name string, f *file) {
	if !validPath(name) {
		b.refuse(folder, fmt.Errorf("%q is no path inside its folder", name))
		return
	}
	whole := path.Join(folder, name)
	if old, ok := b.files[whole]; ok {
		if f.made != nil || old.made != nil || old.digest != f.digest {
			b.refuse(folder, fmt.Errorf("%q is there twice, with different contents", whole))
		}
		return
	}
	b.files[whole] = f
	if b.total += int64(len(f.content)); b.total > b.opts.MaxTotal {
		b.refuse(folder, fmt.Errorf("all skills together exceed %d bytes", b.opts.MaxTotal))
	}
}

// finish makes the entries.
func (b *builder) finish() (*Set, error) {
	s := &Set{opts: b.opts, skills: map[string]*skill{}, byURI: map[string]*file{}, folders: map[string][]item{}}
	b.names = slices.Sorted(maps.Keys(b.files))
	for _, name := range b.names {
		b.describe(name, b.files[name])
	}
	for _, src := range b.sources {
		entry, err := b.entry(src)
		if err != nil {
			b.refuse(src.Path, err)
			continue
		}
		raw, err := entry.MarshalJSON()
		if err != nil {
			b.refuse(src.Path, err)
			continue
		}
		s.skills[entry.URI] = &skill{entry, raw}
		if !src.Unlisted {
			s.listed = append(s.listed, item{entry.URI, raw})
		}
	}
	if len(b.faults) > 0 {
		return nil, errors.Join(b.faults...)
	}
	byKey := func(a, b item) int { return cmp.Compare(a.key, b.key) }
	slices.SortFunc(s.listed, byKey)
	for _, f := range b.files {
		s.files = append(s.files, f)
		s.byURI[f.resource.URI] = f
	}
	slices.SortFunc(s.files, func(a, b *file) int { return cmp.Compare(a.resource.URI, b.resource.URI) })
	if err := b.folders(s); err != nil {
		return nil, err
	}
	for _, children := range s.folders {
		slices.SortFunc(children, byKey)
	}
	return s, nil
}

// describe says what a file is as a resource. A manifest is named when its skill is made.
func (b *builder) describe(name string, f *file) {
	f.resource = mcp.Resource{URI: uriOf(name), Name: path.Base(name), MIMEType: typeOf(name, f.made != nil || isText(f.content))}
	if f.made == nil {
		size := int64(len(f.content))
		f.resource.Size = &size
	}
}

// entry makes the entry of a skill: of all files below its folder, those of other skills included.
func (b *builder) entry(src Source) (Skill, error) {
	manifest := b.files[path.Join(src.Path, Manifest)]
	matter, err := frontmatter.JSON(manifest.content)
	if err != nil {
		return Skill{}, fmt.Errorf("%s: %w", Manifest, err)
	}
	e := Skill{URI: manifest.resource.URI, FrontMatter: matter}
	n := 0
	first, _ := slices.BinarySearch(b.names, src.Path+"/")
	for _, name := range b.names[first:] {
		if !strings.HasPrefix(name, src.Path+"/") {
			break
		}
		n++
		f := b.files[name]
		e.Dynamic = e.Dynamic || f.made != nil
		e.Files = append(e.Files, File{URI: f.resource.URI, Digest: f.digest, Size: int64(len(f.content))})
	}
	if size := e.Bytes(); n > b.opts.MaxFiles || size > b.opts.MaxBytes {
		return Skill{}, fmt.Errorf("it has %d files of %d bytes; at most %d files and %d bytes are allowed", n, size, b.opts.MaxFiles, b.opts.MaxBytes)
	}
	slices.SortFunc(e.Files, func(a, b File) int { return cmp.Compare(a.URI, b.URI) })
	if e.Dynamic {
		e.Files = nil
	}
	manifest.resource.Name, manifest.resource.Description, manifest.resource.MIMEType = e.Name(), e.Description(), ManifestType
	return e, e.Check()
}

// folders fills in what stands in each folder, from those of skills downwards.
func (b *builder) folders(s *Set) error {
	inside := func(name string) bool {
		_, ok := owner(b.roots, path.Join(name, Manifest))
		return ok
	}
	for name, f := range b.files {
		child, res := name, f.resource
		for {
			raw, err := res.AppendJSON(nil)
			if err != nil {
				return fmt.Errorf("resource %s: %w", res.URI, err)
			}
			dir := path.Dir(child)
			if !inside(dir) {
				break
			}
			_, known := s.folders[uriOf(dir)]
			s.folders[uriOf(dir)] = append(s.folders[uriOf(dir)], item{res.URI, raw})
			if known {
				break // it stands in its own folder already
			}
			child, res = dir, mcp.Resource{URI: uriOf(dir), Name: path.Base(dir), MIMEType: DirectoryType}
		}
	}
	return nil
}
