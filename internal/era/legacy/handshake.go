package legacy

import (
	"encoding/json"
	"fmt"
	"slices"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/mcp"
)

// Opening is how a client opens a connection in this era: initialize, its answer, notifications/initialized.
type Opening struct {
	offer  string
	served []string
	who    era.Identity
}

var _ era.Opening = (*Opening)(nil)

// NewOpening makes the opening of a client that speaks the revisions served, best first. It offers the first one.
func NewOpening(served []string, who era.Identity) *Opening {
	return &Opening{offer: served[0], served: served, who: who}
}

// Greet implements era.Opening.
func (o *Opening) Greet() *era.Outgoing {
	params := era.OpenObject(nil)
	params.Put("protocolVersion", []byte(`"`+o.offer+`"`))
	params.Put("capabilities", orEmpty(o.who.Capabilities))
	params.Put("clientInfo", orEmpty(o.who.Info))
	return &era.Outgoing{Method: mcp.MethodInitialize, Params: params.Close()}
}

func orEmpty(obj json.RawMessage) []byte {
	if obj == nil {
		return []byte("{}")
	}
	return obj
}

// Read implements era.Opening. The result needs a protocolVersion and capabilities; serverInfo may be missing, and one
// that cannot be read counts as missing. Greeting.Revision is empty when the server has chosen a revision that the
// client does not speak, and Supported then names it.
func (o *Opening) Read(result json.RawMessage) (*era.Greeting, error) {
	var wire struct {
		ProtocolVersion *string                 `json:"protocolVersion"`
		Capabilities    *mcp.ServerCapabilities `json:"capabilities"`
		ServerInfo      json.RawMessage         `json:"serverInfo"`
		Instructions    string                  `json:"instructions"`
	}
	if err := jsonv2.Unmarshal(result, &wire); err != nil {
		return nil, fmt.Errorf("the answer to initialize cannot be read: %w", err)
	}
	if wire.ProtocolVersion == nil || wire.Capabilities == nil {
		return nil, fmt.Errorf("the answer to initialize lacks protocolVersion or capabilities: %.200s", result)
	}
	g := &era.Greeting{
		Supported:    []string{*wire.ProtocolVersion},
		Capabilities: *wire.Capabilities,
		Instructions: wire.Instructions,
		Raw:          result,
	}
	if slices.Contains(o.served, *wire.ProtocolVersion) {
		g.Revision = *wire.ProtocolVersion
	}
	var info mcp.Implementation
	if wire.ServerInfo != nil && jsonv2.Unmarshal(wire.ServerInfo, &info) == nil {
		g.Info = info
	}
	return g, nil
}

// Confirm implements era.Opening.
func (o *Opening) Confirm() *era.Notice { return &era.Notice{Method: mcp.NotifyInitialized} }
