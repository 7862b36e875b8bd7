package llm

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/rialto-mcp/rialto/llm/portable"
)

// Profile says what one API takes. The packages of the vendors have ready ones; the zero value is fit for all of them at
// once: names of at most 64 letters, digits, '_' and '-' that begin with a letter or '_'.
//
// A name that fits and has no server in front stays as it is. Where a [Source] has several servers, the server's name
// stands in front, with "__" between; a tool of a server without a name is marked as below when "__" is in its own name.
// What does not fit is cleaned, cut in the middle, and gets eight digits of a digest over server and name; so a name depends
// on these alone, not on what else is in the list, and two names never become one.
type Profile struct {
	API string // for reports

	NameMax   int    // bytes of a name; zero means 64
	NameExtra string // what names may hold beside letters, digits and '_'; empty means "-"
	NameDigit bool   // a name may begin with any letter of the alphabet, not only with an ASCII letter or '_'

	Dialect portable.Dialect // of schemas; empty means portable.OpenAI
	Strict  portable.Dialect // of schemas of tools that are to be strict; empty means that there are none

	DescriptionMax int // bytes of a description; zero means no bound
	ToolsMax       int // tools in one request; zero means no bound
	IDMax          int // bytes of a call's id, where one has to be made up; zero means 40
}

func (p Profile) withDefaults() Profile {
	if p.NameMax <= 0 {
		p.NameMax = 64
	}
	if p.NameExtra == "" {
		p.NameExtra = "-"
	}
	if p.Dialect == "" {
		p.Dialect = portable.OpenAI
	}
	if p.IDMax <= 0 {
		p.IDMax = 40
	}
	return p
}

const separator = "__"

// Name is the name that a tool has for the model. It is a pure function; server is "" where no name of a server is wanted.
func (p Profile) Name(server, tool string) string {
	p = p.withDefaults()
	base := tool
	if server != "" {
		base = server + separator + tool
	}
	clean := p.clean(base)
	unclear := strings.Contains(server, separator) || strings.HasSuffix(server, "_") // where the server ends could be read in two ways
	if clean == base && !unclear && len(base) <= p.NameMax {
		return base
	}
	return p.marked(server, tool)
}

// marked is a name with a digest in it, which no tool has that keeps its own.
func (p Profile) marked(server, tool string) string {
	base := tool
	if server != "" {
		base = server + separator + tool
	}
	clean := p.clean(base)
	sum := sha256.Sum256([]byte(server + "\x00" + tool))
	digest := hex.EncodeToString(sum[:4])
	room := p.NameMax - len(digest) - 1
	if len(clean) <= room {
		return clean + "_" + digest
	}
	head := (room - 1) / 2
	tail := room - 1 - head
	return clean[:head] + "_" + digest + "_" + clean[len(clean)-tail:]
}

// clean replaces what a name may not hold, byte by byte.
func (p Profile) clean(name string) string {
	var out strings.Builder
	for i := range len(name) {
		r := name[i]
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_'
		digit := r >= '0' && r <= '9'
		if i == 0 && !letter && !p.NameDigit {
			out.WriteByte('_')
		}
		if letter || digit || strings.IndexByte(p.NameExtra, r) >= 0 {
			out.WriteByte(r)
		} else {
			out.WriteByte('_')
		}
	}
	if out.Len() == 0 {
		return "_"
	}
	return out.String()
}

// legal says why a name that a user has chosen is not fit.
func (p Profile) legal(name string) error {
	if name == "" || len(name) > p.NameMax || p.clean(name) != name {
		return fmt.Errorf("the alias %q is no name that the API takes: up to %d letters, digits, '_' and %q", name, p.NameMax, p.NameExtra)
	}
	return nil
}

// ID makes an id that fits an alphabet and a length of one that does not; one that fits stays. It is a pure function.
func (p Profile) ID(id string) string {
	p = p.withDefaults()
	fits := id != "" && len(id) <= p.IDMax
	for i := range len(id) {
		r := id[i]
		fits = fits && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-')
	}
	if fits {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "c" + hex.EncodeToString(sum[:8])
}

// cut shortens a text to a number of bytes, on the border of a character.
func cut(text string, most int) string {
	if most <= 0 || len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}
