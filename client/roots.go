package client

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/rialto-mcp/rialto/mcp"
)

// roots are the folders and files that servers may work in.
type roots struct {
	offered bool // the capability is declared; never changes

	mu  sync.Mutex
	all []mcp.Root
}

// begin takes up Options.Roots.
func (r *roots) begin(all []mcp.Root) error {
	r.offered = all != nil
	_, err := r.set(all)
	return err
}

// set replaces the roots, and tells whether they have changed.
func (r *roots) set(all []mcp.Root) (changed bool, err error) {
	for _, root := range all {
		if err := root.Check(); err != nil {
			return false, err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	same := slices.EqualFunc(r.all, all, func(a, b mcp.Root) bool {
		return a.URI == b.URI && a.Name == b.Name && string(a.Meta) == string(b.Meta) && string(a.Extra) == string(b.Extra)
	})
	r.all = append(make([]mcp.Root, 0, len(all)), all...) // never nil: an empty list is []
	return !same, nil
}

// list answers the roots of now; the slice is not changed any more.
func (r *roots) list() []mcp.Root {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all
}

// Roots returns the roots that a server is told of now. The slice is the caller's.
func (c *Client) Roots() []mcp.Root { return slices.Clone(c.roots.list()) }

// SetRoots replaces the roots. A legacy server is told that they have changed; a modern one asks when it wants to know. It
// fails when Options.Roots was nil, since the server then does not know that there are any, and when a URI does not begin
// with file://. It may be called concurrently.
func (c *Client) SetRoots(ctx context.Context, all ...mcp.Root) error {
	if !c.roots.offered {
		return fmt.Errorf("set the roots: %w",
			mcp.Errorf(mcp.CodeCapabilityNotSupported, "this client was opened without roots; give Options.Roots, an empty list for none yet"))
	}
	changed, err := c.roots.set(all)
	if err != nil {
		return fmt.Errorf("set the roots: %w", err)
	}
	if !changed || !c.traits().Handshake {
		return nil
	}
	if err := c.Notify(ctx, mcp.NotifyRootsChanged, nil); err != nil {
		return fmt.Errorf("set the roots: %w", err)
	}
	return nil
}
