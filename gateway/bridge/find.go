package bridge

import (
	"encoding/json"

	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/skills"
)

// relayed is a method that is passed on.
type relayed struct {
	asks bool // a server may ask the client on behalf of such a call
	find func(*view, *server.Request) (destination, bool)
	none func(*view, *server.Request) error                        // what is said when nothing was found; nil leaves it to the front
	back func(*view, destination, json.RawMessage) json.RawMessage // puts shown addresses into a result; nil leaves it
}

var relays = map[string]relayed{
	mcp.MethodCallTool:     {asks: true, find: findTool, back: toolBack},
	mcp.MethodGetPrompt:    {asks: true, find: findPrompt, back: promptBack},
	mcp.MethodReadResource: {asks: true, find: findResource, back: readBack},
	mcp.MethodComplete:     {find: findCompletion},

	skills.MethodGet:           {find: findSkill, back: entryBack, none: noSkill},
	skills.MethodReadDirectory: {find: findFolder, back: folderBack, none: noSkill},
}

func findTool(v *view, req *server.Request) (destination, bool) {
	if v.rules.Search != nil && req.Name() == CallTool {
		return findCalled(v, req)
	}
	to, ok := v.table.Tool(req.Name())
	return destination{
		kind: route.Tool, Target: to, params: exchange(withoutWish(req.Params()), "name", req.Name(), to.Name),
		wrap: v.wrapped[to], mirrors: v.mirrors[to], tasks: v.tasks[to],
	}, v.sees(route.Tool, to, ok)
}

func findPrompt(v *view, req *server.Request) (destination, bool) {
	to, ok := v.table.Prompt(req.Name())
	return destination{kind: route.Prompt, Target: to, params: exchange(req.Params(), "name", req.Name(), to.Name)}, v.sees(route.Prompt, to, ok)
}

func findResource(v *view, req *server.Request) (destination, bool) {
	to, ok := v.table.Resource(req.Name(), v.match)
	return destination{kind: route.Resource, Target: to, asked: req.Name(), params: exchange(req.Params(), "uri", req.Name(), to.Name)}, v.sees(route.Resource, to, ok)
}

// findCompletion follows the reference to a prompt or a template.
func findCompletion(v *view, req *server.Request) (destination, bool) {
	params := req.Params()
	ref, _ := jsonrpc.Member(params, "ref")
	kind, key, look := route.Prompt, "name", v.table.Prompt
	if member(ref, "type") == mcp.RefResource {
		kind, key, look = route.Template, "uri", func(uri string) (route.Target, bool) { return v.table.ResourceRef(uri, v.match) }
	}
	name := member(ref, key)
	to, ok := look(name)
	if !v.sees(kind, to, ok) {
		return destination{}, false
	}
	if to.Name != name {
		params = jsonrpc.With(nil, params, "ref", exchange(ref, key, name, to.Name))
	}
	return destination{kind: kind, Target: to, params: params}, true
}

// exchange puts another name into obj, and leaves all else.
func exchange(obj json.RawMessage, key, from, to string) json.RawMessage {
	if from == to {
		return obj
	}
	return jsonrpc.With(nil, obj, key, jsonrpc.AppendString(nil, to))
}

// member reads a text member; "" for anything else.
func member(obj json.RawMessage, name string) string {
	raw, _ := jsonrpc.Member(obj, name)
	text, _ := jsonrpc.Text(raw)
	return text
}
