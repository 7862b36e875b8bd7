package mcp

import "github.com/go-json-experiment/json/jsontext"

// Prompt is one entry of prompts/list.
type Prompt struct {
	Name        string           `json:"name"`
	Title       string           `json:"title,omitzero"`
	Description string           `json:"description,omitzero"`
	Arguments   []PromptArgument `json:"arguments,omitzero"`
	Icons       []Icon           `json:"icons,omitzero"`
	Meta        Meta             `json:"_meta,omitzero"`
	Extra       jsontext.Value   `json:",embed"`
}

// AppendJSON appends the wire form without reflection.
func (p Prompt) AppendJSON(dst []byte) ([]byte, error) {
	o := newObject(dst)
	o.str("name", p.Name)
	o.optStr("title", p.Title)
	o.optStr("description", p.Description)
	optList(&o, "arguments", p.Arguments)
	optList(&o, "icons", p.Icons)
	o.raw("_meta", p.Meta)
	return o.end(p.Extra)
}

// PromptArgument describes one argument; values are strings.
type PromptArgument struct {
	Name        string         `json:"name"`
	Title       string         `json:"title,omitzero"`
	Description string         `json:"description,omitzero"`
	Required    bool           `json:"required,omitzero"`
	Extra       jsontext.Value `json:",embed"`
}

// AppendJSON appends the wire form without reflection.
func (a PromptArgument) AppendJSON(dst []byte) ([]byte, error) {
	o := newObject(dst)
	o.str("name", a.Name)
	o.optStr("title", a.Title)
	o.optStr("description", a.Description)
	o.flag("required", a.Required)
	return o.end(a.Extra)
}

// ListPromptsResult answers prompts/list.
type ListPromptsResult struct {
	Prompts    []Prompt       `json:"prompts"`
	NextCursor *Cursor        `json:"nextCursor,omitzero"`
	Meta       Meta           `json:"_meta,omitzero"`
	Extra      jsontext.Value `json:",embed"`
	Cache      CacheHint      `json:"-"` // codecs write and read it where the era has it
}

// AppendJSON appends the wire form without reflection.
func (r ListPromptsResult) AppendJSON(dst []byte) ([]byte, error) {
	o := newObject(dst)
	list(&o, "prompts", r.Prompts)
	o.ptrStr("nextCursor", r.NextCursor)
	o.raw("_meta", r.Meta)
	return o.end(r.Extra)
}

// GetPromptParams are the parameters of prompts/get.
type GetPromptParams struct {
	Name      string            `json:"name"`
	Arguments map[string]string `json:"arguments,omitzero"`
	Meta      Meta              `json:"_meta,omitzero"`
	Extra     jsontext.Value    `json:",embed"`
}

// GetPromptResult answers prompts/get.
type GetPromptResult struct {
	Description string          `json:"description,omitzero"`
	Messages    []PromptMessage `json:"messages"`
	Meta        Meta            `json:"_meta,omitzero"`
	Extra       jsontext.Value  `json:",embed"`
}

// PromptMessage is one message of a prompt: one block.
type PromptMessage struct {
	Role    Role           `json:"role"`
	Content Content        `json:"content"`
	Extra   jsontext.Value `json:",embed"`
}

// UserMessage is a prompt message of the user.
func UserMessage(content Content) PromptMessage {
	return PromptMessage{Role: RoleUser, Content: content}
}

// AssistantMessage is a prompt message of the assistant.
func AssistantMessage(content Content) PromptMessage {
	return PromptMessage{Role: RoleAssistant, Content: content}
}
