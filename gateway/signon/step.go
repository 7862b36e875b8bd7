package signon

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/bridge"
	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// SignInTool is the tool that a server shows to a caller who has not signed in at it: nothing else is known of the server then.
const SignInTool = "sign_in"

// visitTime is how long a call waits for its user to come back from the page.
const visitTime = 45 * time.Second

// Absent says what a server lists for a caller who has not signed in at it. It is for upstream.Options.Absent.
func (d *Desk) Absent(server string, _ *upstream.Owner) *upstream.Lists {
	if d.opts.Settings(server).Type != Login {
		return nil
	}
	raw := jsonrpc.AppendString([]byte(`{"name":"`+SignInTool+`","title":`), "Sign in at "+server)
	raw = jsonrpc.AppendString(append(raw, `,"description":`...),
		"Sign in at the server "+server+". It shows its tools, prompts and resources to people who have signed in. This sends the user to a page in a browser.")
	raw = append(raw, `,"inputSchema":{"type":"object","properties":{}}}`...)
	return &upstream.Lists{StandIn: true, Tools: []upstream.Item{{Key: SignInTool, Raw: raw}}}
}

// Step is a [bridge.Step]: it sends callers to the page where they sign in, when a server wants that.
func (d *Desk) Step(ctx context.Context, p *bridge.Passage, next func(context.Context) (*server.RawResult, error)) (*server.RawResult, error) {
	if d.opts.Settings(p.Server).Type != Login || p.Task { // who has a task has signed in
		return next(ctx)
	}
	who := bridge.Identity(ctx, p.Request)
	owner := d.opts.Owner(p.Server, who)
	if owner == nil {
		return nil, mcp.Errorf(mcp.CodeInternal, "server %q is called for each caller with the caller's own login, and the gateway does not know who calls", p.Server)
	}
	entry, ok := d.opts.Entry(p.Server)
	if !ok {
		return next(ctx)
	}
	visited := bridge.Visited(p.Request)
	tool := p.Kind == route.Tool && p.Name == SignInTool && (visited != "" || d.logins.needs(p.Server, owner))
	switch visited {
	case "":
	case string(mcp.ElicitAccept):
		d.await(ctx, p.Server, owner, who)
	default:
		return nil, mcp.Errorf(mcp.CodeInternal, "the user does not want to sign in at server %q", p.Server)
	}
	if tool && !d.logins.needs(p.Server, owner) {
		return signedIn(p.Server), nil
	}
	if !tool {
		result, err := next(ctx)
		if err == nil || !d.logins.needs(p.Server, owner) && !errors.Is(err, client.ErrUnauthorized) {
			return result, err
		}
	}
	return d.visit(ctx, p.Request, entry, owner)
}

func signedIn(name string) *server.RawResult {
	text := jsonrpc.AppendString(nil, "The user is signed in at "+name+" now. List its tools again.")
	return &server.RawResult{Result: append(append([]byte(`{"content":[{"type":"text","text":`), text...), `}]}`...)}
}

// await waits for the end of a login that is under way, and for the connection that it makes possible.
func (d *Desk) await(ctx context.Context, server string, owner *upstream.Owner, who *upstream.Caller) {
	if v := d.logins.pending(server, owner); v != nil {
		timer := time.NewTimer(visitTime)
		defer timer.Stop()
		select {
		case <-v.done:
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	d.opts.Prepare(ctx, who, pageTime)
}

// visit sends a caller to the page where it signs in.
func (d *Desk) visit(ctx context.Context, req *server.Request, entry manager.Server, owner *upstream.Owner) (*server.RawResult, error) {
	v, err := d.logins.start(entry, owner)
	if err != nil {
		return nil, mcp.Errorf(mcp.CodeInternal, "server %q wants the caller to sign in: %v", entry.Name, err)
	}
	timer := time.NewTimer(pageTime)
	defer timer.Stop()
	select {
	case <-v.ready:
	case <-v.done:
		if v.err == nil { // the tokens were there already
			return nil, mcp.Errorf(mcp.CodeInternal, "the caller is signed in at server %q now; call again", entry.Name)
		}
		d.opts.Logger.Warn("a caller cannot sign in: "+reason(v), "server", entry.Name)
		return nil, mcp.Errorf(mcp.CodeInternal, "server %q wants the caller to sign in, which is not possible now: its authorization server cannot be used", entry.Name)
	case <-timer.C:
		return nil, mcp.Errorf(mcp.CodeInternal, "server %q wants the caller to sign in, and its authorization server does not answer; try again later", entry.Name)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	message := fmt.Sprintf("The server %s wants you to sign in.", entry.Name)
	return bridge.Visit(req, message, v.base+pagePath+v.id, v.id)
}
