package mcp

import "github.com/go-json-experiment/json/jsontext"

// The methods that wire.go explains, for sampling, roots, logging, notifications, the handshake and questions.

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

type plainLoggingMessageParams LoggingMessageParams

// MarshalJSON implements json.Marshaler.
func (v LoggingMessageParams) MarshalJSON() ([]byte, error) {
	return marshal(plainLoggingMessageParams(v))
}

// UnmarshalJSON implements json.Unmarshaler.
func (v *LoggingMessageParams) UnmarshalJSON(in []byte) error {
	return unmarshal(in, (*plainLoggingMessageParams)(v))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *LoggingMessageParams) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainLoggingMessageParams)(v))
}

type plainSetLevelParams SetLevelParams

// MarshalJSON implements json.Marshaler.
func (v SetLevelParams) MarshalJSON() ([]byte, error) { return marshal(plainSetLevelParams(v)) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *SetLevelParams) UnmarshalJSON(in []byte) error {
	return unmarshal(in, (*plainSetLevelParams)(v))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *SetLevelParams) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainSetLevelParams)(v))
}

type plainProgressParams ProgressParams

// MarshalJSON implements json.Marshaler.
func (v ProgressParams) MarshalJSON() ([]byte, error) { return marshal(plainProgressParams(v)) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *ProgressParams) UnmarshalJSON(in []byte) error {
	return unmarshal(in, (*plainProgressParams)(v))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *ProgressParams) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainProgressParams)(v))
}

type plainCancelledParams CancelledParams

// MarshalJSON implements json.Marshaler.
func (v CancelledParams) MarshalJSON() ([]byte, error) { return marshal(plainCancelledParams(v)) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *CancelledParams) UnmarshalJSON(in []byte) error {
	return unmarshal(in, (*plainCancelledParams)(v))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *CancelledParams) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainCancelledParams)(v))
}

type plainListParams ListParams

// MarshalJSON implements json.Marshaler.
func (v ListParams) MarshalJSON() ([]byte, error) { return marshal(plainListParams(v)) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *ListParams) UnmarshalJSON(in []byte) error { return unmarshal(in, (*plainListParams)(v)) }

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *ListParams) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainListParams)(v))
}

type plainParams Params

// MarshalJSON implements json.Marshaler.
func (v Params) MarshalJSON() ([]byte, error) { return marshal(plainParams(v)) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *Params) UnmarshalJSON(in []byte) error { return unmarshal(in, (*plainParams)(v)) }

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *Params) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainParams)(v))
}

type plainResult Result

// MarshalJSON implements json.Marshaler.
func (v Result) MarshalJSON() ([]byte, error) { return marshal(plainResult(v)) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *Result) UnmarshalJSON(in []byte) error { return unmarshal(in, (*plainResult)(v)) }

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *Result) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainResult)(v))
}

type plainSubscriptionFilter SubscriptionFilter

// MarshalJSON implements json.Marshaler.
func (v SubscriptionFilter) MarshalJSON() ([]byte, error) { return marshal(plainSubscriptionFilter(v)) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *SubscriptionFilter) UnmarshalJSON(in []byte) error {
	return unmarshal(in, (*plainSubscriptionFilter)(v))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *SubscriptionFilter) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainSubscriptionFilter)(v))
}

type plainListenParams ListenParams

// MarshalJSON implements json.Marshaler.
func (v ListenParams) MarshalJSON() ([]byte, error) { return marshal(plainListenParams(v)) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *ListenParams) UnmarshalJSON(in []byte) error { return unmarshal(in, (*plainListenParams)(v)) }

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *ListenParams) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainListenParams)(v))
}

type plainSubscriptionsAcknowledgedParams SubscriptionsAcknowledgedParams

// MarshalJSON implements json.Marshaler.
func (v SubscriptionsAcknowledgedParams) MarshalJSON() ([]byte, error) {
	return marshal(plainSubscriptionsAcknowledgedParams(v))
}

// UnmarshalJSON implements json.Unmarshaler.
func (v *SubscriptionsAcknowledgedParams) UnmarshalJSON(in []byte) error {
	return unmarshal(in, (*plainSubscriptionsAcknowledgedParams)(v))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *SubscriptionsAcknowledgedParams) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainSubscriptionsAcknowledgedParams)(v))
}

type plainDiscoverResult DiscoverResult

// MarshalJSON implements json.Marshaler.
func (v DiscoverResult) MarshalJSON() ([]byte, error) { return marshal(plainDiscoverResult(v)) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *DiscoverResult) UnmarshalJSON(in []byte) error {
	return unmarshal(in, (*plainDiscoverResult)(v))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *DiscoverResult) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainDiscoverResult)(v))
}

type plainInitializeParams InitializeParams

// MarshalJSON implements json.Marshaler.
func (v InitializeParams) MarshalJSON() ([]byte, error) { return marshal(plainInitializeParams(v)) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *InitializeParams) UnmarshalJSON(in []byte) error {
	return unmarshal(in, (*plainInitializeParams)(v))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *InitializeParams) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainInitializeParams)(v))
}

type plainInitializeResult InitializeResult

// MarshalJSON implements json.Marshaler.
func (v InitializeResult) MarshalJSON() ([]byte, error) { return marshal(plainInitializeResult(v)) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *InitializeResult) UnmarshalJSON(in []byte) error {
	return unmarshal(in, (*plainInitializeResult)(v))
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (v *InitializeResult) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return unmarshalFrom(dec, (*plainInitializeResult)(v))
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
