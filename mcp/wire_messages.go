package mcp

import "github.com/go-json-experiment/json/jsontext"

// The methods that wire.go explains, for logging, notifications, paging and subscriptions.

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
