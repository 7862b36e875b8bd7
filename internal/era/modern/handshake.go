package modern

import (
	"encoding/json"
	"fmt"
	"slices"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// Opening is how a client meets a server of this era: server/discover, and nothing afterwards. The codec of the revision
// puts the envelope around it.
type Opening struct{ served []string }

var _ era.Opening = (*Opening)(nil)

// NewOpening makes the opening of a client that speaks the modern revisions served, best first.
func NewOpening(served []string) *Opening { return &Opening{served: served} }

// Greet implements era.Opening.
func (o *Opening) Greet() *era.Outgoing { return &era.Outgoing{Method: mcp.MethodDiscover} }

// Read implements era.Opening. The result needs supportedVersions, a list of strings, and capabilities, an object. Who the
// server is stands in _meta; a serverInfo that cannot be read counts as missing. Greeting.Revision is the first of the
// client's revisions that the server lists, and empty when it lists none.
func (o *Opening) Read(result json.RawMessage) (*era.Greeting, error) {
	var wire struct {
		Supported    []string                `json:"supportedVersions"`
		Capabilities *mcp.ServerCapabilities `json:"capabilities"`
		Instructions string                  `json:"instructions"`
		Meta         json.RawMessage         `json:"_meta"`
	}
	if err := jsonv2.Unmarshal(result, &wire); err != nil {
		return nil, fmt.Errorf("the answer to server/discover cannot be read: %w", err)
	}
	if wire.Supported == nil || wire.Capabilities == nil {
		return nil, fmt.Errorf("the answer to server/discover lacks supportedVersions or capabilities: %.200s", result)
	}
	g := &era.Greeting{
		Supported:    wire.Supported,
		Capabilities: *wire.Capabilities,
		Instructions: wire.Instructions,
		Raw:          result,
	}
	for _, revision := range o.served {
		if slices.Contains(wire.Supported, revision) {
			g.Revision = revision
			break
		}
	}
	var info mcp.Implementation
	if raw, ok := jsonrpc.Member(wire.Meta, mcp.MetaServerInfo); ok && isImplementation(raw) && jsonv2.Unmarshal(raw, &info) == nil {
		g.Info = info
	}
	return g, nil
}

// Confirm implements era.Opening: there is nothing to confirm.
func (o *Opening) Confirm() *era.Notice { return nil }
