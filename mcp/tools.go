package mcp

import (
	stdjson "encoding/json"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Tool is one entry of tools/list.
//
// The schemas are raw JSON Schema: any schema of 2020-12 or draft-07 is kept as it was sent, member order included.
type Tool struct {
	Name         string             `json:"name"`
	Title        string             `json:"title,omitzero"`
	Description  string             `json:"description,omitzero"`
	InputSchema  stdjson.RawMessage `json:"inputSchema"` // root of type object; nil is written as {"type":"object"}
	OutputSchema stdjson.RawMessage `json:"outputSchema,omitzero"`
	Annotations  *ToolAnnotations   `json:"annotations,omitzero"`
	Execution    *ToolExecution     `json:"execution,omitzero"` // 2025-11-25 alone; the modern codec drops it
	Icons        []Icon             `json:"icons,omitzero"`
	Meta         Meta               `json:"_meta,omitzero"`
	Extra        jsontext.Value     `json:",embed"`
}

// emptyObjectSchema stands for a tool without parameters; every revision requires a schema.
const emptyObjectSchema = `{"type":"object"}`

// AppendJSON appends the wire form without reflection.
func (t Tool) AppendJSON(dst []byte) ([]byte, error) {
	o := newObject(dst)
	o.str("name", t.Name)
	o.optStr("title", t.Title)
	o.optStr("description", t.Description)
	if t.InputSchema == nil {
		o.key("inputSchema")
		o.dst = append(o.dst, emptyObjectSchema...)
	} else {
		o.raw("inputSchema", t.InputSchema)
	}
	o.raw("outputSchema", t.OutputSchema)
	value(&o, "annotations", t.Annotations)
	value(&o, "execution", t.Execution)
	optList(&o, "icons", t.Icons)
	o.raw("_meta", t.Meta)
	return o.end(t.Extra)
}

// DisplayName is the title, else the title of the annotations, else the name.
func (t Tool) DisplayName() string {
	switch {
	case t.Title != "":
		return t.Title
	case t.Annotations != nil && t.Annotations.Title != "":
		return t.Annotations.Title
	}
	return t.Name
}

// ToolAnnotations are hints about what a tool does; a client must not trust those of a server it does not trust.
// A hint that is absent has a default that is not always false, hence the pointers.
type ToolAnnotations struct {
	Title           string         `json:"title,omitzero"`
	ReadOnlyHint    *bool          `json:"readOnlyHint,omitzero"`    // absent: false
	DestructiveHint *bool          `json:"destructiveHint,omitzero"` // absent: true
	IdempotentHint  *bool          `json:"idempotentHint,omitzero"`  // absent: false
	OpenWorldHint   *bool          `json:"openWorldHint,omitzero"`   // absent: true
	Extra           jsontext.Value `json:",embed"`
}

// AppendJSON appends the wire form without reflection.
func (a ToolAnnotations) AppendJSON(dst []byte) ([]byte, error) {
	o := newObject(dst)
	o.optStr("title", a.Title)
	o.ptrFlag("readOnlyHint", a.ReadOnlyHint)
	o.ptrFlag("destructiveHint", a.DestructiveHint)
	o.ptrFlag("idempotentHint", a.IdempotentHint)
	o.ptrFlag("openWorldHint", a.OpenWorldHint)
	return o.end(a.Extra)
}

// ReadOnly is the hint with its default. The receiver may be nil, here and below.
func (a *ToolAnnotations) ReadOnly() bool { return a != nil && orDefault(a.ReadOnlyHint, false) }

// Destructive is the hint with its default; a read-only tool destroys nothing.
func (a *ToolAnnotations) Destructive() bool {
	return a == nil || !a.ReadOnly() && orDefault(a.DestructiveHint, true)
}

// Idempotent is the hint with its default.
func (a *ToolAnnotations) Idempotent() bool { return a != nil && orDefault(a.IdempotentHint, false) }

// OpenWorld is the hint with its default.
func (a *ToolAnnotations) OpenWorld() bool { return a == nil || orDefault(a.OpenWorldHint, true) }

func orDefault(p *bool, otherwise bool) bool {
	if p == nil {
		return otherwise
	}
	return *p
}

// Values of [ToolExecution.TaskSupport].
const (
	TaskForbidden = "forbidden"
	TaskOptional  = "optional"
	TaskRequired  = "required"
)

// ToolExecution says how a tool may be run in revision 2025-11-25.
type ToolExecution struct {
	TaskSupport string         `json:"taskSupport,omitzero"` // absent means forbidden
	Extra       jsontext.Value `json:",embed"`
}

// AppendJSON appends the wire form without reflection.
func (e ToolExecution) AppendJSON(dst []byte) ([]byte, error) {
	o := newObject(dst)
	o.optStr("taskSupport", e.TaskSupport)
	return o.end(e.Extra)
}

// ListToolsResult answers tools/list.
type ListToolsResult struct {
	Tools      []Tool         `json:"tools"`
	NextCursor *Cursor        `json:"nextCursor,omitzero"`
	Meta       Meta           `json:"_meta,omitzero"`
	Extra      jsontext.Value `json:",embed"`
	Cache      CacheHint      `json:"-"` // codecs write and read it where the era has it
}

// AppendJSON appends the wire form without reflection.
func (r ListToolsResult) AppendJSON(dst []byte) ([]byte, error) {
	o := newObject(dst)
	list(&o, "tools", r.Tools)
	o.ptrStr("nextCursor", r.NextCursor)
	o.raw("_meta", r.Meta)
	return o.end(r.Extra)
}

// CallToolParams are the parameters of tools/call.
type CallToolParams struct {
	Name      string             `json:"name"`
	Arguments stdjson.RawMessage `json:"arguments,omitzero"` // an object; null reads as absent
	Meta      Meta               `json:"_meta,omitzero"`
	Extra     jsontext.Value     `json:",embed"`
}

// CallToolResult answers tools/call. Nil Content is written as [].
type CallToolResult struct {
	Content           []Content          `json:"content"`
	StructuredContent stdjson.RawMessage `json:"structuredContent,omitzero"` // any JSON, null included; nil is absent
	IsError           bool               `json:"isError,omitzero"`           // the tool failed, in words the model may read
	Meta              Meta               `json:"_meta,omitzero"`
	Extra             jsontext.Value     `json:",embed"`
}

// TextResult is a result of one text block.
func TextResult(text string) *CallToolResult {
	return &CallToolResult{Content: []Content{Text(text)}}
}

// ErrorResult is a failed result of one text block that the model may read.
func ErrorResult(text string) *CallToolResult {
	return &CallToolResult{Content: []Content{Text(text)}, IsError: true}
}

// Text joins the text blocks with line breaks.
func (r *CallToolResult) Text() string { return joinText(r.Content) }

// AppendJSON appends the wire form without reflection; for text content it allocates nothing but room in dst.
func (r CallToolResult) AppendJSON(dst []byte) ([]byte, error) {
	o := newObject(dst)
	list(&o, "content", r.Content)
	o.raw("structuredContent", r.StructuredContent)
	o.flag("isError", r.IsError)
	o.raw("_meta", r.Meta)
	return o.end(r.Extra)
}

// maxToolName is the longest tool name the specification allows, in characters.
const maxToolName = 128

// CheckToolName says why a name breaks the specification's rule for tool names: 1 to 128 letters, digits, '_', '-'
// and '.', case-sensitive. Such tools still work with most clients, so callers warn rather than refuse.
func CheckToolName(name string) error {
	if name == "" {
		return fmt.Errorf("the tool name is empty")
	}
	if len(name) > maxToolName {
		return fmt.Errorf("the tool name %.20q... has %d bytes, at most %d are allowed", name, len(name), maxToolName)
	}
	bad := strings.IndexFunc(name, func(r rune) bool { return !strings.ContainsRune("_-.", r) && !isAlnumRune(r) })
	if bad >= 0 {
		r := []rune(name[bad:])[0]
		return fmt.Errorf("the tool name %q holds %q; only letters A-Z and a-z, digits, '_', '-' and '.' are allowed", name, r)
	}
	return nil
}
