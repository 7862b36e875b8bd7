package mcp

import (
	stdjson "encoding/json"

	"github.com/go-json-experiment/json/jsontext"
)

// CreateMessageParams ask the client's model for a message (sampling/createMessage).
type CreateMessageParams struct {
	Messages         []SamplingMessage  `json:"messages"`
	ModelPreferences *ModelPreferences  `json:"modelPreferences,omitzero"`
	SystemPrompt     string             `json:"systemPrompt,omitzero"`
	IncludeContext   string             `json:"includeContext,omitzero"` // none, thisServer or allServers; the last two are deprecated
	Temperature      *float64           `json:"temperature,omitzero"`
	MaxTokens        int64              `json:"maxTokens"` // required
	StopSequences    []string           `json:"stopSequences,omitzero"`
	Metadata         stdjson.RawMessage `json:"metadata,omitzero"` // an object for the model's provider
	Tools            []Tool             `json:"tools,omitzero"`    // needs the capability sampling.tools
	ToolChoice       *ToolChoice        `json:"toolChoice,omitzero"`
	Meta             Meta               `json:"_meta,omitzero"`
	Extra            jsontext.Value     `json:",embed"`
}

// Values of [ToolChoice.Mode].
const (
	ToolChoiceAuto     = "auto"
	ToolChoiceRequired = "required"
	ToolChoiceNone     = "none"
)

// ToolChoice says whether the model must use a tool.
type ToolChoice struct {
	Mode  string         `json:"mode,omitzero"` // absent means auto
	Extra jsontext.Value `json:",embed"`
}

// ModelPreferences weigh what a model should be good at, each from 0 to 1.
type ModelPreferences struct {
	Hints                []ModelHint    `json:"hints,omitzero"` // best first
	CostPriority         *float64       `json:"costPriority,omitzero"`
	SpeedPriority        *float64       `json:"speedPriority,omitzero"`
	IntelligencePriority *float64       `json:"intelligencePriority,omitzero"`
	Extra                jsontext.Value `json:",embed"`
}

// ModelHint is part of a model's name.
type ModelHint struct {
	Name  string         `json:"name,omitzero"`
	Extra jsontext.Value `json:",embed"`
}

// SamplingMessage is one message of the conversation. Its content is one block or an array of them on the wire; one
// block is written as an object, which every revision understands.
type SamplingMessage struct {
	Role    Role
	Content []Content
	Meta    Meta
	Extra   jsontext.Value
}

type samplingMessageWire struct {
	Role    Role           `json:"role"`
	Content blocks         `json:"content"`
	Meta    Meta           `json:"_meta,omitzero"`
	Extra   jsontext.Value `json:",embed"`
}

// MarshalJSON implements json.Marshaler.
func (m SamplingMessage) MarshalJSON() ([]byte, error) {
	return marshal(samplingMessageWire{m.Role, m.Content, m.Meta, m.Extra})
}

// UnmarshalJSON implements json.Unmarshaler.
func (m *SamplingMessage) UnmarshalJSON(in []byte) error {
	var wire samplingMessageWire
	if err := unmarshal(in, &wire); err != nil {
		return err
	}
	*m = SamplingMessage{wire.Role, wire.Content, wire.Meta, wire.Extra}
	return nil
}

// Values of [CreateMessageResult.StopReason]; others may occur.
const (
	StopEndTurn      = "endTurn"
	StopStopSequence = "stopSequence"
	StopMaxTokens    = "maxTokens"
	StopToolUse      = "toolUse"
)

// CreateMessageResult is what the model said. Content is written as that of a [SamplingMessage].
type CreateMessageResult struct {
	Role       Role
	Content    []Content
	Model      string
	StopReason string
	Meta       Meta
	Extra      jsontext.Value
}

// Text joins the text blocks with line breaks.
func (r *CreateMessageResult) Text() string { return joinText(r.Content) }

// ToolUses are the tool calls the model wants.
func (r *CreateMessageResult) ToolUses() []*ToolUseContent {
	var uses []*ToolUseContent
	for _, block := range r.Content {
		if use, ok := block.(*ToolUseContent); ok {
			uses = append(uses, use)
		}
	}
	return uses
}

type createMessageResultWire struct {
	Role       Role           `json:"role"`
	Content    blocks         `json:"content"`
	Model      string         `json:"model"`
	StopReason string         `json:"stopReason,omitzero"`
	Meta       Meta           `json:"_meta,omitzero"`
	Extra      jsontext.Value `json:",embed"`
}

// MarshalJSON implements json.Marshaler.
func (r CreateMessageResult) MarshalJSON() ([]byte, error) {
	return marshal(createMessageResultWire{r.Role, r.Content, r.Model, r.StopReason, r.Meta, r.Extra})
}

// UnmarshalJSON implements json.Unmarshaler.
func (r *CreateMessageResult) UnmarshalJSON(in []byte) error {
	var wire createMessageResultWire
	if err := unmarshal(in, &wire); err != nil {
		return err
	}
	*r = CreateMessageResult{wire.Role, wire.Content, wire.Model, wire.StopReason, wire.Meta, wire.Extra}
	return nil
}
