package apps

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rialto-mcp/rialto/mcp"
)

// Who may call a tool, in ToolMeta.Visibility.
const (
	ForModel = "model" // the model sees it and calls it
	ForApp   = "app"   // pages of the same server call it
)

// ToolMeta is what a tool says of its page.
//
// Shape, under `_meta.ui`: {"resourceUri"?, "visibility"?: ["model" | "app", ...]}.
type ToolMeta struct {
	ResourceURI string         `json:"resourceUri,omitzero"` // of the page that shows results; empty for none
	Visibility  []string       `json:"visibility,omitzero"`  // nil means both
	Extra       jsontext.Value `json:",embed"`
}

// VisibleTo tells whether a tool may be called by ForModel or ForApp.
func (m ToolMeta) VisibleTo(who string) bool {
	return m.Visibility == nil || slices.Contains(m.Visibility, who)
}

func (m ToolMeta) check() error {
	if m.ResourceURI != "" && !isURI(m.ResourceURI) {
		return fmt.Errorf("the page %.200q of a tool must have a URI that begins with %s", m.ResourceURI, Scheme)
	}
	for _, who := range m.Visibility {
		if who != ForModel && who != ForApp {
			return fmt.Errorf("a tool is visible to %q or %q, not to %.60q", ForModel, ForApp, who)
		}
	}
	return nil
}

func isURI(uri string) bool { return strings.HasPrefix(uri, Scheme) && len(uri) > len(Scheme) }

// Link returns the tool with what meta says in its `_meta`. It panics when meta breaks the rules of the extension, which only
// a programmer can cause. Add the page with AddResource, to the same server.
//
// A client that does not know the extension shows a tool for ForApp alone to its model like any other: such a tool must be
// harmless there.
func Link(tool mcp.Tool, meta ToolMeta) mcp.Tool {
	err := meta.check()
	if err == nil {
		tool.Meta, err = tool.Meta.With(metaKey, meta)
	}
	if err != nil {
		panic(fmt.Sprintf("apps: tool %q: %v", tool.Name, err))
	}
	return tool
}

// ToolUI reads what a tool of a server says of its page, and whether it says anything; the member that hosts read before
// the extension was settled counts as well. It fails when what it says cannot be read or breaks the rules; such a tool is
// best shown without a page, and not to the model: its server may have meant to hide it.
func ToolUI(tool mcp.Tool) (ToolMeta, bool, error) {
	var m ToolMeta
	found, err := tool.Meta.Decode(metaKey, &m)
	if err == nil {
		if old, ok := tool.Meta.Text(oldMetaKey); ok && m.ResourceURI == "" {
			m.ResourceURI, found = old, true
		}
		err = m.check()
	}
	if err != nil {
		return ToolMeta{}, true, fmt.Errorf("tool %.128q: %w", tool.Name, err)
	}
	return m, found, nil
}

// Visible returns the tools that ForModel or ForApp may call, in their order. Tools whose `_meta` cannot be read are left
// out.
func Visible(tools []mcp.Tool, who string) []mcp.Tool {
	var out []mcp.Tool
	for _, tool := range tools {
		if m, _, err := ToolUI(tool); err == nil && m.VisibleTo(who) {
			out = append(out, tool)
		}
	}
	return out
}

// MayCall says why a page may not call a tool: tools are those of the page's own server, and no others. A host asks it before
// it passes a page's tools/call on.
func MayCall(tools []mcp.Tool, name string) error {
	i := slices.IndexFunc(tools, func(t mcp.Tool) bool { return t.Name == name })
	if i < 0 {
		return fmt.Errorf("the server of this page has no tool %.128q", name)
	}
	m, _, err := ToolUI(tools[i])
	if err == nil && !m.VisibleTo(ForApp) {
		err = fmt.Errorf("the tool %.128q is not for pages", name)
	}
	return err
}
