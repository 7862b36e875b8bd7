package policy

import (
	"bytes"
	"encoding/json"
	"net"
	"slices"
	"strconv"
	"strings"

	"cel.dev/cel-go/cel"

	"github.com/rialto-mcp/rialto/gateway/bridge"
	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// facts is what an expression is evaluated over: a caller, a thing, and with call set one call of it. It belongs to one
// goroutine.
type facts struct {
	caller *caller
	method string
	entry  bridge.Entry
	call   bool
	news   bool // nothing is known of a request: somebody listens
	params json.RawMessage

	arguments map[string]any // read when asked for
	claims    any            // likewise
	hints     *mcp.ToolAnnotations
	looked    bool
}

// caller is who has sent a request.
type caller struct {
	who     *mcp.Principal
	info    mcp.Implementation
	address string
	session string
}

// callerOf copies what is to be known of a sender, since what is made of it outlives the request. What a client says of itself is
// read where some of the variables in use are about that.
func callerOf(req *server.Request, used []string) *caller {
	c := &caller{who: req.Principal(), address: hostOf(req.RemoteAddr()), session: req.SessionID()}
	if slices.Contains(used, "client.name") || slices.Contains(used, "client.version") {
		c.info = req.ClientInfo()
	}
	return c
}

func hostOf(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return address
}

// uses is the method that uses a thing that a list shows.
var uses = map[route.Kind]string{
	route.Tool: mcp.MethodCallTool, route.Prompt: mcp.MethodGetPrompt, route.Resource: mcp.MethodReadResource, route.Template: mcp.MethodReadResource,
}

var _ cel.Activation = (*facts)(nil)

// Parent implements cel.Activation.
func (f *facts) Parent() cel.Activation { return nil }

// ResolveName implements cel.Activation.
func (f *facts) ResolveName(name string) (any, bool) {
	if name == "principal.claims" && f.claims != nil {
		return f.claims, true
	}
	if value, ok := f.caller.value(name); ok {
		if name == "principal.claims" {
			f.claims = value
		}
		return value, true
	}
	switch name {
	case "method":
		return f.method, true
	case "kind":
		return string(f.entry.Kind), true
	case "server":
		return f.entry.Server, true
	case "tool":
		return f.nameOf(route.Tool), true
	case "prompt":
		return f.nameOf(route.Prompt), true
	case "uri":
		return f.nameOf(route.Resource, route.Template), true
	case "shown":
		return f.entry.Exposed, true
	case "annotations.readOnly":
		return f.annotations().ReadOnly(), true
	case "annotations.destructive":
		return f.annotations().Destructive(), true
	case "annotations.idempotent":
		return f.annotations().Idempotent(), true
	case "annotations.openWorld":
		return f.annotations().OpenWorld(), true
	case "arguments":
		if f.arguments == nil {
			f.arguments = argumentsOf(f.method, f.params)
		}
		return f.arguments, true
	}
	return nil, false
}

func (f *facts) nameOf(kinds ...route.Kind) string {
	if slices.Contains(kinds, f.entry.Kind) {
		return f.entry.Name
	}
	return ""
}

// annotations are those of the tool; nil, which means the defaults of the specification, where it has none that can be read.
func (f *facts) annotations() *mcp.ToolAnnotations {
	if f.looked {
		return f.hints
	}
	f.looked = true
	if raw, ok := jsonrpc.Member(f.entry.Definition, "annotations"); ok && f.entry.Kind == route.Tool {
		var hints mcp.ToolAnnotations
		if json.Unmarshal(raw, &hints) == nil {
			f.hints = &hints
		}
	}
	return f.hints
}

// value gives what is known of a caller.
func (c *caller) value(name string) (any, bool) {
	who := c.who
	if who == nil {
		who = &mcp.Principal{}
	}
	switch name {
	case "principal.known":
		return !who.IsZero(), true
	case "principal.subject":
		return who.Subject, true
	case "principal.issuer":
		return who.Issuer, true
	case "principal.client":
		return who.ClientID, true
	case "principal.name":
		raw, _ := jsonrpc.Member(who.Claims, "name")
		if name, ok := jsonrpc.Text(raw); ok && name != "" {
			return name, true
		}
		return who.Subject, true
	case "principal.scopes":
		return nonNil(who.Scopes), true
	case "principal.roles":
		return nonNil(who.Roles), true
	case "principal.claims":
		return objectOf(who.Claims), true
	case "client.name":
		return c.info.Name, true
	case "client.version":
		return c.info.Version, true
	case "client.address":
		return c.address, true
	}
	return nil, false
}

// nonNil is a list that is not changed.
func nonNil(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// key stands for those of a caller's traits that some expressions use.
func (c *caller) key(names []string) string {
	var b strings.Builder
	for _, name := range names {
		value, ok := c.value(name)
		if !ok {
			continue
		}
		var text string
		switch value := value.(type) {
		case string:
			text = value
		case bool:
			text = strconv.FormatBool(value)
		case []string:
			raw, _ := json.Marshal(value) // texts alone: it cannot fail
			text = string(raw)
		default:
			if c.who != nil {
				text = string(c.who.Claims)
			}
		}
		b.WriteString(strconv.Itoa(len(text)) + ":" + text)
	}
	return b.String()
}

// argumentsOf are the arguments of a request.
func argumentsOf(method string, params json.RawMessage) map[string]any {
	if method != mcp.MethodComplete {
		raw, _ := jsonrpc.Member(params, "arguments")
		return objectOf(raw)
	}
	about, _ := jsonrpc.Member(params, "context")
	raw, _ := jsonrpc.Member(about, "arguments")
	arguments := objectOf(raw)
	asked, _ := jsonrpc.Member(params, "argument")
	raw, _ = jsonrpc.Member(asked, "name")
	if name, ok := jsonrpc.Text(raw); ok {
		raw, _ = jsonrpc.Member(asked, "value")
		value, _ := jsonrpc.Text(raw)
		arguments[name] = value
	}
	return arguments
}

// objectOf reads an object for expressions: whole numbers that fit are int, or uint where only that holds them, others
// double. Anything else is an empty object.
func objectOf(raw json.RawMessage) map[string]any {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var object map[string]any
	if d.Decode(&object) != nil || object == nil {
		return map[string]any{}
	}
	numbers(object)
	return object
}

// numbers puts numbers in the place of their texts, in depth.
func numbers(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			value[name] = numbers(member)
		}
	case []any:
		for i, element := range value {
			value[i] = numbers(element)
		}
	case json.Number:
		if n, err := strconv.ParseInt(value.String(), 10, 64); err == nil {
			return n
		}
		if n, err := strconv.ParseUint(value.String(), 10, 64); err == nil {
			return n
		}
		n, _ := strconv.ParseFloat(value.String(), 64) // one too large is infinite, which is how it compares
		return n
	}
	return value
}
