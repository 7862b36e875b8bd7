package mcp

import "github.com/go-json-experiment/json/jsontext"

// Each wire type has methods for encoding/json, which knows no embed tag, and a plain twin without them that json v2
// encodes and decodes by its tags.

type plainImplementation Implementation

// MarshalJSON implements json.Marshaler.
func (v Implementation) MarshalJSON() ([]byte, error) { return marshal(plainImplementation(v)) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *Implementation) UnmarshalJSON(in []byte) error {
	return unmarshal(in, (*plainImplementation)(v))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *Implementation) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainImplementation)(v))
}

type plainCapability Capability

// MarshalJSON implements json.Marshaler.
func (v Capability) MarshalJSON() ([]byte, error) { return marshal(plainCapability(v)) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *Capability) UnmarshalJSON(in []byte) error { return unmarshal(in, (*plainCapability)(v)) }

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *Capability) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainCapability)(v))
}

type plainClientCapabilities ClientCapabilities

// MarshalJSON implements json.Marshaler.
func (v ClientCapabilities) MarshalJSON() ([]byte, error) { return marshal(plainClientCapabilities(v)) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *ClientCapabilities) UnmarshalJSON(in []byte) error {
	return unmarshal(in, (*plainClientCapabilities)(v))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *ClientCapabilities) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainClientCapabilities)(v))
}

type plainSamplingCapability SamplingCapability

// MarshalJSON implements json.Marshaler.
func (v SamplingCapability) MarshalJSON() ([]byte, error) { return marshal(plainSamplingCapability(v)) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *SamplingCapability) UnmarshalJSON(in []byte) error {
	return unmarshal(in, (*plainSamplingCapability)(v))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *SamplingCapability) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainSamplingCapability)(v))
}

type plainElicitationCapability ElicitationCapability

// MarshalJSON implements json.Marshaler.
func (v ElicitationCapability) MarshalJSON() ([]byte, error) {
	return marshal(plainElicitationCapability(v))
}

// UnmarshalJSON implements json.Unmarshaler.
func (v *ElicitationCapability) UnmarshalJSON(in []byte) error {
	return unmarshal(in, (*plainElicitationCapability)(v))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *ElicitationCapability) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainElicitationCapability)(v))
}

type plainRootsCapability RootsCapability

// MarshalJSON implements json.Marshaler.
func (v RootsCapability) MarshalJSON() ([]byte, error) { return marshal(plainRootsCapability(v)) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *RootsCapability) UnmarshalJSON(in []byte) error {
	return unmarshal(in, (*plainRootsCapability)(v))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *RootsCapability) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainRootsCapability)(v))
}

type plainServerCapabilities ServerCapabilities

// MarshalJSON implements json.Marshaler.
func (v ServerCapabilities) MarshalJSON() ([]byte, error) { return marshal(plainServerCapabilities(v)) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *ServerCapabilities) UnmarshalJSON(in []byte) error {
	return unmarshal(in, (*plainServerCapabilities)(v))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *ServerCapabilities) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainServerCapabilities)(v))
}

type plainPromptsCapability PromptsCapability

// MarshalJSON implements json.Marshaler.
func (v PromptsCapability) MarshalJSON() ([]byte, error) { return marshal(plainPromptsCapability(v)) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *PromptsCapability) UnmarshalJSON(in []byte) error {
	return unmarshal(in, (*plainPromptsCapability)(v))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *PromptsCapability) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainPromptsCapability)(v))
}

type plainResourcesCapability ResourcesCapability

// MarshalJSON implements json.Marshaler.
func (v ResourcesCapability) MarshalJSON() ([]byte, error) {
	return marshal(plainResourcesCapability(v))
}

// UnmarshalJSON implements json.Unmarshaler.
func (v *ResourcesCapability) UnmarshalJSON(in []byte) error {
	return unmarshal(in, (*plainResourcesCapability)(v))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *ResourcesCapability) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainResourcesCapability)(v))
}

type plainToolsCapability ToolsCapability

// MarshalJSON implements json.Marshaler.
func (v ToolsCapability) MarshalJSON() ([]byte, error) { return marshal(plainToolsCapability(v)) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *ToolsCapability) UnmarshalJSON(in []byte) error {
	return unmarshal(in, (*plainToolsCapability)(v))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *ToolsCapability) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainToolsCapability)(v))
}

type plainCallToolParams CallToolParams

// MarshalJSON implements json.Marshaler.
func (v CallToolParams) MarshalJSON() ([]byte, error) { return marshal(plainCallToolParams(v)) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *CallToolParams) UnmarshalJSON(in []byte) error {
	err := unmarshal(in, (*plainCallToolParams)(v))
	v.Arguments = absentIfNull(v.Arguments)
	return err
}

type plainReadResourceParams ReadResourceParams

// MarshalJSON implements json.Marshaler.
func (v ReadResourceParams) MarshalJSON() ([]byte, error) { return marshal(plainReadResourceParams(v)) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *ReadResourceParams) UnmarshalJSON(in []byte) error {
	return unmarshal(in, (*plainReadResourceParams)(v))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *ReadResourceParams) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainReadResourceParams)(v))
}

type plainSubscribeParams SubscribeParams

// MarshalJSON implements json.Marshaler.
func (v SubscribeParams) MarshalJSON() ([]byte, error) { return marshal(plainSubscribeParams(v)) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *SubscribeParams) UnmarshalJSON(in []byte) error {
	return unmarshal(in, (*plainSubscribeParams)(v))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *SubscribeParams) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainSubscribeParams)(v))
}

type plainResourceUpdatedParams ResourceUpdatedParams

// MarshalJSON implements json.Marshaler.
func (v ResourceUpdatedParams) MarshalJSON() ([]byte, error) {
	return marshal(plainResourceUpdatedParams(v))
}

// UnmarshalJSON implements json.Unmarshaler.
func (v *ResourceUpdatedParams) UnmarshalJSON(in []byte) error {
	return unmarshal(in, (*plainResourceUpdatedParams)(v))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *ResourceUpdatedParams) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainResourceUpdatedParams)(v))
}

type plainGetPromptParams GetPromptParams

// MarshalJSON implements json.Marshaler.
func (v GetPromptParams) MarshalJSON() ([]byte, error) { return marshal(plainGetPromptParams(v)) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *GetPromptParams) UnmarshalJSON(in []byte) error {
	return unmarshal(in, (*plainGetPromptParams)(v))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *GetPromptParams) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainGetPromptParams)(v))
}

type plainGetPromptResult GetPromptResult

// MarshalJSON implements json.Marshaler.
func (v GetPromptResult) MarshalJSON() ([]byte, error) { return marshal(plainGetPromptResult(v)) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *GetPromptResult) UnmarshalJSON(in []byte) error {
	return unmarshal(in, (*plainGetPromptResult)(v))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *GetPromptResult) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainGetPromptResult)(v))
}

type plainPromptMessage PromptMessage

// MarshalJSON implements json.Marshaler.
func (v PromptMessage) MarshalJSON() ([]byte, error) { return marshal(plainPromptMessage(v)) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *PromptMessage) UnmarshalJSON(in []byte) error {
	return unmarshal(in, (*plainPromptMessage)(v))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *PromptMessage) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainPromptMessage)(v))
}

type plainCompleteParams CompleteParams

// MarshalJSON implements json.Marshaler.
func (v CompleteParams) MarshalJSON() ([]byte, error) { return marshal(plainCompleteParams(v)) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *CompleteParams) UnmarshalJSON(in []byte) error {
	return unmarshal(in, (*plainCompleteParams)(v))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *CompleteParams) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainCompleteParams)(v))
}

type plainCompletionRef CompletionRef

// MarshalJSON implements json.Marshaler.
func (v CompletionRef) MarshalJSON() ([]byte, error) { return marshal(plainCompletionRef(v)) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *CompletionRef) UnmarshalJSON(in []byte) error {
	return unmarshal(in, (*plainCompletionRef)(v))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *CompletionRef) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainCompletionRef)(v))
}

type plainCompletionArgument CompletionArgument

// MarshalJSON implements json.Marshaler.
func (v CompletionArgument) MarshalJSON() ([]byte, error) { return marshal(plainCompletionArgument(v)) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *CompletionArgument) UnmarshalJSON(in []byte) error {
	return unmarshal(in, (*plainCompletionArgument)(v))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *CompletionArgument) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainCompletionArgument)(v))
}

type plainCompletionContext CompletionContext

// MarshalJSON implements json.Marshaler.
func (v CompletionContext) MarshalJSON() ([]byte, error) { return marshal(plainCompletionContext(v)) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *CompletionContext) UnmarshalJSON(in []byte) error {
	return unmarshal(in, (*plainCompletionContext)(v))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *CompletionContext) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainCompletionContext)(v))
}

type plainCompleteResult CompleteResult

// MarshalJSON implements json.Marshaler.
func (v CompleteResult) MarshalJSON() ([]byte, error) { return marshal(plainCompleteResult(v)) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *CompleteResult) UnmarshalJSON(in []byte) error {
	return unmarshal(in, (*plainCompleteResult)(v))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *CompleteResult) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainCompleteResult)(v))
}

type plainCompletion Completion

// MarshalJSON implements json.Marshaler.
func (v Completion) MarshalJSON() ([]byte, error) { return marshal(plainCompletion(v)) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *Completion) UnmarshalJSON(in []byte) error { return unmarshal(in, (*plainCompletion)(v)) }

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *Completion) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainCompletion)(v))
}
