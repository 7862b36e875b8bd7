package mcp

import "github.com/go-json-experiment/json/jsontext"

// DiscoverResult answers server/discover. Who the server is stands in Meta under [MetaServerInfo].
type DiscoverResult struct {
	SupportedVersions []string           `json:"supportedVersions"`
	Capabilities      ServerCapabilities `json:"capabilities"`
	Instructions      string             `json:"instructions,omitzero"`
	Meta              Meta               `json:"_meta,omitzero"`
	Extra             jsontext.Value     `json:",embed"`
	Cache             CacheHint          `json:"-"` // codecs write and read it where the era has it
}

// ServerInfo answers who the server is, nil when it does not say or says it badly.
func (r *DiscoverResult) ServerInfo() *Implementation {
	var info Implementation
	if ok, err := r.Meta.Decode(MetaServerInfo, &info); !ok || err != nil || info.Name == "" {
		return nil
	}
	return &info
}

// InitializeParams open a legacy session.
type InitializeParams struct {
	ProtocolVersion string             `json:"protocolVersion"`
	Capabilities    ClientCapabilities `json:"capabilities"`
	ClientInfo      Implementation     `json:"clientInfo"`
	Meta            Meta               `json:"_meta,omitzero"`
	Extra           jsontext.Value     `json:",embed"`
}

// InitializeResult answers initialize with the revision the session speaks from now on.
type InitializeResult struct {
	ProtocolVersion string             `json:"protocolVersion"`
	Capabilities    ServerCapabilities `json:"capabilities"`
	ServerInfo      Implementation     `json:"serverInfo"`
	Instructions    string             `json:"instructions,omitzero"`
	Meta            Meta               `json:"_meta,omitzero"`
	Extra           jsontext.Value     `json:",embed"`
}
