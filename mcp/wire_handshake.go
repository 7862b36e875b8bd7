package mcp

import "github.com/go-json-experiment/json/jsontext"

// The methods that wire.go explains, for the handshake and what each side says of itself there.

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
