package bridge

import (
	"strings"
	"sync"
	"time"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/server"
)

// origins remembers where calls went that wait for their clients. A client comes back under the name that it knows: by then a
// reload may have given that name to another server, or to none.
type origins struct{ byHandle sync.Map }

// origin is where a call went, and the view of that moment.
type origin struct {
	view *view
	to   destination
}

// keep remembers the origin of a call whose client has to come back.
func (o *origins) keep(result *server.RawResult, v *view, to destination) {
	if result == nil || result.RequestState == nil {
		return
	}
	state, _ := jsonrpc.Text(result.RequestState)
	if handle, ok := strings.CutPrefix(state, parkedState); ok {
		o.byHandle.Store(handle, origin{v, to})
		time.AfterFunc(parkedFor, func() { o.byHandle.Delete(handle) })
	}
}

// take gives the origin of the call that a request goes on with; false where it begins one.
func (o *origins) take(req *server.Request) (origin, bool) {
	if handle, ok := ownState(req, parkedState); ok {
		if known, ok := o.byHandle.LoadAndDelete(handle); ok {
			return known.(origin), true
		}
	}
	return origin{}, false
}
