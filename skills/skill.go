package skills

import (
	"crypto/sha256"
	"encoding/hex"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rialto-mcp/rialto/internal/frontmatter"
	"github.com/rialto-mcp/rialto/mcp"
)

// Manifest is the name of the file that makes a folder a skill.
const Manifest = "SKILL.md"

// What every host takes; larger skills may be refused. Extension io.modelcontextprotocol/skills, "Limits".
const (
	MaxFiles = 512      // of one skill, its manifest included
	MaxBytes = 16 << 20 // of all files of one skill
)

// Skill is the entry of one skill.
//
// Shape: {"uri", "frontmatter": {"name", "description", ...}, "resources": [{"uri", "digest", "size"}] | "dynamic"}.
type Skill struct {
	URI         string             // of its SKILL.md
	FrontMatter stdjson.RawMessage // that of its SKILL.md, every member of it
	Files       []File             // all of them, the SKILL.md included; nil when Dynamic
	Dynamic     bool               // its files are made when they are read, and have no digests
	Meta        mcp.Meta
	Extra       jsontext.Value
}

// File is one file of a skill.
type File struct {
	URI    string `json:"uri"`
	Digest string `json:"digest"` // "sha256:" and 64 lowercase hexadecimal digits, over the file's bytes
	Size   int64  `json:"size"`   // bytes
}

// wire is the form of a Skill on the wire.
type wire struct {
	URI         string         `json:"uri"`
	FrontMatter jsontext.Value `json:"frontmatter"`
	Resources   jsontext.Value `json:"resources"`
	Meta        mcp.Meta       `json:"_meta,omitzero"`
	Extra       jsontext.Value `json:",embed"`
}

const dynamic = `"dynamic"`

// MarshalJSON implements json.Marshaler.
func (s Skill) MarshalJSON() ([]byte, error) {
	resources := []byte(dynamic)
	if !s.Dynamic {
		var err error
		if resources, err = json.Marshal(s.Files, json.FormatNilSliceAsNull(false)); err != nil {
			return nil, err
		}
	}
	return json.Marshal(wire{s.URI, jsontext.Value(s.FrontMatter), resources, s.Meta, s.Extra}, jsontext.PreserveRawStrings(true))
}

// UnmarshalJSON implements json.Unmarshaler. It takes any entry that has the shape; see Check for the rest.
func (s *Skill) UnmarshalJSON(in []byte) error {
	var w wire
	if err := json.Unmarshal(in, &w); err != nil {
		return err
	}
	out := Skill{URI: w.URI, FrontMatter: stdjson.RawMessage(w.FrontMatter), Meta: w.Meta, Extra: w.Extra}
	switch w.Resources.Kind() {
	case '[':
		if err := json.Unmarshal(w.Resources, &out.Files); err != nil {
			return fmt.Errorf("resources: %w", err)
		}
	case '"':
		if out.Dynamic = string(w.Resources) == dynamic; !out.Dynamic {
			return fmt.Errorf("resources must be a list of files or %s, got %.60s", dynamic, w.Resources)
		}
	default:
		return fmt.Errorf("resources must be a list of files or %s", dynamic)
	}
	*s = out
	return nil
}

// head are the members of the front matter that every skill has.
type head struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

func (s Skill) head() (head, error) {
	var h head
	if jsontext.Value(s.FrontMatter).Kind() != '{' {
		return h, errors.New("the front matter is missing")
	}
	return h, json.Unmarshal(s.FrontMatter, &h)
}

// Name is the name in the front matter, "" when there is none. It is a label: skills of one server and of several may share
// one; the URI tells those of one server apart.
func (s Skill) Name() string { h, _ := s.head(); return h.Name }

// Description is the description in the front matter, "" when there is none.
func (s Skill) Description() string { h, _ := s.head(); return h.Description }

// Root is the URI of the skill's folder, without a slash at the end.
func (s Skill) Root() string { return strings.TrimSuffix(s.URI, "/"+Manifest) }

// File finds a file by its URI.
func (s Skill) File(uri string) (File, bool) {
	for _, f := range s.Files {
		if f.URI == uri {
			return f, true
		}
	}
	return File{}, false
}

// Bytes is the size of all files together.
func (s Skill) Bytes() int64 {
	var n int64
	for _, f := range s.Files {
		n += f.Size
	}
	return n
}

var (
	nameRule   = regexp.MustCompile(`^[a-z0-9]+(?:-[a-z0-9]+)*$`)
	digestRule = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
)

const (
	maxName        = 64   // characters, by the Agent Skills specification
	maxDescription = 1024 // likewise
)

// Check says why an entry breaks the rules of the extension; the limits of MaxFiles and MaxBytes are not among them. A host
// does not load a skill whose entry fails.
func (s Skill) Check() error {
	root, ok := strings.CutSuffix(s.URI, "/"+Manifest)
	_, path, hasScheme := strings.Cut(root, "://")
	if !ok || !hasScheme || path == "" || !leadsDown(strings.TrimPrefix(path, "/")) { // some schemes have no authority in front
		return fmt.Errorf("the URI %.200q of a skill must end in /NAME/%s, and lead straight there", s.URI, Manifest)
	}
	if err := s.checkHead(path[strings.LastIndexByte(path, '/')+1:]); err != nil {
		return fmt.Errorf("%.200s: %w", s.URI, err)
	}
	if s.Dynamic {
		return nil
	}
	seen := make(map[string]bool, len(s.Files))
	for _, f := range s.Files {
		switch {
		case !within(root, f.URI):
			return fmt.Errorf("%.200s: the file %.200q is not in the folder of the skill", s.URI, f.URI)
		case seen[f.URI]:
			return fmt.Errorf("%.200s: the file %.200q is listed twice", s.URI, f.URI)
		case !digestRule.MatchString(f.Digest):
			return fmt.Errorf("%.200s: the digest %.80q is not sha256: and 64 lowercase hexadecimal digits", s.URI, f.Digest)
		case f.Size < 0:
			return fmt.Errorf("%.200s: the file %.200q has a negative size", s.URI, f.URI)
		}
		seen[f.URI] = true
	}
	if !seen[s.URI] {
		return fmt.Errorf("%.200s: the list of files lacks the %s itself", s.URI, Manifest)
	}
	return nil
}

// checkHead checks name and description; folder is the last segment of the skill's path.
func (s Skill) checkHead(folder string) error {
	h, err := s.head()
	switch {
	case err != nil:
		return fmt.Errorf("front matter: %w", err)
	case len(h.Name) > maxName || !nameRule.MatchString(h.Name):
		return fmt.Errorf("the name %.80q must be 1 to %d lowercase letters, digits and single hyphens", h.Name, maxName)
	case h.Name != folder:
		return fmt.Errorf("the name is %q and the folder %.80q; they must be the same", h.Name, folder)
	case h.Description == "" || utf8.RuneCountInString(h.Description) > maxDescription:
		return fmt.Errorf("the description must have 1 to %d characters, it has %d", maxDescription, utf8.RuneCountInString(h.Description))
	}
	return nil
}

// Digest is the digest of a file's bytes, as entries carry it.
func Digest(content []byte) string {
	sum := sha256.Sum256(content)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Verify says why content is not the file that the entry tells of: it is not listed, or has another size, digest or, in the
// SKILL.md, other front matter. Such content is not to be used; the skill may have changed, which skills/get tells. Of a
// dynamic skill the front matter alone is compared.
func (s Skill) Verify(uri string, content []byte) error {
	if !s.Dynamic {
		f, ok := s.File(uri)
		switch {
		case !ok:
			return fmt.Errorf("%.200s is no file that the entry of the skill lists", uri)
		case int64(len(content)) != f.Size:
			return fmt.Errorf("%.200s has %d bytes, and the entry of the skill says %d", uri, len(content), f.Size)
		case Digest(content) != f.Digest:
			return fmt.Errorf("%.200s does not have the digest that the entry of the skill says", uri)
		}
	}
	if uri != s.URI {
		return nil
	}
	own, err := frontmatter.JSON(content)
	if err != nil {
		return fmt.Errorf("%.200s: %w", uri, err)
	}
	if !sameJSON(own, s.FrontMatter) {
		return fmt.Errorf("%.200s has other front matter than the entry of the skill", uri)
	}
	return nil
}
