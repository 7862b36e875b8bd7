package llm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/rialto-mcp/rialto/llm/portable"
	"github.com/rialto-mcp/rialto/mcp"
)

// MetaReturnDirect is the member of a tool's _meta by which a server says, with true, that the tool's result is the answer.
const MetaReturnDirect = "io.github.rialto-mcp/returnDirect"

// Tool is a tool as a model gets it. Values are read-only.
type Tool struct {
	Name             string // for the model
	Server, Original string // where it comes from, and what it is called there

	Title       string
	Description string               // the server's, else the title
	Input       json.RawMessage      // the schema of the arguments, in the dialect of the profile
	Output      json.RawMessage      // of structured content, as listed; nil where there is none
	Annotations *mcp.ToolAnnotations // hints, not to be trusted more than the server

	Strict       bool            // Input is in the strict dialect
	ReturnDirect bool            // the result is the answer
	Edits        []portable.Edit // what Input has lost against the listed schema
	Tokens       int             // estimate of what the definition costs in a request
}

// Skipped is a tool that is not in the set although it was wanted, or a server that could not be asked.
type Skipped struct {
	Server, Tool string
	Reason       error
}

// Set is what one model can call at one time. It is immutable and safe for concurrent use.
type Set struct {
	opts    Options
	source  Source
	listed  []Tool            // the definitions that the model gets
	all     []*bound          // the tools of the source, those that the API has no room for too
	byName  map[string]*bound // all of them, and what WithSearch adds
	skipped []Skipped
	over    []Skipped // those that the API has no room for
	search  bool      // made by WithSearch: what is not listed can be called too
	digest  string
	index   func() *Index
}

// Tools asks a source for its tools and binds them to an API.
//
// It fails when the source cannot be asked, and for an alias that cannot be used. Everything about single tools is in
// [Set.Skipped].
func Tools(ctx context.Context, source Source, o Options) (*Set, error) {
	s := &Set{opts: o.withDefaults(), source: source, byName: map[string]*bound{}}
	for _, alias := range s.opts.Aliases {
		if err := s.opts.Profile.legal(alias); err != nil {
			return nil, err
		}
	}
	list, err := ask(ctx, source)
	if err != nil {
		return nil, fmt.Errorf("list tools: %w", err)
	}
	b := newBinder(s, list)
	for _, l := range list {
		b.add(l)
	}
	s.finish()
	return s, nil
}

func (s *Set) skip(server, tool string, reason error) {
	s.skipped = append(s.skipped, Skipped{server, tool, reason})
}

// finish computes what depends on the whole set.
func (s *Set) finish() {
	hash := sha256.New()
	for _, t := range s.listed {
		fmt.Fprintf(hash, "%q %q %q %t %s\n", t.Name, t.Title, t.Description, t.Strict, t.Input)
	}
	s.digest = hex.EncodeToString(hash.Sum(nil))
	all := s.all
	s.index = sync.OnceValue(func() *Index {
		tools := make([]Listed, len(all))
		for i, b := range all {
			tools[i] = Listed{Server: b.Server, Tool: mcp.Tool{Name: b.Original, Title: b.Title, Description: b.Description, InputSchema: b.Input}}
		}
		return NewIndex(tools)
	})
}

// lookup finds what can be called by the name that the model uses.
func (s *Set) lookup(name string) (*bound, bool) {
	b, ok := s.byName[name]
	return b, ok && (s.search || !b.beyond)
}

// Tools lists the tools in the order of the source. The caller may keep the slice and must not change what it points to.
func (s *Set) Tools() []Tool { return slices.Clone(s.listed) }

// Tool finds a tool by the name that the model uses.
func (s *Set) Tool(name string) (Tool, bool) {
	b, ok := s.lookup(name)
	if !ok {
		return Tool{}, false
	}
	return b.Tool, true
}

// Skipped tells what was left out, and why. What Allow and Deny leave out is not among it.
func (s *Set) Skipped() []Skipped { return append(slices.Clone(s.skipped), s.over...) }

// Digest is equal for sets that give a model the same definitions.
func (s *Set) Digest() string { return s.digest }

// Profile is the API that the set is bound to.
func (s *Set) Profile() Profile { return s.opts.Profile }

// Tokens estimates what all definitions together cost in a request.
func (s *Set) Tokens() int {
	n := 0
	for _, t := range s.listed {
		n += t.Tokens
	}
	return n
}
