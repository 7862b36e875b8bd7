package transport

import (
	"context"
	"net/http"
	"sync/atomic"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// Grant is what an authorization layer around an HTTP handler has found out about one request. It travels in the
// request's context; once it is there its fields are not changed. Its methods may be called concurrently.
type Grant struct {
	// Principal is who sent the request; nil when nobody is known.
	Principal *mcp.Principal

	// Allow judges what the request asks for, all of it at once, when its body has been read: several operations where it
	// holds an array of messages. When the answer is false it has written the refusal. Nil allows everything. It is called
	// at most once for a request, before anything of it runs.
	Allow func(w http.ResponseWriter, asked []Operation) bool

	// Lacking tells a handler in the middle of a call what the client has to be told when it needs scopes that the sender
	// does not have; nil when the sender has them all. Nil means that nobody has any.
	Lacking func(scopes []string) *Demand

	demand atomic.Pointer[Demand]
}

// Demand is how the answer of a request is to leave that a handler has refused for want of authorization.
type Demand struct {
	Status int
	Header http.Header // beside those of every answer
	Reason string      // for the client
}

// Demand asks that a failed answer of the request leaves with a status and headers of its own, where nothing has been sent
// yet. The last one counts.
func (g *Grant) Demand(d *Demand) { g.demand.Store(d) }

// Demanded returns what was asked for, or nil.
func (g *Grant) Demanded() *Demand { return g.demand.Load() }

// Operation is one request or notification as authorization sees it.
type Operation struct {
	Method string
	Name   string // of a tool or prompt, the URI of a resource; "" where the method has none
}

// Gatekeeper is a handler whose first checks (HTTP method, Host, Origin) can be had before the others, so that a layer
// around it refuses in the documented order: these come before authorization, and a browser is shown the refusal.
type Gatekeeper interface {
	// Admit tells whether a request passes those checks; when it does not, it has been answered. It may set headers of the
	// response either way. The handler itself checks again.
	Admit(w http.ResponseWriter, r *http.Request) bool
}

type grantKey struct{}

// WithGrant returns a context that carries g.
func WithGrant(ctx context.Context, g *Grant) context.Context {
	return context.WithValue(ctx, grantKey{}, g)
}

// GrantOf returns the grant in a context, or nil.
func GrantOf(ctx context.Context) *Grant {
	g, _ := ctx.Value(grantKey{}).(*Grant)
	return g
}

// PrincipalOf returns who an authorization layer says a request is from, or nil: what the HTTP bindings go by where
// nothing else is set.
func PrincipalOf(r *http.Request) *mcp.Principal {
	if g := GrantOf(r.Context()); g != nil {
		return g.Principal
	}
	return nil
}

// Allows puts the operations of a request before its grant. Without a grant all are allowed.
func Allows(w http.ResponseWriter, r *http.Request, asked func() []Operation) bool {
	g := GrantOf(r.Context())
	return g == nil || g.Allow == nil || g.Allow(w, asked())
}

// Operations is what messages of one revision ask for. Answers ask for nothing.
func Operations(codec era.Codec, messages ...*jsonrpc.Message) []Operation {
	asked := make([]Operation, 0, len(messages))
	for _, m := range messages {
		kind := m.Kind()
		if kind != jsonrpc.KindRequest && kind != jsonrpc.KindNotification {
			continue
		}
		row, _ := codec.Look(m.Method, kind == jsonrpc.KindNotification, era.ServerSide)
		asked = append(asked, Operation{Method: m.Method, Name: era.NameOf(m, row)})
	}
	return asked
}
