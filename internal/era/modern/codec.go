package modern

import (
	"errors"
	"fmt"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// Codec speaks one modern revision for one side. It is not changed after New and may be used concurrently.
type Codec struct {
	revision   string
	side       era.Side
	table      *era.Table
	vendor     func(string) bool
	extensions []mcp.Extension
	envelope   envelope // of a client
	stamps     stamps   // of a server
}

var _ era.Codec = (*Codec)(nil)

// New makes the codec of a revision. universe holds the core methods of both eras. It fails when the identity or the
// capabilities of this side have no JSON form.
func New(revision string, cfg era.Config, universe map[string]bool) (*Codec, error) {
	c := &Codec{
		revision:   revision,
		side:       cfg.Side,
		table:      era.NewTable(Core(), cfg.Extensions, universe),
		vendor:     cfg.Vendor,
		extensions: cfg.Extensions,
	}
	var err error
	if cfg.Side == era.ServerSide {
		c.stamps, err = newStamps(cfg.Info)
	} else {
		c.envelope, err = newEnvelope(revision, cfg.Info, cfg.ClientCapabilities)
	}
	if err != nil {
		return nil, fmt.Errorf("revision %s: the identity of this side has no JSON form: %w", revision, err)
	}
	return c, nil
}

// Revision implements era.Codec.
func (c *Codec) Revision() string { return c.revision }

// Traits implements era.Codec. The answer is shared and not to be changed.
func (c *Codec) Traits() *era.Traits { return &traits }

// Look implements era.Codec.
func (c *Codec) Look(method string, notification bool, to era.Side) (*era.Row, era.Standing) {
	return c.table.Look(method, notification, to)
}

// DecodeCall implements era.Codec: rows 5 to 8 in their order, those about headers over HTTP alone. It allocates the call
// and nothing else.
func (c *Codec) DecodeCall(m *jsonrpc.Message, h era.Headers) (*era.Call, error) {
	if h != nil {
		if refusal := checkMethod(h, m.Method); refusal != nil {
			return nil, refusal
		}
	}
	row, standing := c.table.Look(m.Method, false, c.side)
	if c.side == era.ClientSide { // nothing is asked of a client by a request, a vendor's method included
		standing = era.Absent
	}
	if standing == era.Absent || standing == era.Vendor && (c.vendor == nil || !c.vendor(m.Method)) {
		return nil, era.RefuseMethod(m.Method, c.revision, standing)
	}
	env, refusal := readEnvelope(m)
	if refusal != nil {
		return nil, refusal
	}
	if row == nil {
		return envelopeOf(era.NewCall(m, c, nil, h, withoutEnvelope), env), nil
	}
	if row.Extension != "" && !row.Undeclared && !declares(env.ClientCapabilities, row.Extension) {
		return nil, undeclared(m.Method, row.Extension)
	}
	if h != nil && row.NameParam != "" {
		if refusal := checkName(h, m, row.NameParam); refusal != nil {
			return nil, refusal
		}
	}
	if !row.MultiRound {
		return envelopeOf(era.NewCall(m, c, row, h, withoutEnvelope), env), nil
	}
	call := envelopeOf(era.NewCall(m, c, row, h, withoutRetry), env)
	call.InputResponses, _ = m.Lifted(era.LiftInputResponses)
	call.RequestState, _ = m.Lifted(era.LiftRequestState)
	return call, nil
}

func envelopeOf(call *era.Call, env era.Envelope) *era.Call {
	call.Envelope = env
	return call
}

var noticeMembers = append([]int{era.MetaSubscriptionID}, envelopeMembers...)

// DecodeNotice implements era.Codec. The id of the listen it belongs to is lifted off the params.
func (c *Codec) DecodeNotice(m *jsonrpc.Message) (*era.Notice, bool) {
	if _, standing := c.table.Look(m.Method, true, c.side); standing == era.Absent {
		return nil, false
	}
	n := &era.Notice{Method: m.Method, Params: m.LeanParams(nil, noticeMembers), Message: m}
	n.Subscription, _ = m.LiftedMeta(era.MetaSubscriptionID)
	return n, true
}

// AppendCall implements era.Codec.
func (c *Codec) AppendCall(dst []byte, out *era.Outgoing) ([]byte, error) {
	row, standing := c.table.Look(out.Method, false, c.side.Other())
	if standing == era.Absent || c.side != era.ClientSide {
		return dst, era.NotInRevision(out.Method, c.revision)
	}
	if err := era.CheckParams(out.Method, out.Params); err != nil {
		return dst, err
	}
	rounds := row != nil && row.MultiRound
	if !rounds && (out.InputResponses != nil || out.RequestState != nil) {
		return dst, fmt.Errorf("call %q: only tools/call, prompts/get and resources/read are retried with answers", out.Method)
	}
	o := era.OpenObject(era.OpenCall(dst, out.ID, out.Method))
	placed := false
	for m := range jsonrpc.Fields(out.Params) {
		switch {
		case m.Is("_meta"):
			o.Resume(c.envelope.appendTo(o.KeyOf(m), m.Value, out.Meta, out.Token, out.LogLevel))
			placed = true
		case rounds && (m.Is("inputResponses") || m.Is("requestState")): // these have fields of their own
		default:
			o.Keep(m)
		}
	}
	if out.InputResponses != nil {
		o.Put("inputResponses", out.InputResponses)
	}
	if out.RequestState != nil {
		o.Put("requestState", out.RequestState)
	}
	if !placed {
		o.Resume(c.envelope.appendTo(o.Key("_meta"), nil, out.Meta, out.Token, out.LogLevel))
	}
	return append(o.Close(), '}'), nil
}

var errNoAnswers = errors.New("a client of this revision answers no requests")

// AppendNotice implements era.Codec. A client's carries the envelope, a server's the id of the listen it belongs to.
func (c *Codec) AppendNotice(dst []byte, n *era.Notice) ([]byte, error) {
	if _, standing := c.table.Look(n.Method, true, c.side.Other()); standing == era.Absent {
		return dst, era.NotInRevision(n.Method, c.revision)
	}
	if err := era.CheckParams(n.Method, n.Params); err != nil {
		return dst, err
	}
	if c.side == era.ServerSide && n.Subscription == nil {
		m := jsonrpc.Message{Method: n.Method, Params: n.Params}
		return m.Append(dst), nil
	}
	o := era.OpenObject(era.OpenCall(dst, jsonrpc.ID{}, n.Method))
	placed := false
	for m := range jsonrpc.Fields(n.Params) {
		if !m.Is("_meta") {
			o.Keep(m)
			continue
		}
		o.Resume(c.appendNoticeMeta(o.KeyOf(m), m.Value, n))
		placed = true
	}
	if !placed {
		o.Resume(c.appendNoticeMeta(o.Key("_meta"), nil, n))
	}
	return append(o.Close(), '}'), nil
}

func (c *Codec) appendNoticeMeta(dst, base []byte, n *era.Notice) []byte {
	if c.side == era.ClientSide {
		return c.envelope.appendTo(dst, base, nil, nil, "")
	}
	own := era.Own{{mcp.MetaSubscriptionID, n.Subscription}}
	return era.AppendMeta(dst, own, base, nil, nil)
}
