package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/rialto-mcp/rialto/internal/schema"
	"github.com/rialto-mcp/rialto/llm/portable"
	"github.com/rialto-mcp/rialto/mcp"
)

// bound is a tool that can be called.
type bound struct {
	Tool
	form   *portable.Schema
	beyond bool // more than the API takes: to be found by a search alone
	own    func(ctx context.Context, call Call, args json.RawMessage) Result
	check  func() *schema.Schema // of arguments under the server's names; nil where nothing can be checked here
}

// bind makes of a listed tool one that a model can call.
func (o *Options) bind(l Listed, name string, strict bool) (*bound, error) {
	t := l.Tool
	b := &bound{Tool: Tool{
		Name: name, Server: l.Server, Original: t.Name, Title: t.DisplayName(), Description: t.Description, Output: t.OutputSchema, Annotations: t.Annotations,
		ReturnDirect: Fits(o.ReturnDirect, l.Server, t.Name) || returnsDirect(t.Meta),
	}}
	if b.Description == "" && b.Title != t.Name {
		b.Description = b.Title
	}
	b.Description = cut(strings.ToValidUTF8(b.Description, "\uFFFD"), o.Profile.DescriptionMax)
	var err error
	if strict {
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
	b.check = sync.OnceValue(func() *schema.Schema { return checker(t.InputSchema) })
	return b, nil
}

// checker compiles what arguments are held against: the schema as listed or, where that is none that can be compiled (of an
// old dialect, say), what portable makes of it.
func checker(listed json.RawMessage) *schema.Schema {
	if listed == nil {
		listed = json.RawMessage(`{"type":"object"}`)
	}
	if check, err := schema.Compile(listed, schema.Options{ForeignPatterns: true}); err == nil {
		return check
	}
	made, err := portable.Make(listed, portable.OpenAI) // it renames nothing
	if err != nil {
		return nil
	}
	check, err := schema.Compile(made.JSON, schema.Options{})
	if err != nil {
		return nil
	}
	return check
}

func returnsDirect(meta mcp.Meta) bool {
	raw, _ := mcp.Member(meta, MetaReturnDirect)
	return string(raw) == "true"
}

// binder binds the tools of one list.
type binder struct {
	*Set
	prefix  bool
	aliases map[string]bool // those that tools of this list have
	strict  strictBudget
}

// strictBudget is what an API takes of all strict tools of a request together.
type strictBudget struct{ tools, optional, unions int }

// take takes one tool off, and tells whether there was room for it.
func (s *strictBudget) take(form *portable.Schema) bool {
	optional, unions := form.Weight()
	if s.tools < 1 || s.optional < optional || s.unions < unions {
		return false
	}
	*s = strictBudget{s.tools - 1, s.optional - optional, s.unions - unions}
	return true
}

func newBinder(s *Set, list []Listed) *binder {
	b := &binder{Set: s, aliases: map[string]bool{}, strict: strictBudget{1 << 30, 1 << 30, 1 << 30}}
	if s.opts.Profile.Strict == portable.AnthropicStrict {
		b.strict = strictBudget{20, 24, 16} // beyond it the API refuses the request: its grammar is too large
	}
	for _, l := range list {
		b.prefix = b.prefix || l.Server != "" && !s.opts.NoPrefix
		if alias, ok := s.opts.alias(l); ok && s.opts.wants(l.Server, l.Tool.Name) {
			b.aliases[alias] = true
		}
	}
	return b
}

// add puts a tool into the set, or says why not.
func (b *binder) add(l Listed) {
	switch {
	case l.Err != nil:
		b.skip(l.Server, "", l.Err)
		return
	case !b.opts.wants(l.Server, l.Tool.Name):
		return
	}
	tool, err := b.bind(l)
	if err != nil {
		b.skip(l.Server, l.Tool.Name, err)
		return
	}
	b.byName[tool.Name] = tool
	b.all = append(b.all, tool)
	if most := b.opts.Profile.ToolsMax; most > 0 && len(b.listed) >= most {
		tool.beyond = true
		b.over = append(b.over, Skipped{l.Server, l.Tool.Name, fmt.Errorf("the API takes %d tools at most; narrow the list with Allow, or see Set.WithSearch", most)})
		return
	}
	b.listed = append(b.listed, tool.Tool)
}

func (b *binder) bind(l Listed) (*bound, error) {
	if l.Tool.Name == "" {
		return nil, errors.New("it has no name")
	}
	name, aliased := b.opts.alias(l)
	if !aliased {
		server := l.Server
		if !b.prefix {
			server = ""
		}
		name = b.opts.Profile.Name(server, l.Tool.Name)
		if b.prefix && server == "" && strings.Contains(l.Tool.Name, separator) { // it could be read as one of a server
			name = b.opts.Profile.marked("", l.Tool.Name)
		}
	}
	if other := b.byName[name]; other != nil {
		return nil, fmt.Errorf("the name %q is taken by tool %q of server %q", name, other.Original, other.Server)
	}
	if !aliased && b.aliases[name] {
		return nil, fmt.Errorf("the name %q is taken: it is an alias of another tool", name)
	}
	strict := b.opts.Profile.Strict != "" && Fits(b.opts.Strict, l.Server, l.Tool.Name)
	tool, err := b.opts.bind(l, name, strict)
	if err == nil && tool.Strict && !b.strict.take(tool.form) {
		tool, err = b.opts.bind(l, name, false)
	}
	return tool, err
}

// alias is the name that the user has given to a tool.
func (o *Options) alias(l Listed) (string, bool) {
	if alias, ok := o.Aliases[l.Server+"/"+l.Tool.Name]; ok {
		return alias, true
	}
	alias, ok := o.Aliases[l.Tool.Name]
	return alias, ok
}
