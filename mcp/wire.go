package mcp

import "github.com/go-json-experiment/json/jsontext"

// Each wire type has methods for encoding/json, which knows no embed tag, and a plain twin without them that json v2
// encodes and decodes by its tags.

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
