package server

import (
	"time"

	"github.com/rialto-mcp/rialto/transport"
)

// CloseStream ends the connection on which the client waits for the answer, and tells it to come back after retry, or when
// it likes where that is not positive. The handler goes on; what it sends and returns meanwhile is kept, and the client
// gets it when it comes back. So a call that takes minutes holds no connection.
//
// It works for legacy clients of revision 2025-11-25 in a session, over HTTP, unless HTTPOptions.NoResume is set. For all
// others it does nothing and returns false: the handler goes on either way. Spec 2025-11-25, basic/transports, "Sending
// Messages to the Server".
func (r *Request) CloseStream(retry time.Duration) bool {
	pauser, ok := r.in.X.(transport.Pauser)
	return ok && r.in.Live() && pauser.Pause(retry)
}
