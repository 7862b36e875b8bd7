package bridge

import (
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/rialto-mcp/rialto/mcp"
)

var errPanicked = mcp.Errorf(mcp.CodeInternal, "the gateway itself has failed on the way to it, as its log says")

// guard is to be deferred where the work of a request goes on apart from it. Package server catches the panic of a handler; one
// of this work would end the process, with the calls of everybody. It becomes the error, where err is not nil.
func (b *Bridge) guard(what string, err *error) {
	p := recover()
	if p == nil {
		return
	}
	b.opts.Logger.Error(what+" panicked", slog.String("panic", fmt.Sprint(p)), slog.String("stack", string(debug.Stack())))
	if err != nil {
		*err = errPanicked
	}
}
