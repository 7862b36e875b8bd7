package client

import (
	"encoding/json"
	"time"

	"github.com/rialto-mcp/rialto/internal/negotiate"
)

// Verdict is what a connection has found out about the era of a server. It can be written as JSON and given to a later
// connection to the same command or address. One that no longer holds is found out with the connection or its first call,
// and costs a probe.
type Verdict struct {
	// Era is "modern" or "legacy".
	Era string `json:"era"`

	// Discover is the server's answer to server/discover; of modern servers only.
	Discover json.RawMessage `json:"discover,omitempty"`

	// At is when it was found out.
	At time.Time `json:"at"`
}

func (v *Verdict) stored() negotiate.Stored {
	return negotiate.Stored{Era: v.Era, Discover: v.Discover, At: v.At}
}

// Verdict returns what the connection has found out about the server, to be kept for the next one.
func (c *Client) Verdict() Verdict { return c.now().verdict }
