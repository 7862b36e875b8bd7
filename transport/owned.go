package transport

import "github.com/rialto-mcp/rialto/mcp"

// Owned is a Peer that says who has opened it.
type Owned interface {
	// Owner is the principal that a binding has named in the PeerSpec; nil for nobody.
	Owner() *mcp.Principal
}

// OwnerOf returns who has opened a peer, or nil where nobody is known.
func OwnerOf(p Peer) *mcp.Principal {
	if o, ok := p.(Owned); ok {
		return o.Owner()
	}
	return nil
}
