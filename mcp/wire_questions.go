package mcp

import "github.com/go-json-experiment/json/jsontext"

// The methods that wire.go explains, for what servers ask: sampling, roots and elicitation.

type plainCreateMessageParams CreateMessageParams

// MarshalJSON implements json.Marshaler.
func (v CreateMessageParams) MarshalJSON() ([]byte, error) {
	return marshal(plainCreateMessageParams(v))
}

// UnmarshalJSON implements json.Unmarshaler.
func (v *CreateMessageParams) UnmarshalJSON(in []byte) error {
	return unmarshal(in, (*plainCreateMessageParams)(v))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *CreateMessageParams) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainCreateMessageParams)(v))
}

type plainToolChoice ToolChoice

// MarshalJSON implements json.Marshaler.
func (v ToolChoice) MarshalJSON() ([]byte, error) { return marshal(plainToolChoice(v)) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *ToolChoice) UnmarshalJSON(in []byte) error { return unmarshal(in, (*plainToolChoice)(v)) }

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *ToolChoice) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainToolChoice)(v))
}

type plainModelPreferences ModelPreferences

// MarshalJSON implements json.Marshaler.
func (v ModelPreferences) MarshalJSON() ([]byte, error) { return marshal(plainModelPreferences(v)) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *ModelPreferences) UnmarshalJSON(in []byte) error {
	return unmarshal(in, (*plainModelPreferences)(v))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *ModelPreferences) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainModelPreferences)(v))
}

type plainModelHint ModelHint

// MarshalJSON implements json.Marshaler.
func (v ModelHint) MarshalJSON() ([]byte, error) { return marshal(plainModelHint(v)) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *ModelHint) UnmarshalJSON(in []byte) error { return unmarshal(in, (*plainModelHint)(v)) }

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *ModelHint) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainModelHint)(v))
}

type plainRoot Root

// MarshalJSON implements json.Marshaler.
func (v Root) MarshalJSON() ([]byte, error) { return marshal(plainRoot(v)) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *Root) UnmarshalJSON(in []byte) error { return unmarshal(in, (*plainRoot)(v)) }

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *Root) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainRoot)(v))
}

type plainListRootsResult ListRootsResult

// MarshalJSON implements json.Marshaler.
func (v ListRootsResult) MarshalJSON() ([]byte, error) { return marshal(plainListRootsResult(v)) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *ListRootsResult) UnmarshalJSON(in []byte) error {
	return unmarshal(in, (*plainListRootsResult)(v))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *ListRootsResult) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainListRootsResult)(v))
}

type plainElicitFormParams ElicitFormParams

// MarshalJSON implements json.Marshaler.
func (v ElicitFormParams) MarshalJSON() ([]byte, error) { return marshal(plainElicitFormParams(v)) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *ElicitFormParams) UnmarshalJSON(in []byte) error {
	return unmarshal(in, (*plainElicitFormParams)(v))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *ElicitFormParams) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainElicitFormParams)(v))
}

type plainElicitURLParams ElicitURLParams

// MarshalJSON implements json.Marshaler.
func (v ElicitURLParams) MarshalJSON() ([]byte, error) { return marshal(plainElicitURLParams(v)) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *ElicitURLParams) UnmarshalJSON(in []byte) error {
	return unmarshal(in, (*plainElicitURLParams)(v))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *ElicitURLParams) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainElicitURLParams)(v))
}

type plainElicitationCompleteParams ElicitationCompleteParams

// MarshalJSON implements json.Marshaler.
func (v ElicitationCompleteParams) MarshalJSON() ([]byte, error) {
	return marshal(plainElicitationCompleteParams(v))
}

// UnmarshalJSON implements json.Unmarshaler.
func (v *ElicitationCompleteParams) UnmarshalJSON(in []byte) error {
	return unmarshal(in, (*plainElicitationCompleteParams)(v))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *ElicitationCompleteParams) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainElicitationCompleteParams)(v))
}

type plainElicitResult ElicitResult

// MarshalJSON implements json.Marshaler.
func (v ElicitResult) MarshalJSON() ([]byte, error) { return marshal(plainElicitResult(v)) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *ElicitResult) UnmarshalJSON(in []byte) error {
	err := unmarshal(in, (*plainElicitResult)(v))
	v.Content = absentIfNull(v.Content)
	return err
}

type plainInputRequest InputRequest

// MarshalJSON implements json.Marshaler.
func (v InputRequest) MarshalJSON() ([]byte, error) { return marshal(plainInputRequest(v)) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *InputRequest) UnmarshalJSON(in []byte) error { return unmarshal(in, (*plainInputRequest)(v)) }

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *InputRequest) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainInputRequest)(v))
}

type plainInputRequired InputRequired

// MarshalJSON implements json.Marshaler.
func (v InputRequired) MarshalJSON() ([]byte, error) { return marshal(plainInputRequired(v)) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *InputRequired) UnmarshalJSON(in []byte) error {
	return unmarshal(in, (*plainInputRequired)(v))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *InputRequired) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainInputRequired)(v))
}
