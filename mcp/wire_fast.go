package mcp

import "github.com/go-json-experiment/json/jsontext"

// The types with an AppendJSON marshal by it; decoding goes by the tags of a plain twin, as in wire.go.

type plainIcon Icon

// MarshalJSON implements json.Marshaler.
func (v Icon) MarshalJSON() ([]byte, error) { return v.AppendJSON(nil) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *Icon) UnmarshalJSON(in []byte) error { return unmarshal(in, (*plainIcon)(v)) }

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *Icon) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainIcon)(v))
}

type plainAnnotations Annotations

// MarshalJSON implements json.Marshaler.
func (v Annotations) MarshalJSON() ([]byte, error) { return v.AppendJSON(nil) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *Annotations) UnmarshalJSON(in []byte) error { return unmarshal(in, (*plainAnnotations)(v)) }

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *Annotations) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainAnnotations)(v))
}

type plainTool Tool

// MarshalJSON implements json.Marshaler.
func (v Tool) MarshalJSON() ([]byte, error) { return v.AppendJSON(nil) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *Tool) UnmarshalJSON(in []byte) error { return unmarshal(in, (*plainTool)(v)) }

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *Tool) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainTool)(v))
}

type plainToolAnnotations ToolAnnotations

// MarshalJSON implements json.Marshaler.
func (v ToolAnnotations) MarshalJSON() ([]byte, error) { return v.AppendJSON(nil) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *ToolAnnotations) UnmarshalJSON(in []byte) error {
	return unmarshal(in, (*plainToolAnnotations)(v))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *ToolAnnotations) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainToolAnnotations)(v))
}

type plainToolExecution ToolExecution

// MarshalJSON implements json.Marshaler.
func (v ToolExecution) MarshalJSON() ([]byte, error) { return v.AppendJSON(nil) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *ToolExecution) UnmarshalJSON(in []byte) error {
	return unmarshal(in, (*plainToolExecution)(v))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *ToolExecution) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainToolExecution)(v))
}

type plainListToolsResult ListToolsResult

// MarshalJSON implements json.Marshaler.
func (v ListToolsResult) MarshalJSON() ([]byte, error) { return v.AppendJSON(nil) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *ListToolsResult) UnmarshalJSON(in []byte) error {
	return unmarshal(in, (*plainListToolsResult)(v))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *ListToolsResult) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainListToolsResult)(v))
}

type plainCallToolResult CallToolResult

// MarshalJSON implements json.Marshaler.
func (v CallToolResult) MarshalJSON() ([]byte, error) { return v.AppendJSON(nil) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *CallToolResult) UnmarshalJSON(in []byte) error {
	return unmarshal(in, (*plainCallToolResult)(v))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *CallToolResult) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainCallToolResult)(v))
}

type plainResource Resource

// MarshalJSON implements json.Marshaler.
func (v Resource) MarshalJSON() ([]byte, error) { return v.AppendJSON(nil) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *Resource) UnmarshalJSON(in []byte) error { return unmarshal(in, (*plainResource)(v)) }

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *Resource) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainResource)(v))
}

type plainResourceTemplate ResourceTemplate

// MarshalJSON implements json.Marshaler.
func (v ResourceTemplate) MarshalJSON() ([]byte, error) { return v.AppendJSON(nil) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *ResourceTemplate) UnmarshalJSON(in []byte) error {
	return unmarshal(in, (*plainResourceTemplate)(v))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *ResourceTemplate) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainResourceTemplate)(v))
}

type plainListResourcesResult ListResourcesResult

// MarshalJSON implements json.Marshaler.
func (v ListResourcesResult) MarshalJSON() ([]byte, error) { return v.AppendJSON(nil) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *ListResourcesResult) UnmarshalJSON(in []byte) error {
	return unmarshal(in, (*plainListResourcesResult)(v))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *ListResourcesResult) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainListResourcesResult)(v))
}

type plainListResourceTemplatesResult ListResourceTemplatesResult

// MarshalJSON implements json.Marshaler.
func (v ListResourceTemplatesResult) MarshalJSON() ([]byte, error) { return v.AppendJSON(nil) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *ListResourceTemplatesResult) UnmarshalJSON(in []byte) error {
	return unmarshal(in, (*plainListResourceTemplatesResult)(v))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *ListResourceTemplatesResult) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainListResourceTemplatesResult)(v))
}

type plainReadResourceResult ReadResourceResult

// MarshalJSON implements json.Marshaler.
func (v ReadResourceResult) MarshalJSON() ([]byte, error) { return v.AppendJSON(nil) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *ReadResourceResult) UnmarshalJSON(in []byte) error {
	return unmarshal(in, (*plainReadResourceResult)(v))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *ReadResourceResult) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainReadResourceResult)(v))
}

type plainPrompt Prompt

// MarshalJSON implements json.Marshaler.
func (v Prompt) MarshalJSON() ([]byte, error) { return v.AppendJSON(nil) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *Prompt) UnmarshalJSON(in []byte) error { return unmarshal(in, (*plainPrompt)(v)) }

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *Prompt) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainPrompt)(v))
}

type plainPromptArgument PromptArgument

// MarshalJSON implements json.Marshaler.
func (v PromptArgument) MarshalJSON() ([]byte, error) { return v.AppendJSON(nil) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *PromptArgument) UnmarshalJSON(in []byte) error {
	return unmarshal(in, (*plainPromptArgument)(v))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *PromptArgument) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainPromptArgument)(v))
}

type plainListPromptsResult ListPromptsResult

// MarshalJSON implements json.Marshaler.
func (v ListPromptsResult) MarshalJSON() ([]byte, error) { return v.AppendJSON(nil) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *ListPromptsResult) UnmarshalJSON(in []byte) error {
	return unmarshal(in, (*plainListPromptsResult)(v))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *ListPromptsResult) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainListPromptsResult)(v))
}
