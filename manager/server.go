package manager

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"time"
)

// Transport is the way a server is spoken to.
type Transport string

// The transports of a [Server].
const (
	Stdio Transport = "stdio" // a child process
	HTTP  Transport = "http"  // Streamable HTTP
	SSE   Transport = "sse"   // the two-endpoint HTTP transport of 2024
)

// Server is one entry of a file, with variables put in. Its values may be secret: String, GoString and LogValue show
// none of them.
//
// A missing type follows from the rest: a command means stdio, an address whose path ends in /sse means sse, any
// other address means http.
type Server struct {
	Name      string
	Transport Transport // from type, transport or transportType

	Command string            // program to start (stdio)
	Args    []string          // its arguments
	Env     map[string]string // added to its environment; numbers and true or false are taken as their text, null as not there
	EnvFile string            // a file with more of them, not read here
	Dir     string            // its working folder, from cwd; empty means the caller's

	URL     string            // address (http, sse): http, https, unix or pipe
	Headers map[string]string // sent with each request

	// Timeout is zero when the entry has none. Text is a Go duration ("30s"). Hosts differ about the unit of a bare
	// number: below 1000 it counts seconds, from 1000 on milliseconds.
	Timeout time.Duration

	Disabled      bool
	DisabledTools []string // from disabledTools, disabled_tools and excludeTools
	AutoApprove   []string // from autoApprove, auto_approve and alwaysAllow

	OAuth       *OAuth          // how to sign in; nil when the entry says nothing about it
	Icon        json.RawMessage // text, object or list, kept as it is
	Description string

	Raw   json.RawMessage // the whole entry as plain JSON, unknown keys included, variables not put in
	Value *Value          // the same with positions

	secrets []string // values of variables and inputs in it, which Reason hides
}

var (
	_ fmt.GoStringer = Server{}
	_ slog.LogValuer = Server{}
)

// HasAuthorization tells whether the headers of an entry have credentials of their own, so that nobody signs in.
func (s Server) HasAuthorization() bool {
	for name := range s.Headers {
		if strings.EqualFold(name, "Authorization") {
			return true
		}
	}
	return false
}

// String shows the name and the transport only.
func (s Server) String() string { return fmt.Sprintf("server %q (%s)", s.Name, s.Transport) }

// GoString shows what String shows, so that %#v tells no secret either.
func (s Server) GoString() string { return s.String() }

// LogValue shows the name and the transport only.
func (s Server) LogValue() slog.Value {
	return slog.GroupValue(slog.String("name", s.Name), slog.String("transport", string(s.Transport)))
}
