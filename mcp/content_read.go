package mcp

import (
	stdjson "encoding/json"
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// readContent decodes one block behind the Content interface. Null leaves nil.
func readContent(dec *jsontext.Decoder, out *Content) error {
	raw, err := dec.ReadValue()
	if err != nil {
		return err
	}
	*out = nil
	if !isNull(raw) {
		*out = ParseContent(stdjson.RawMessage(raw))
	}
	return nil
}

// readInnerContent reads the blocks inside a tool result. The specification allows no tool use and no tool result
// there; they are kept unread, so that a peer cannot nest them and make each level parse the ones below again.
func readInnerContent(dec *jsontext.Decoder, out *Content) error {
	raw, err := dec.ReadValue()
	if err != nil {
		return err
	}
	*out = nil
	if isNull(raw) {
		return nil
	}
	if kind, _ := Meta(raw).Text("type"); kind == TypeToolUse || kind == TypeToolResult {
		*out = keepContent(kind, stdjson.RawMessage(raw))
	} else {
		*out = ParseContent(stdjson.RawMessage(raw))
	}
	return nil
}

// ParseContent reads one valid JSON block. It never fails: what it cannot read becomes [*UnknownContent] with a copy of
// the bytes, so that one odd block does not cost the reader the rest of a result.
func ParseContent(raw stdjson.RawMessage) Content {
	kind, _ := Meta(raw).Text("type")
	if block := newContent(kind); block != nil {
		if err := block.UnmarshalJSON(raw); err == nil {
			return block
		}
	}
	return keepContent(kind, raw)
}

func keepContent(kind string, raw stdjson.RawMessage) *UnknownContent {
	return &UnknownContent{Type: kind, Raw: append(stdjson.RawMessage(nil), raw...)}
}

// readable is a block that can be decoded into.
type readable interface {
	Content
	stdjson.Unmarshaler
}

func newContent(kind string) readable {
	switch kind {
	case TypeText:
		return new(TextContent)
	case TypeImage:
		return new(ImageContent)
	case TypeAudio:
		return new(AudioContent)
	case TypeResourceLink:
		return new(ResourceLink)
	case TypeResource:
		return new(EmbeddedResource)
	case TypeToolUse:
		return new(ToolUseContent)
	case TypeToolResult:
		return new(ToolResultContent)
	}
	return nil
}

// blocks is content that is one block or an array of them on the wire, and always a slice in Go. One block is written
// as an object, which every revision understands.
type blocks []Content

// MarshalJSON implements json.Marshaler.
func (b blocks) MarshalJSON() ([]byte, error) {
	if len(b) == 1 {
		return appendBlock(nil, b[0])
	}
	out := []byte{'['}
	for i, block := range b {
		if i > 0 {
			out = append(out, ',')
		}
		var err error
		if out, err = appendBlock(out, block); err != nil {
			return nil, err
		}
	}
	return append(out, ']'), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (b *blocks) UnmarshalJSON(in []byte) error {
	if len(in) == 0 || in[0] != '[' {
		*b = nil
		if !isNull(in) {
			*b = blocks{ParseContent(in)}
		}
		return nil
	}
	return json.Unmarshal(in, (*[]Content)(b), decodeOptions)
}

// errNilContent is what an encoder says to a nil block, which only a programmer can cause.
var errNilContent = errors.New("a content block is nil")

func appendBlock(dst []byte, block Content) ([]byte, error) {
	if block == nil {
		return dst, errNilContent
	}
	return block.AppendJSON(dst)
}
