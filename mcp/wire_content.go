package mcp

import stdjson "encoding/json"

// Content blocks marshal by AppendJSON and are decoded with their member "type" checked.

type plainTextContent TextContent

// MarshalJSON implements json.Marshaler.
func (v TextContent) MarshalJSON() ([]byte, error) { return v.AppendJSON(nil) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *TextContent) UnmarshalJSON(in []byte) error {
	return unmarshalTagged(in, TypeText, (*plainTextContent)(v), decodeOptions)
}

type plainImageContent ImageContent

// MarshalJSON implements json.Marshaler.
func (v ImageContent) MarshalJSON() ([]byte, error) { return v.AppendJSON(nil) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *ImageContent) UnmarshalJSON(in []byte) error {
	return unmarshalTagged(in, TypeImage, (*plainImageContent)(v), decodeOptions)
}

type plainAudioContent AudioContent

// MarshalJSON implements json.Marshaler.
func (v AudioContent) MarshalJSON() ([]byte, error) { return v.AppendJSON(nil) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *AudioContent) UnmarshalJSON(in []byte) error {
	return unmarshalTagged(in, TypeAudio, (*plainAudioContent)(v), decodeOptions)
}

type plainResourceLink ResourceLink

// MarshalJSON implements json.Marshaler.
func (v ResourceLink) MarshalJSON() ([]byte, error) { return v.AppendJSON(nil) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *ResourceLink) UnmarshalJSON(in []byte) error {
	return unmarshalTagged(in, TypeResourceLink, (*plainResourceLink)(v), decodeOptions)
}

type plainEmbeddedResource EmbeddedResource

// MarshalJSON implements json.Marshaler.
func (v EmbeddedResource) MarshalJSON() ([]byte, error) { return v.AppendJSON(nil) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *EmbeddedResource) UnmarshalJSON(in []byte) error {
	return unmarshalTagged(in, TypeResource, (*plainEmbeddedResource)(v), decodeOptions)
}

type plainToolUseContent ToolUseContent

// MarshalJSON implements json.Marshaler.
func (v ToolUseContent) MarshalJSON() ([]byte, error) { return v.AppendJSON(nil) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *ToolUseContent) UnmarshalJSON(in []byte) error {
	return unmarshalTagged(in, TypeToolUse, (*plainToolUseContent)(v), decodeOptions)
}

type plainToolResultContent ToolResultContent

// MarshalJSON implements json.Marshaler.
func (v ToolResultContent) MarshalJSON() ([]byte, error) { return v.AppendJSON(nil) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *ToolResultContent) UnmarshalJSON(in []byte) error {
	return unmarshalTagged(in, TypeToolResult, (*plainToolResultContent)(v), innerOptions)
}

// MarshalJSON implements json.Marshaler.
func (c UnknownContent) MarshalJSON() ([]byte, error) { return c.AppendJSON(nil) }

// UnmarshalJSON keeps the block.
func (c *UnknownContent) UnmarshalJSON(in []byte) error {
	kind, _ := Meta(in).Text("type")
	*c = UnknownContent{Type: kind, Raw: append(stdjson.RawMessage(nil), in...)}
	return nil
}
