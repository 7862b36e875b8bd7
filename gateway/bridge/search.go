package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/llm"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// Search says when clients get two tools in place of a long list: one that finds tools by words, and one that calls what was
// found, as if it had been called itself. Each caller finds what it may see. The zero value puts the search in place of every
// list.
type Search struct {
	// Above and Tokens are how many tools a list may have, and what their definitions may cost a model by an estimate, before the
	// search takes its place: the first that is exceeded counts. Zero is no bound; both zero is no list at all.
	Above, Tokens int

	// Always are patterns, as those of [llm.Options].Allow, of tools that are listed in any case, by the names that servers give
	// or that clients see.
	Always []string
}

// The tools of a search. No tool of a server has these names while there may be one.
const (
	SearchTool = llm.SearchTool
	CallTool   = llm.CallTool
)

var searchTools = []json.RawMessage{
	json.RawMessage(`{"name":"` + SearchTool + `","title":"Find tools","description":"Finds tools by words. Returns their definitions with the schemas of their arguments; call them with ` + CallTool + `.",` +
		`"inputSchema":{"type":"object","properties":{"query":{"type":"string","description":"What the tool should do, in a few words"},` +
		`"limit":{"type":"integer","minimum":1,"maximum":20,"default":5,"description":"How many tools to return"}},"required":["query"]},` +
		`"annotations":{"readOnlyHint":true,"openWorldHint":false}}`),
	json.RawMessage(`{"name":"` + CallTool + `","title":"Call a tool","description":"Calls a tool that ` + SearchTool + ` has found, by its name.",` +
		`"inputSchema":{"type":"object","properties":{"name":{"type":"string","description":"The tool's name"},` +
		`"arguments":{"type":"object","description":"What the tool's schema asks for"}},"required":["name"]}}`),
}

const (
	usualFound = 5
	mostFound  = 20
	mostAnswer = 256 << 10 // bytes of definitions in one answer
)

// finder is the index of a view, made when somebody searches.
type finder struct {
	once    sync.Once
	index   *llm.Index
	entries []route.Entry
}

// tooLong tells whether a search takes the place of a list.
func (s *Search) tooLong(tools []json.RawMessage) bool {
	if s.Above == 0 && s.Tokens == 0 || s.Above > 0 && len(tools) > s.Above {
		return true
	}
	tokens := 0
	for _, def := range tools {
		if tokens += llm.EstimateTokens(string(def)); s.Tokens > 0 && tokens > s.Tokens {
			return true
		}
	}
	return false
}

// lists tells whether a tool is listed in any case.
func (*Search) lists(patterns []string, e route.Entry) bool {
	return llm.Fits(patterns, e.Server, e.Name) || llm.Fits(patterns, e.Server, e.Exposed)
}

// Notes tells of patterns of [Search].Always that fit no tool, once all servers are up.
func (b *Bridge) Notes() (notes []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s, snaps := b.rules.Search, b.ups.Snapshots()
	if s == nil || len(s.Always) == 0 || slices.ContainsFunc(snaps, func(s upstream.Snapshot) bool { return !s.State.Usable() }) {
		return nil
	}
	v, err := build(b.rules, snaps) // what is shown may be older than the states
	if err != nil {
		return nil
	}
	for _, pattern := range s.Always {
		if !slices.ContainsFunc(v.table.Entries(route.Tool), func(e route.Entry) bool { return s.lists([]string{pattern}, e) }) {
			notes = append(notes, fmt.Sprintf("search: the pattern %q of \"always\" fits no tool", pattern))
		}
	}
	return notes
}

// shorten puts the search in the place of a list of tools that is too long.
func (v *view) shorten() {
	s := v.rules.Search
	if s == nil || !s.tooLong(v.items[server.Tools]) {
		return
	}
	var short []json.RawMessage
	for _, e := range v.table.Entries(route.Tool) {
		def := v.definitions[route.Tool][e.Target]
		if s.lists(s.Always, e) && v.admits(Entry{route.Tool, e.Target, e.Exposed, def}) {
			short = append(short, def)
		}
	}
	v.lists[server.Tools] = newShownList(int(server.Tools), append(short, searchTools...))
}

// find gives the definitions of the tools that fit a query, the best first.
func (v *view) find(query string, most int) (defs []json.RawMessage) {
	v.finder.once.Do(func() {
		var tools []llm.Listed
		for _, e := range v.table.Entries(route.Tool) {
			l := llm.Listed{Server: e.Server}
			if json.Unmarshal(v.definitions[route.Tool][e.Target], &l.Tool) != nil {
				l.Tool = mcp.Tool{} // found by its name alone
			}
			l.Tool.Name = e.Exposed
			tools, v.finder.entries = append(tools, l), append(v.finder.entries, e)
		}
		v.finder.index = llm.NewIndex(tools)
	})
	size := 0
	for _, i := range v.finder.index.Search(query) {
		e := v.finder.entries[i]
		if len(defs) == most {
			break
		}
		if !v.sees(route.Tool, e.Target, true) {
			continue
		}
		def := v.definitions[route.Tool][e.Target]
		if size += len(def); size > mostAnswer && defs != nil {
			break
		}
		defs = append(defs, def)
	}
	return defs
}

// searched answers a call of the search, and one of a tool that is not there, whose caller is told so; nil for every other
// request.
func (b *Bridge) searched(ctx context.Context, req *server.Request) *server.RawResult {
	if req.Method() != mcp.MethodCallTool || req.Name() != SearchTool && req.Name() != CallTool || b.view.Load().rules.Search == nil {
		return nil
	}
	b.settle(ctx)
	v := b.viewFor(ctx, req)
	if req.Name() == SearchTool {
		return v.answerSearch(req.Arguments())
	}
	name, args, ok := called(req)
	switch to, known := v.table.Tool(name); {
	case !ok:
		return failed("The arguments must hold the name of a tool, a text, and its arguments, an object.")
	case !v.sees(route.Tool, to, known):
		return failed(fmt.Sprintf("There is no tool %q. Find the name of one with %s.", name, SearchTool))
	case !jsonrpc.IsObject(args):
		return failed("The arguments of the tool must be an object. " + v.takes(to))
	}
	return nil
}

func (v *view) answerSearch(args json.RawMessage) *server.RawResult {
	raw, _ := jsonrpc.Member(args, "query")
	query, isText := jsonrpc.Text(raw)
	limit, err := usualFound, error(nil)
	if raw, ok := jsonrpc.Member(args, "limit"); ok && string(raw) != "null" {
		limit, err = strconv.Atoi(string(raw))
	}
	if !isText || err != nil || limit < 1 {
		return failed("The query must be a text, and the limit a whole number from 1 to 20.")
	}
	defs := v.find(query, min(limit, mostFound))
	if defs == nil {
		return said("No tool fits these words. Try others, or fewer.", false)
	}
	out := []byte(`{"tools":[`)
	for i, def := range defs {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, def...)
	}
	return said(string(append(out, "]}"...)), false)
}

func failed(text string) *server.RawResult { return said(text, true) }

// said is the result of a tool with one text.
func said(text string, isError bool) *server.RawResult {
	out := append(jsonrpc.AppendString([]byte(`{"content":[{"type":"text","text":`), text), "}]"...)
	if isError {
		out = append(out, `,"isError":true`...)
	}
	return &server.RawResult{Result: append(out, '}')}
}

// called is what CallTool is to call.
func called(req *server.Request) (name string, args json.RawMessage, ok bool) {
	raw, _ := jsonrpc.Member(req.Arguments(), "name")
	if name, ok = jsonrpc.Text(raw); !ok {
		return "", nil, false
	}
	args, has := jsonrpc.Member(req.Arguments(), "arguments")
	if !has || string(args) == "null" {
		args = json.RawMessage("{}")
	}
	return name, args, true
}

// findCalled is findTool for the tool that CallTool names. There are no headers that repeat its arguments: a client repeats those
// of the tool that it calls itself.
func findCalled(v *view, req *server.Request) (destination, bool) {
	name, args, ok := called(req)
	to, known := v.table.Tool(name)
	params := jsonrpc.With(nil, withoutWish(req.Params()), "name", jsonrpc.AppendString(nil, to.Name))
	return destination{
		kind: route.Tool, Target: to, params: jsonrpc.With(nil, params, "arguments", args), wrap: v.wrapped[to], tasks: v.tasks[to],
	}, v.sees(route.Tool, to, ok && known)
}

// takes says which arguments a tool takes.
func (v *view) takes(to route.Target) string {
	schema, _ := jsonrpc.Member(v.definitions[route.Tool][to], "inputSchema")
	return "The tool takes arguments of this schema: " + string(schema)
}

// withSchema adds to the answer to a call by CallTool, where arguments that do not fit are what is wrong, which ones do. The
// server has judged them; a model that has the name alone can mend them then.
func (v *view) withSchema(req *server.Request, to destination, result *server.RawResult, err error) (*server.RawResult, error) {
	if v.rules.Search == nil || req.Method() != mcp.MethodCallTool || req.Name() != CallTool {
		return result, err
	}
	var fault *mcp.Error
	if errors.As(err, &fault) && fault.Code == mcp.CodeInvalidParams {
		return failed(fault.Message + "\n" + v.takes(to.Target)), nil
	}
	if err != nil || result.Result == nil {
		return result, err
	}
	if isError, _ := jsonrpc.Member(result.Result, "isError"); string(isError) != "true" || v.fits(to) {
		return result, nil
	}
	content, _ := jsonrpc.Member(result.Result, "content")
	blocks := []byte{'['}
	for block := range jsonrpc.Elements(content) {
		blocks = append(append(blocks, block...), ',')
	}
	blocks = append(jsonrpc.AppendString(append(blocks, `{"type":"text","text":`...), v.takes(to.Target)), "}]"...)
	out := *result
	out.Result = jsonrpc.With(nil, result.Result, "content", blocks)
	return &out, nil
}

// fits tells whether the arguments of a call have the names and the types that the tool asks for. More is for the server to judge.
func (v *view) fits(to destination) bool {
	schema, _ := jsonrpc.Member(v.definitions[route.Tool][to.Target], "inputSchema")
	args, _ := jsonrpc.Member(to.params, "arguments")
	var given []string
	for name := range jsonrpc.Members(args) {
		given = append(given, name)
	}
	required, _ := jsonrpc.Member(schema, "required")
	for raw := range jsonrpc.Elements(required) {
		if name, ok := jsonrpc.Text(raw); ok && !slices.Contains(given, name) {
			return false
		}
	}
	properties, _ := jsonrpc.Member(schema, "properties")
	for name, value := range jsonrpc.Members(args) {
		def, known := jsonrpc.Member(properties, name)
		if kind := member(def, "type"); !known || kind != "" && !isKind(kind, value) {
			return false
		}
	}
	return true
}

// isKind tells whether a value is of a type of JSON Schema.
func isKind(kind string, value json.RawMessage) bool {
	switch kind {
	case "string":
		return jsonrpc.IsString(value)
	case "object":
		return jsonrpc.IsObject(value)
	case "array":
		return jsonrpc.IsArray(value)
	case "boolean":
		return string(value) == "true" || string(value) == "false"
	case "null":
		return string(value) == "null"
	}
	return len(value) > 0 && (value[0] == '-' || value[0] >= '0' && value[0] <= '9')
}
