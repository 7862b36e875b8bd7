package bridge

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/transport"
)

// Clients are told which server has failed, and in words what that means for them. Where the server is, and what the system or its
// program has said, is for the log.

// failure is the error for the client. What the server answered keeps its code and data; what went wrong on the way names
// the server.
func (b *Bridge) failure(ctx context.Context, req *server.Request, v *view, to destination, err error) error {
	var fault *mcp.Error
	if errors.As(err, &fault) && fault.Remote {
		if fault.Code == mcp.CodeHeaderMismatch || fault.Code == mcp.CodeUnsupportedVersion { // of the gateway's own request
			return mcp.Errorf(mcp.CodeInternal, "server %q has refused the request as the gateway has made it: %s", to.Server, fault.Message)
		}
		return shownFault(v, to, fault)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var down *manager.DownError
	var open *manager.OpenError
	var full *upstream.FullError
	var unknown *manager.UnknownOutcomeError
	switch {
	case fault != nil && fault.Code == mcp.CodeInvalidParams: // an argument that cannot be sent to this server
		return mcp.InvalidParams("%s", fault.Message)
	case errors.As(err, &down): // its reason is told where the state of the server is
		return mcp.Errorf(mcp.CodeInternal, "%s", away(down))
	case errors.Is(err, client.ErrUnauthorized): // what it says names addresses, and is for the log
		return mcp.Errorf(mcp.CodeInternal, "server %q wants authorization that the gateway does not have", to.Server).Because(err)
	case errors.As(err, &full):
		return mcp.Errorf(mcp.CodeInternal, "%s", full.Error())
	case errors.As(err, &open):
		return mcp.Errorf(mcp.CodeInternal, "server %q: %s", to.Server, open.Error())
	case errors.Is(err, mcp.CodeRequestTimeout):
		return mcp.Errorf(mcp.CodeInternal, "server %q did not answer %s in time", to.Server, req.Method())
	}
	why := &private{b.ups.Reason(to.Server, err), err}
	if errors.As(err, &unknown) {
		return mcp.Errorf(mcp.CodeInternal, "%s", unheard(unknown)).Because(why)
	}
	return mcp.Errorf(mcp.CodeInternal, "server %q failed: %s", to.Server, how(err)).Because(why)
}

// private is an error for the log: it may name addresses, paths, and what a program has said, but no secrets of the configuration.
type private struct {
	text string
	err  error
}

func (p *private) Error() string { return p.text }
func (p *private) Unwrap() error { return p.err }

// away says that a server cannot be called.
func away(e *manager.DownError) string {
	switch {
	case e.State == manager.NeedsAuthorization:
		return fmt.Sprintf("server %q wants authorization that the gateway does not have", e.Server)
	case e.Final:
		return fmt.Sprintf("server %q cannot be reached", e.Server)
	}
	return fmt.Sprintf("server %q cannot be reached at the moment; it is tried again by itself", e.Server)
}

// unheard says that an answer was lost.
func unheard(e *manager.UnknownOutcomeError) string {
	after := "so it was not repeated"
	if e.Tries > 1 {
		after = fmt.Sprintf("after %d tries", e.Tries)
	}
	return fmt.Sprintf("server %q: %s got no answer; whether it was done is not known, %s", e.Server, e.What, after)
}

// how says what went wrong between the gateway and a server, as far as that is known to hold nothing of the place where it is.
func how(err error) string {
	var status *transport.StatusError
	var fault *mcp.Error
	switch {
	case errors.As(err, &status):
		return fmt.Sprintf("HTTP status %d", status.Status)
	case errors.Is(err, manager.ErrUnknownServer):
		return "it is not configured any more"
	case errors.As(err, &fault):
		return cmp.Or(inShort[fault.Code], fault.Message)
	}
	return "its connection does not work"
}

// inShort has the failures whose messages tell what the system or a program has said.
var inShort = map[mcp.Code]string{
	mcp.CodeNotConnected:     "its connection was lost",
	mcp.CodeConnectionClosed: "its connection was lost",
}

// shownFault puts the address that the client knows into the error for a resource that does not exist.
func shownFault(v *view, to destination, fault *mcp.Error) error {
	uri, ok := fault.ResourceData()
	if !ok {
		return fault
	}
	exposed := v.exposed(to.Server, uri)
	if exposed == uri {
		return fault
	}
	moved := *fault
	moved.Data = jsonrpc.With(nil, fault.Data, "uri", jsonrpc.AppendString(nil, exposed))
	return &moved
}
