package bridge

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
)

var errPanicked = errors.New("the gateway has failed while it served this; its log says more")

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
