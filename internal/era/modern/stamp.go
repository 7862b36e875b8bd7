package modern

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// Values of resultType that the core has.
const (
	typeComplete = "complete"
	typeInput    = "input_required"
)

const maxSafe = 1<<53 - 1 // the largest integer every JSON reader keeps exactly

// stamps are the bytes that go onto results, made once.
type stamps struct {
	server []byte // `{"io.modelcontextprotocol/serverInfo":{...}}` without its braces
	meta   []byte // `"_meta":{...}`
}

func newStamps(info mcp.Implementation) (stamps, error) {
	raw, err := json.Marshal(info)
	if err != nil {
		return stamps{}, err
	}
	pair := append([]byte(`"`+mcp.MetaServerInfo+`":`), raw...)
	meta := append(append([]byte(`"_meta":{`), pair...), '}')
	return stamps{server: pair, meta: meta}, nil
}

// AppendResult implements era.Codec: the members of the result in their order, then resultType, the cache hints of a
// cacheable method, and _meta, each unless the result has it. A result that its maker knows to be plain gets them appended
// unseen.
func (c *Codec) AppendResult(dst []byte, row *era.Row, o *era.Outcome) ([]byte, error) {
	switch {
	case c.side != era.ServerSide:
		return dst, errNoAnswers
	case o.Input != nil:
		return c.appendInput(dst, row, o.Input)
	case row != nil && row.Ack:
		return c.appendAck(dst, o)
	case o.ResultType != "" && !mayVary(row):
		return dst, fmt.Errorf("%s may not answer with resultType %q", nameOf(row), o.ResultType)
	case o.Plain && o.ResultType == "" && !listsTools(row):
		return c.appendPlain(dst, row, o)
	case !jsonrpc.IsObject(o.Result):
		return dst, notAnObject(row, o.Result)
	}
	return c.appendStamped(dst, row, o)
}

func notAnObject(row *era.Row, result []byte) error {
	return fmt.Errorf("the result of %s must be a JSON object, got %.60s", nameOf(row), result)
}

func nameOf(row *era.Row) string {
	if row == nil {
		return "a method outside the specification"
	}
	return strconv.Quote(row.Method)
}

// mayVary tells whether a method may have results that are neither complete nor an error.
func mayVary(row *era.Row) bool { return row != nil && row.MultiRound }

func listsTools(row *era.Row) bool { return row != nil && row.Method == mcp.MethodListTools }

// appendPlain is the fast road: it looks at both ends of the result only.
func (c *Codec) appendPlain(dst []byte, row *era.Row, o *era.Outcome) ([]byte, error) {
	body := bytes.Trim(o.Result, " \t\r\n")
	if len(body) < 2 || body[0] != '{' || body[len(body)-1] != '}' {
		return dst, notAnObject(row, o.Result)
	}
	body = bytes.TrimRight(body[:len(body)-1], " \t\r\n")
	dst = jsonrpc.AppendRaw(dst, body)
	if len(body) > 1 {
		dst = append(dst, ',')
	}
	dst = append(dst, `"resultType":"complete",`...)
	if row != nil && row.Cacheable {
		dst = appendHint(dst, o.Cache)
	}
	dst = append(dst, c.stamps.meta...)
	return append(dst, '}'), nil
}

// appendHint appends both cache members with a comma behind each.
func appendHint(dst []byte, hint mcp.CacheHint) []byte {
	dst = append(appendTTL(append(dst, `"ttlMs":`...), hint), ',')
	return append(append(append(dst, `"cacheScope":`...), scopeOf(hint)...), ',')
}

func appendTTL(dst []byte, hint mcp.CacheHint) []byte {
	if hint.TTLMs == nil || *hint.TTLMs < 0 || *hint.TTLMs > maxSafe {
		return append(dst, '0')
	}
	return strconv.AppendInt(dst, *hint.TTLMs, 10)
}

func scopeOf(hint mcp.CacheHint) string {
	if hint.Scope == mcp.CachePublic {
		return `"public"`
	}
	return `"private"`
}

// appendInput appends the questions of a handler. They are never cached.
func (c *Codec) appendInput(dst []byte, row *era.Row, in *era.InputRound) ([]byte, error) {
	if !mayVary(row) {
		return dst, fmt.Errorf("%s may not ask for input; tools/call, prompts/get and resources/read may", nameOf(row))
	}
	asks := !isEmptyObject(in.Requests)
	switch {
	case in.Requests != nil && !jsonrpc.IsObject(in.Requests):
		return dst, fmt.Errorf("the input requests must be a JSON object, got %.60s", in.Requests)
	case in.State != nil && !jsonrpc.IsString(in.State):
		return dst, fmt.Errorf("the request state must be a JSON string, got %.60s", in.State)
	case !asks && in.State == nil:
		return dst, fmt.Errorf("%s asks for input without a question and without a state", nameOf(row))
	}
	out := era.OpenObject(dst)
	out.Put("resultType", []byte(`"`+typeInput+`"`))
	if asks {
		out.Put("inputRequests", in.Requests)
	}
	if in.State != nil {
		out.Put("requestState", in.State)
	}
	out.Pairs(c.stamps.meta)
	return out.Close(), nil
}

func isEmptyObject(raw []byte) bool {
	for range jsonrpc.Fields(raw) {
		return false
	}
	return true
}

// found is what a result says of itself.
type found struct{ kind, ttl, scope, meta bool }

// appendStamped is the slow road: every member of the result is looked at.
func (c *Codec) appendStamped(dst []byte, row *era.Row, o *era.Outcome) ([]byte, error) {
	kind, err := kindOf(row, o)
	if err != nil {
		return dst, err
	}
	cached := kind == typeComplete && row != nil && row.Cacheable
	var has found
	out := era.OpenObject(dst)
	for m := range jsonrpc.Fields(o.Result) {
		switch {
		case m.Is("resultType"):
			has.kind = true
			out.Resume(jsonrpc.AppendString(out.KeyOf(m), kind))
		case cached && m.Is("ttlMs"):
			has.ttl = true
			out.Resume(appendOwnTTL(out.KeyOf(m), m.Value, o.Cache))
		case cached && m.Is("cacheScope"):
			has.scope = true
			out.Resume(appendOwnScope(out.KeyOf(m), m.Value, o.Cache))
		case m.Is("_meta"):
			has.meta = true
			out.Resume(c.appendServerInfo(out.KeyOf(m), m.Value))
		case m.Is("capabilities") && jsonrpc.IsObject(m.Value):
			out.Resume(appendWithout(out.KeyOf(m), m.Value, "tasks"))
		case listsTools(row) && m.Is("tools") && jsonrpc.IsArray(m.Value):
			out.Resume(appendTools(out.KeyOf(m), m.Value))
		default:
			out.Keep(m)
		}
	}
	if !has.kind {
		out.Resume(jsonrpc.AppendString(out.Key("resultType"), kind))
	}
	if cached && !has.ttl {
		out.Resume(appendTTL(out.Key("ttlMs"), o.Cache))
	}
	if cached && !has.scope {
		out.Resume(append(out.Key("cacheScope"), scopeOf(o.Cache)...))
	}
	if !has.meta {
		out.Pairs(c.stamps.meta)
	}
	return out.Close(), nil
}

// kindOf decides the resultType: the outcome's, the result's own, or complete.
func kindOf(row *era.Row, o *era.Outcome) (string, error) {
	own, ok := jsonrpc.Member(o.Result, "resultType")
	if !ok {
		if o.ResultType != "" {
			return o.ResultType, nil
		}
		return typeComplete, nil
	}
	kind, ok := jsonrpc.Text(own)
	switch {
	case !ok:
		return "", fmt.Errorf("the resultType of %s must be a string, got %.60s", nameOf(row), own)
	case o.ResultType != "" && o.ResultType != kind:
		return "", fmt.Errorf("the result of %s says resultType %q and its maker says %q", nameOf(row), kind, o.ResultType)
	case kind != typeComplete && !mayVary(row):
		return "", fmt.Errorf("%s may not answer with resultType %q", nameOf(row), kind)
	}
	return kind, nil
}

// appendOwnTTL keeps a handler's ttlMs when it is a non-negative safe integer, and puts the hint in its place otherwise.
func appendOwnTTL(dst, own []byte, hint mcp.CacheHint) []byte {
	if n, err := strconv.ParseInt(string(own), 10, 64); err == nil && n >= 0 && n <= maxSafe {
		return append(dst, own...)
	}
	return appendTTL(dst, hint)
}

func appendOwnScope(dst, own []byte, hint mcp.CacheHint) []byte {
	if text, ok := jsonrpc.Text(own); ok && (text == mcp.CachePublic || text == mcp.CachePrivate) {
		return append(dst, own...)
	}
	return append(dst, scopeOf(hint)...)
}

// appendServerInfo appends a result's own _meta, with our name where the handler has given none. What is no object is
// left as it is.
func (c *Codec) appendServerInfo(dst, meta []byte) []byte {
	if _, ok := jsonrpc.Member(meta, mcp.MetaServerInfo); ok || !jsonrpc.IsObject(meta) {
		return jsonrpc.AppendRaw(dst, meta)
	}
	out := era.OpenObject(dst)
	for m := range jsonrpc.Fields(meta) {
		out.Keep(m)
	}
	out.Pairs(c.stamps.server)
	return out.Close()
}

func appendWithout(dst, obj []byte, name string) []byte {
	out := era.OpenObject(dst)
	for m := range jsonrpc.Fields(obj) {
		if !m.Is(name) {
			out.Keep(m)
		}
	}
	return out.Close()
}

// appendTools appends a list of tools without the execution member, which this era does not have.
func appendTools(dst, tools []byte) []byte {
	dst = append(dst, '[')
	start := len(dst)
	for tool := range jsonrpc.Elements(tools) {
		if len(dst) > start {
			dst = append(dst, ',')
		}
		if jsonrpc.IsObject(tool) {
			dst = appendWithout(dst, tool, "execution")
		} else {
			dst = jsonrpc.AppendRaw(dst, tool)
		}
	}
	return append(dst, ']')
}

// hasResultType tells whether an enabled extension has a resultType that the method may answer with.
func (c *Codec) hasResultType(row *era.Row, kind string) bool {
	return row != nil && slices.ContainsFunc(c.extensions, func(x mcp.Extension) bool {
		return slices.Contains(x.ResultTypes, kind) && (row.MultiRound || row.Extension == x.Identifier)
	})
}
