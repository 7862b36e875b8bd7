package llm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/rialto-mcp/rialto/internal/schema"
	"github.com/rialto-mcp/rialto/llm/portable"
	"github.com/rialto-mcp/rialto/mcp"
)

// Options says which tools a model gets, and how. The zero value gives all of them.
type Options struct {
	// Profile is the API that the set is for; see openai.Chat, openai.Responses, openai.Compatible, anthropic.Messages and
	// gemini.GenerateContent.
	Profile Profile

	// Allow and Deny are patterns in which '*' stands for any run of characters. One with a '/' is held against server/tool,
	// any other against the tool's name as the server gave it. A tool is in the set when no pattern of Deny fits and, where
	// Allow is not empty, one of Allow does. What is not in the set cannot be called either.
	Allow, Deny []string

	// Aliases names tools anew, by tool or server/tool. An alias the API does not take fails the call of Tools.
	Aliases map[string]string

	// NoPrefix leaves the server's name out of the names. Of two tools with one name the first is in the set then, the other
	// among Skipped.
	NoPrefix bool

	// Strict are patterns like Allow, of tools whose calls the API is to hold to the schema. One whose schema has no strict form
	// is offered without; Tool.Strict tells.
	Strict []string

	// ReturnDirect are patterns like Allow, of tools whose result is the answer, without another turn of the model. See
	// [MetaReturnDirect] for how a server says so itself.
	ReturnDirect []string

	// HideUserContent keeps from the model what is annotated as meant for the user alone.
	HideUserContent bool

	// MaxTextBytes bounds the text of one result that goes to the model, MaxMediaBytes all its pictures, sounds and files
	// together. What is cut off is said to be. Zero means 256 KiB and 10 MiB; negative means no bound.
	MaxTextBytes, MaxMediaBytes int

	// MaxParallel bounds how many calls InvokeAll has under way. Zero means 8.
	MaxParallel int

	// Approve may refuse a call at the last moment: to ask the user, say. Its error text goes to the model. Nil allows all.
	Approve func(ctx context.Context, tool Tool, args json.RawMessage) error
}

func (o Options) withDefaults() Options {
	o.Profile = o.Profile.withDefaults()
	if o.MaxTextBytes == 0 {
		o.MaxTextBytes = 256 << 10
	}
	if o.MaxMediaBytes == 0 {
		o.MaxMediaBytes = 10 << 20
	}
	if o.MaxParallel <= 0 {
		o.MaxParallel = 8
	}
	return o
}

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
	listed  []Tool
	byName  map[string]*bound
	skipped []Skipped
	digest  string
	index   func() *index
}

// bound is a tool that can be called.
type bound struct {
	Tool
	form    *portable.Schema
	listed  json.RawMessage // the server's schema
	own     func(ctx context.Context, args json.RawMessage) *mcp.CallToolResult
	compile func() (*schema.Schema, error)
}

// Tools asks a source for its tools and binds them to an API.
//
// It fails when the source cannot be asked, and for an alias that cannot be used. Everything about single tools is in
// [Set.Skipped].
func Tools(ctx context.Context, source Source, o Options) (*Set, error) {
	list, err := source.ListTools(ctx)
	if err != nil {
		return nil, fmt.Errorf("list tools: %w", err)
	}
	s := &Set{opts: o.withDefaults(), source: source, byName: map[string]*bound{}}
	for _, alias := range s.opts.Aliases {
		if err := s.opts.Profile.legal(alias); err != nil {
			return nil, err
		}
	}
	prefix := !o.NoPrefix && slices.ContainsFunc(list, func(l Listed) bool { return l.Server != "" })
	for _, l := range list {
		s.add(l, prefix)
	}
	s.finish()
	return s, nil
}

func (s *Set) add(l Listed, prefix bool) {
	switch {
	case l.Err != nil:
		s.skip(l.Server, "", l.Err)
		return
	case !s.opts.wants(l.Server, l.Tool.Name):
		return
	case s.opts.Profile.ToolsMax > 0 && len(s.listed) >= s.opts.Profile.ToolsMax:
		s.skip(l.Server, l.Tool.Name, fmt.Errorf("the API takes %d tools at most; narrow the list with Allow, or see Set.WithSearch", s.opts.Profile.ToolsMax))
		return
	}
	b, err := s.opts.bind(l, prefix)
	if err == nil && s.byName[b.Name] != nil {
		err = fmt.Errorf("the name %q is taken by tool %q of server %q", b.Name, s.byName[b.Name].Original, s.byName[b.Name].Server)
	}
	if err != nil {
		s.skip(l.Server, l.Tool.Name, err)
		return
	}
	s.byName[b.Name] = b
	s.listed = append(s.listed, b.Tool)
}

func (s *Set) skip(server, tool string, reason error) {
	s.skipped = append(s.skipped, Skipped{server, tool, reason})
}

func (s *Set) finish() {
	hash := sha256.New()
	for _, t := range s.listed {
		fmt.Fprintf(hash, "%q %q %q %t %s\n", t.Name, t.Title, t.Description, t.Strict, t.Input)
	}
	s.digest = hex.EncodeToString(hash.Sum(nil))
	all := slices.Clone(s.listed)
	s.index = sync.OnceValue(func() *index { return newIndex(all) })
}

// wants tells whether the lists of patterns let a tool in.
func (o *Options) wants(server, tool string) bool {
	return !fits(o.Deny, server, tool) && (len(o.Allow) == 0 || fits(o.Allow, server, tool))
}

func fits(patterns []string, server, tool string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		return wild(p, tool) || strings.Contains(p, "/") && wild(p, server+"/"+tool)
	})
}

// bind makes of a listed tool one that a model can call.
func (o *Options) bind(l Listed, prefix bool) (*bound, error) {
	t := l.Tool
	if t.Name == "" {
		return nil, fmt.Errorf("it has no name")
	}
	b := &bound{Tool: Tool{
		Server: l.Server, Original: t.Name, Title: t.DisplayName(), Description: t.Description, Output: t.OutputSchema, Annotations: t.Annotations,
		ReturnDirect: fits(o.ReturnDirect, l.Server, t.Name) || returnsDirect(t.Meta),
	}, listed: t.InputSchema}
	b.Name = o.nameOf(l, prefix)
	if b.Description == "" && b.Title != t.Name {
		b.Description = b.Title
	}
	b.Description = cut(strings.ToValidUTF8(b.Description, "\uFFFD"), o.Profile.DescriptionMax)
	var err error
	if o.Profile.Strict != "" && fits(o.Strict, l.Server, t.Name) {
		b.form, err = portable.Make(t.InputSchema, o.Profile.Strict)
		b.Strict = err == nil
	}
	if !b.Strict {
		if b.form, err = portable.Make(t.InputSchema, o.Profile.Dialect); err != nil {
			return nil, fmt.Errorf("its input schema: %w", err)
		}
	}
	if _, err := schema.Compile(b.form.JSON, schema.Options{}); err != nil {
		return nil, fmt.Errorf("its input schema has no form that can be relied on: %w", err)
	}
	b.Input, b.Edits = b.form.JSON, b.form.Edits
	b.Tokens = b.estimate()
	b.compile = sync.OnceValues(func() (*schema.Schema, error) {
		if b.listed == nil {
			return schema.Compile(json.RawMessage(`{"type":"object"}`), schema.Options{})
		}
		return schema.Compile(b.listed, schema.Options{})
	})
	return b, nil
}

func returnsDirect(meta mcp.Meta) bool {
	raw, _ := mcp.Member(meta, MetaReturnDirect)
	return string(raw) == "true"
}

func (o *Options) nameOf(l Listed, prefix bool) string {
	for _, key := range []string{l.Server + "/" + l.Tool.Name, l.Tool.Name} {
		if alias, ok := o.Aliases[key]; ok {
			return alias
		}
	}
	if !prefix {
		return o.Profile.Name("", l.Tool.Name)
	}
	return o.Profile.Name(l.Server, l.Tool.Name)
}

// Tools lists the tools in the order of the source. The caller may keep the slice and must not change what it points to.
func (s *Set) Tools() []Tool { return slices.Clone(s.listed) }

// Tool finds a tool by the name that the model uses.
func (s *Set) Tool(name string) (Tool, bool) {
	b, ok := s.byName[name]
	if !ok {
		return Tool{}, false
	}
	return b.Tool, true
}

// Skipped tells what was left out, and why. What Allow and Deny leave out is not among it.
func (s *Set) Skipped() []Skipped { return slices.Clone(s.skipped) }

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
