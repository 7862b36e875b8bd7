package legacy

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// Codec speaks one legacy revision for one side. It is not changed after New and may be used concurrently.
type Codec struct {
	revision string
	side     era.Side
	traits   *era.Traits
	table    *era.Table
	vendor   func(string) bool
	version  [][2]string // the header that names the revision; nil where it has none
}

var _ era.Codec = (*Codec)(nil)

// New makes the codec of a revision. universe holds the core methods of both eras.
func New(revision string, cfg era.Config, universe map[string]bool) *Codec {
	c := &Codec{
		revision: revision,
		side:     cfg.Side,
		traits:   traitsOf(revision),
		table:    newTable(revision, cfg.Extensions, universe),
		vendor:   cfg.Vendor,
	}
	if namesRevision(revision) {
		c.version = [][2]string{{era.HeaderVersion, revision}}
	}
	return c
}

// Revision implements era.Codec.
func (c *Codec) Revision() string { return c.revision }

// Traits implements era.Codec. The answer is shared and not to be changed.
func (c *Codec) Traits() *era.Traits { return c.traits }

// Look implements era.Codec.
func (c *Codec) Look(method string, notification bool, to era.Side) (*era.Row, era.Standing) {
	return c.table.Look(method, notification, to)
}

// DecodeCall implements era.Codec. Of the rows 5 to 8 only the sixth exists here.
func (c *Codec) DecodeCall(m *jsonrpc.Message, h era.Headers) (*era.Call, error) {
	row, standing := c.table.Look(m.Method, false, c.side)
	if standing == era.Absent || standing == era.Vendor && (c.vendor == nil || !c.vendor(m.Method)) {
		return nil, era.RefuseMethod(m.Method, c.revision, standing)
	}
	if row != nil && row.MultiRound {
		return era.NewCall(m, c, row, h, withoutRetry), nil
	}
	return era.NewCall(m, c, row, h, nil), nil
}

var retryMembers = []int{era.LiftInputResponses, era.LiftRequestState}

// withoutRetry cuts the members by which the modern era answers questions: a handler of either era must not take for an
// answer what this era lets anybody write.
func withoutRetry(m *jsonrpc.Message) json.RawMessage { return m.LeanParams(retryMembers, nil) }

// DecodeNotice implements era.Codec.
func (c *Codec) DecodeNotice(m *jsonrpc.Message) (*era.Notice, bool) {
	if _, standing := c.table.Look(m.Method, true, c.side); standing == era.Absent {
		return nil, false
	}
	return &era.Notice{Method: m.Method, Params: m.Params, Message: m}, true
}

var (
	errInput      = errors.New("a result that asks for input has no form in this revision; the questions must be sent as requests")
	errResultType = errors.New("a result of an extension has no form in this revision")
)

// AppendResult implements era.Codec.
func (c *Codec) AppendResult(dst []byte, row *era.Row, o *era.Outcome) ([]byte, error) {
	switch {
	case o.Input != nil:
		return dst, errInput
	case o.ResultType == mcp.ResultTask && c.traits.Tasks && row != nil && row.Method == mcp.MethodCallTool:
		return appendNewTask(dst, o.Result), nil
	case o.ResultType != "":
		return dst, fmt.Errorf("%w: resultType %q", errResultType, o.ResultType)
	case !jsonrpc.IsObject(o.Result):
		return dst, fmt.Errorf("a result must be a JSON object, got %.60s", o.Result)
	case row == nil:
		return jsonrpc.AppendRaw(dst, o.Result), nil
	}
	result := o.Result
	if !o.Plain {
		result = withoutStamps(row, result)
	}
	switch row.Method {
	case mcp.MethodListTools:
		return appendTools(dst, result), nil
	case mcp.MethodCallTool, mcp.MethodTaskResult:
		if !o.Plain {
			return appendToolResult(dst, result, o.WrapOutput), nil
		}
	case mcp.MethodGetTask, mcp.MethodCancelTask:
		return appendTask(dst, result), nil
	case mcp.MethodListTasks:
		return appendTaskList(dst, result), nil
	}
	return jsonrpc.AppendRaw(dst, result), nil
}

// AppendCall implements era.Codec.
func (c *Codec) AppendCall(dst []byte, out *era.Outgoing) ([]byte, error) {
	if _, standing := c.table.Look(out.Method, false, c.side.Other()); standing == era.Absent {
		return dst, era.NotInRevision(out.Method, c.revision)
	}
	if out.InputResponses != nil || out.RequestState != nil {
		return dst, fmt.Errorf("call %q: revision %s has no retry with answers", out.Method, c.revision)
	}
	params := out.Params
	if out.Task != nil && c.traits.Tasks {
		params = jsonrpc.With(nil, params, "task", out.Task)
	}
	return c.appendFrame(dst, out.ID, out.Method, params, out.Meta, out.Token)
}

// AppendNotice implements era.Codec.
func (c *Codec) AppendNotice(dst []byte, n *era.Notice) ([]byte, error) {
	if n.Method == mcp.NotifyTask && c.traits.Tasks {
		n = &era.Notice{Method: mcp.NotifyTaskStatus, Params: appendTask(nil, n.Params)}
	}
	if _, standing := c.table.Look(n.Method, true, c.side.Other()); standing == era.Absent {
		return dst, era.NotInRevision(n.Method, c.revision)
	}
	return c.appendFrame(dst, jsonrpc.ID{}, n.Method, n.Params, nil, nil)
}

func (c *Codec) appendFrame(dst []byte, id jsonrpc.ID, method string, params, meta, token json.RawMessage) ([]byte, error) {
	if err := era.CheckParams(method, params); err != nil {
		return dst, err
	}
	if meta == nil && token == nil { // the usual one: what the caller made, as it is
		m := jsonrpc.Message{ID: id, Method: method, Params: params}
		return m.Append(dst), nil
	}
	o := era.OpenObject(era.OpenCall(dst, id, method))
	placed := false
	for m := range jsonrpc.Fields(params) {
		if !m.Is("_meta") {
			o.Keep(m)
			continue
		}
		o.Resume(era.AppendMeta(o.Key("_meta"), nil, m.Value, meta, token))
		placed = true
	}
	if !placed {
		o.Resume(era.AppendMeta(o.Key("_meta"), nil, nil, meta, token))
	}
	return append(o.Close(), '}'), nil
}

// CallHeaders implements era.Codec: the revision, on every call after the handshake.
func (c *Codec) CallHeaders(out *era.Outgoing) [][2]string {
	if out.Method == mcp.MethodInitialize {
		return nil
	}
	return c.version
}

// NoticeHeaders implements era.Codec.
func (c *Codec) NoticeHeaders(*era.Notice) [][2]string { return c.version }
