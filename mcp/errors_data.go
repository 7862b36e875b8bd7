package mcp

import "github.com/rialto-mcp/rialto/jsonrpc"

// The data of the named errors on the wire.
type (
	unsupportedVersionData struct {
		Supported []string `json:"supported"`
		Requested string   `json:"requested"`
	}
	missingCapabilityData struct {
		Required ClientCapabilities `json:"requiredCapabilities"`
	}
	urlElicitationData struct {
		Elicitations []ElicitURLParams `json:"elicitations"`
	}
)

// VersionsData reads the data of [CodeUnsupportedVersion]: {"supported": [string], "requested": string}. It answers
// false when the data has not that shape.
func (e *Error) VersionsData() (supported []string, requested string, ok bool) {
	data, ok := readData[unsupportedVersionData](e)
	if !ok || data.Supported == nil {
		return nil, "", false
	}
	if _, named := Meta(e.Data).Text("requested"); !named {
		return nil, "", false
	}
	return data.Supported, data.Requested, true
}

// MissingCapabilityData reads the data of [CodeMissingCapability]: {"requiredCapabilities": object}.
func (e *Error) MissingCapabilityData() (ClientCapabilities, bool) {
	raw, found := Member(e.Data, "requiredCapabilities")
	if !found || isNull(raw) {
		return ClientCapabilities{}, false
	}
	data, ok := readData[missingCapabilityData](e)
	return data.Required, ok
}

// ResourceData reads the URI of [CodeResourceNotFound]: {"uri": string}.
func (e *Error) ResourceData() (uri string, ok bool) { return Meta(e.Data).Text("uri") }

// HasOnlyURI reports whether the data is exactly {"uri": string}, by which a modern peer says that a resource is
// missing and not that a parameter is wrong.
func (e *Error) HasOnlyURI() bool {
	members, text := 0, false
	for f := range jsonrpc.Fields(e.Data) {
		members++
		text = text || f.Is("uri") && jsonrpc.IsString(f.Value)
	}
	return members == 1 && text
}

// URLElicitationData reads the data of [CodeURLElicitationRequired]: {"elicitations": [object]}.
func (e *Error) URLElicitationData() ([]ElicitURLParams, bool) {
	data, ok := readData[urlElicitationData](e)
	return data.Elicitations, ok && data.Elicitations != nil
}

func readData[T any](e *Error) (data T, ok bool) {
	if len(e.Data) == 0 || isNull(e.Data) {
		return data, false
	}
	return data, unmarshal(e.Data, &data) == nil
}
