package mcp

import (
	stdjson "encoding/json"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Values of a content block's member "type".
const (
	TypeText         = "text"
	TypeImage        = "image"
	TypeAudio        = "audio"
	TypeResourceLink = "resource_link"
	TypeResource     = "resource"
	TypeToolUse      = "tool_use"
	TypeToolResult   = "tool_result"
)

// Content is one block of a result, a prompt or a sampling message. It is one of [*TextContent], [*ImageContent],
// [*AudioContent], [*ResourceLink], [*EmbeddedResource], [*ToolUseContent], [*ToolResultContent] (the last two in
// sampling only) and [*UnknownContent]. Values are read-only once handed over.
type Content interface {
	// ContentType is the wire value of "type".
	ContentType() string
	// AppendJSON appends the wire form without reflection.
	AppendJSON(dst []byte) ([]byte, error)

	content() // pointers only, so that a type switch needs one case a type
}

// TextContent is text.
type TextContent struct {
	Text        string         `json:"text"`
	Annotations *Annotations   `json:"annotations,omitzero"`
	Meta        Meta           `json:"_meta,omitzero"`
	Extra       jsontext.Value `json:",embed"`
}

// Text is a text block.
func Text(text string) *TextContent { return &TextContent{Text: text} }

// AppendJSON allocates nothing but room in dst.
func (c TextContent) AppendJSON(dst []byte) ([]byte, error) {
	o := newBlock(dst, TypeText)
	o.str("text", c.Text)
	return c.finish(&o)
}

func (c *TextContent) finish(o *object) ([]byte, error) {
	value(o, "annotations", c.Annotations)
	o.raw("_meta", c.Meta)
	return o.end(c.Extra)
}

// ImageContent is a picture. Data holds the bytes; base64 is made and read on the wire.
type ImageContent struct {
	Data        []byte         `json:"data"`
	MIMEType    string         `json:"mimeType"`
	Annotations *Annotations   `json:"annotations,omitzero"`
	Meta        Meta           `json:"_meta,omitzero"`
	Extra       jsontext.Value `json:",embed"`
}

// Image is a picture block.
func Image(mimeType string, data []byte) *ImageContent {
	return &ImageContent{Data: data, MIMEType: mimeType}
}

// AppendJSON appends the wire form without reflection.
func (c ImageContent) AppendJSON(dst []byte) ([]byte, error) {
	return appendMedia(dst, TypeImage, AudioContent(c))
}

// AudioContent is sound. Data holds the bytes; base64 is made and read on the wire.
type AudioContent struct {
	Data        []byte         `json:"data"`
	MIMEType    string         `json:"mimeType"`
	Annotations *Annotations   `json:"annotations,omitzero"`
	Meta        Meta           `json:"_meta,omitzero"`
	Extra       jsontext.Value `json:",embed"`
}

// Audio is a sound block.
func Audio(mimeType string, data []byte) *AudioContent {
	return &AudioContent{Data: data, MIMEType: mimeType}
}

// AppendJSON appends the wire form without reflection.
func (c AudioContent) AppendJSON(dst []byte) ([]byte, error) { return appendMedia(dst, TypeAudio, c) }

func appendMedia(dst []byte, kind string, c AudioContent) ([]byte, error) {
	o := newBlock(dst, kind)
	o.bytes("data", c.Data)
	o.str("mimeType", c.MIMEType)
	value(&o, "annotations", c.Annotations)
	o.raw("_meta", c.Meta)
	return o.end(c.Extra)
}

// ResourceLink points to a resource that can be read later. It has the fields of a [Resource].
type ResourceLink Resource

// AppendJSON appends the wire form without reflection.
func (c ResourceLink) AppendJSON(dst []byte) ([]byte, error) {
	o := newBlock(dst, TypeResourceLink)
	(*Resource)(&c).members(&o)
	return o.end(c.Extra)
}

// EmbeddedResource carries the contents of a resource.
type EmbeddedResource struct {
	Resource    ResourceContents `json:"resource"`
	Annotations *Annotations     `json:"annotations,omitzero"`
	Meta        Meta             `json:"_meta,omitzero"`
	Extra       jsontext.Value   `json:",embed"`
}

// AppendJSON appends the wire form without reflection.
func (c EmbeddedResource) AppendJSON(dst []byte) ([]byte, error) {
	o := newBlock(dst, TypeResource)
	value(&o, "resource", &c.Resource)
	value(&o, "annotations", c.Annotations)
	o.raw("_meta", c.Meta)
	return o.end(c.Extra)
}

// ToolUseContent is a model's wish to call a tool, in sampling.
type ToolUseContent struct {
	ID    string             `json:"id"`
	Name  string             `json:"name"`
	Input stdjson.RawMessage `json:"input"` // an object; nil is written as {}
	Meta  Meta               `json:"_meta,omitzero"`
	Extra jsontext.Value     `json:",embed"`
}

// AppendJSON appends the wire form without reflection.
func (c ToolUseContent) AppendJSON(dst []byte) ([]byte, error) {
	o := newBlock(dst, TypeToolUse)
	o.str("id", c.ID)
	o.str("name", c.Name)
	if c.Input == nil {
		o.key("input")
		o.dst = append(o.dst, '{', '}')
	} else {
		o.raw("input", c.Input)
	}
	o.raw("_meta", c.Meta)
	return o.end(c.Extra)
}

// ToolResultContent is the outcome of such a call, in sampling.
type ToolResultContent struct {
	ToolUseID         string             `json:"toolUseId"`
	Content           []Content          `json:"content"`
	StructuredContent stdjson.RawMessage `json:"structuredContent,omitzero"`
	IsError           bool               `json:"isError,omitzero"`
	Meta              Meta               `json:"_meta,omitzero"`
	Extra             jsontext.Value     `json:",embed"`
}

// AppendJSON appends the wire form without reflection.
func (c ToolResultContent) AppendJSON(dst []byte) ([]byte, error) {
	o := newBlock(dst, TypeToolResult)
	o.str("toolUseId", c.ToolUseID)
	list(&o, "content", c.Content)
	o.raw("structuredContent", c.StructuredContent)
	o.flag("isError", c.IsError)
	o.raw("_meta", c.Meta)
	return o.end(c.Extra)
}

// UnknownContent is a block this package cannot read, kept as it was sent: a type it does not know, or a known one
// with a broken member (base64 that is none).
type UnknownContent struct {
	Type string             // "" when the block names none
	Raw  stdjson.RawMessage // the whole block
}

// AppendJSON appends the block as it was sent.
func (c UnknownContent) AppendJSON(dst []byte) ([]byte, error) { return appendRaw(dst, c.Raw) }

// ContentType answers the wire value of "type".
func (*TextContent) ContentType() string       { return TypeText }
func (*ImageContent) ContentType() string      { return TypeImage }
func (*AudioContent) ContentType() string      { return TypeAudio }
func (*ResourceLink) ContentType() string      { return TypeResourceLink }
func (*EmbeddedResource) ContentType() string  { return TypeResource }
func (*ToolUseContent) ContentType() string    { return TypeToolUse }
func (*ToolResultContent) ContentType() string { return TypeToolResult }
func (c *UnknownContent) ContentType() string  { return c.Type }

func (*TextContent) content()       {}
func (*ImageContent) content()      {}
func (*AudioContent) content()      {}
func (*ResourceLink) content()      {}
func (*EmbeddedResource) content()  {}
func (*ToolUseContent) content()    {}
func (*ToolResultContent) content() {}
func (*UnknownContent) content()    {}

func newBlock(dst []byte, kind string) object {
	o := newObject(dst)
	o.key("type")
	o.dst = append(o.dst, '"')
	o.dst = append(o.dst, kind...)
	o.dst = append(o.dst, '"')
	return o
}

func joinText(blocks []Content) string {
	var texts []string
	for _, block := range blocks {
		if text, ok := block.(*TextContent); ok {
			texts = append(texts, text.Text)
		}
	}
	return strings.Join(texts, "\n")
}
