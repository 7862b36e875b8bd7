package modern

import (
	"strconv"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// DecodeOutcome implements era.Codec: it tells complete results from questions and from results of extensions, and lifts
// off the members that only this era has. Absent resultType is complete; cache members that cannot be read say "stale at
// once" and "private"; a serverInfo that cannot be read is dropped; a tool result without content gets an empty one.
//
// It fails with mcp.CodeInvalidResult when the result is no object, its resultType no string, or a demand for input is
// empty or comes where none may; with mcp.CodeUnsupportedResultType for a resultType that no enabled extension has.
// Spec 2026-07-28, basic, "Results".
func (c *Codec) DecodeOutcome(out *era.Outgoing, m *jsonrpc.Message) (*era.Outcome, error) {
	if m.Error != nil {
		return &era.Outcome{Err: era.ReadError(m.Error)}, nil
	}
	if !jsonrpc.IsObject(m.Result) {
		return nil, invalidResult(out.Method, "the result must be a JSON object, got %.60s", m.Result)
	}
	kind := typeComplete
	if raw, ok := m.Lifted(era.LiftResultType); ok {
		if kind, ok = jsonrpc.Text(raw); !ok {
			return nil, invalidResult(out.Method, "resultType must be a string, got %.60s", raw)
		}
	}
	row, _ := c.table.Look(out.Method, false, c.side.Other())
	switch {
	case kind == typeComplete:
		return decodeComplete(out.Method, row, m), nil
	case kind == typeInput:
		return decodeInput(out.Method, row, m)
	case c.hasResultType(row, kind):
		return &era.Outcome{Result: lean(m, resultTypeMember), ResultType: kind}, nil
	}
	return nil, mcp.Errorf(mcp.CodeUnsupportedResultType,
		"the server answered %q with a result of type %.60q, which nothing on this side understands", out.Method, kind).
		WithData(map[string]string{"method": out.Method, "resultType": kind})
}

var (
	resultTypeMember = []int{era.LiftResultType}
	cacheMembers     = []int{era.LiftResultType, era.LiftTTL, era.LiftCacheScope}
	serverInfoMember = []int{era.MetaServerInfo}
)

// lean cuts members out of a result, and with them a serverInfo that is no Implementation.
func lean(m *jsonrpc.Message, body []int) rawValue {
	if info, ok := m.LiftedMeta(era.MetaServerInfo); ok && !isImplementation(info) {
		return m.LeanResult(body, serverInfoMember)
	}
	return m.LeanResult(body, nil)
}

func decodeComplete(method string, row *era.Row, m *jsonrpc.Message) *era.Outcome {
	o := &era.Outcome{}
	members := resultTypeMember
	if row != nil && row.Cacheable {
		members = cacheMembers
		o.Cache = readHint(m)
	}
	o.Result = lean(m, members)
	if method == mcp.MethodCallTool {
		if _, ok := jsonrpc.Member(o.Result, "content"); !ok {
			o.Result = jsonrpc.AddMembers(nil, o.Result, []byte(`"content":[]`))
		}
	}
	return o
}

// readHint reads the cache members. The answer says both, whatever came.
func readHint(m *jsonrpc.Message) mcp.CacheHint {
	ttl := int64(0)
	if raw, ok := m.Lifted(era.LiftTTL); ok {
		if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil && n > 0 && n <= maxSafe {
			ttl = n
		}
	}
	hint := mcp.CacheHint{TTLMs: &ttl, Scope: mcp.CachePrivate}
	raw, _ := m.Lifted(era.LiftCacheScope)
	if scope, ok := jsonrpc.Text(raw); ok && scope == mcp.CachePublic {
		hint.Scope = mcp.CachePublic
	}
	return hint
}

// decodeInput reads the questions of a server. Requests that are no object count as none.
func decodeInput(method string, row *era.Row, m *jsonrpc.Message) (*era.Outcome, error) {
	if !mayVary(row) {
		return nil, invalidResult(method, "the server asks for input, which this method may not")
	}
	in := &era.InputRound{}
	if raw, ok := m.Lifted(era.LiftInputRequests); ok && jsonrpc.IsObject(raw) && !isEmptyObject(raw) {
		in.Requests = raw
	}
	if raw, ok := m.Lifted(era.LiftRequestState); ok && jsonrpc.IsString(raw) {
		in.State = raw
	}
	if in.Requests == nil && in.State == nil {
		return nil, invalidResult(method, "the server asks for input but names neither a question nor a state").
			WithData(map[string]string{"violation": "input-required-missing-both"})
	}
	return &era.Outcome{Input: in}, nil
}
