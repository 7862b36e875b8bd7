package negotiate

import (
	"errors"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// ClassifyBatch says where an array of messages goes, and returns its messages. Arrays belong to the legacy revisions
// that have them: on a pipe (h is nil) after a handshake on one of those, over HTTP in a session of one or, without a
// session, by the header. limit bounds the elements; 0 means
// jsonrpc.MaxBatch, negative no bound.
//
// The route is Legacy or Refused. Refused as a whole, with -32600: an array that is empty or too long, holds a claim, an
// initialize or what is no message, or comes under a revision without arrays; with -32700 what is no JSON.
func (s *Set) ClassifyBatch(frame []byte, h era.Headers, session era.Codec, limit int) ([]*jsonrpc.Message, Route) {
	if limit == 0 {
		limit = jsonrpc.MaxBatch
	}
	raws, err := jsonrpc.SplitBatch(frame, limit)
	if err != nil {
		return nil, refuse(frameRefusal(err))
	}
	for i, raw := range raws {
		if claims(raw) {
			return nil, refuse(invalid(era.RowShape, "element %d of the array names a protocol version in _meta; send such messages one by one", i))
		}
	}
	value, named := version(h)
	if mcp.IsModernDate(value) {
		return nil, refuse(invalid(era.RowShape, "revision %s has no arrays of messages; send them one by one", value))
	}
	codec, refusal := s.batchCodec(h != nil, value, named, session)
	if refusal != nil {
		return nil, refuse(refusal)
	}
	messages := make([]*jsonrpc.Message, len(raws))
	for i, raw := range raws {
		m, err := jsonrpc.Decode(raw, Lift)
		if err != nil {
			return nil, refuse(invalid(era.RowShape, "element %d of the array is no message: %v", i, err))
		}
		if m.Method == mcp.MethodInitialize {
			return nil, refuse(invalid(era.RowShape, "element %d of the array is initialize, which must be sent alone", i))
		}
		messages[i] = m
	}
	return messages, Route{Kind: Legacy, Codec: codec}
}

func (s *Set) batchCodec(http bool, value string, named bool, session era.Codec) (era.Codec, *era.Refusal) {
	codec := session
	switch {
	case len(s.legacy) == 0:
		return nil, invalid(era.RowShape, "arrays of messages are not served here; send the messages one by one")
	case http:
		var refusal *era.Refusal
		if codec, refusal = s.sessionCodec(value, named, session); refusal != nil {
			return nil, refusal
		}
	case session == nil:
		return nil, invalid(era.RowShape, "an array of messages came before a handshake; %s", s.waysIn())
	}
	if !codec.Traits().Batches {
		return nil, invalid(era.RowShape, "revision %s has no arrays of messages; send them one by one", codec.Revision())
	}
	return codec, nil
}

// claims tells whether a raw element has a claim, whether or not it is a message.
func claims(element []byte) bool {
	params, _ := jsonrpc.Member(element, "params")
	meta, _ := jsonrpc.Member(params, "_meta")
	_, ok := jsonrpc.Member(meta, mcp.MetaProtocolVersion)
	return ok
}

// frameRefusal turns the verdict of package jsonrpc on a frame into a refusal.
func frameRefusal(err error) *era.Refusal {
	bad := &jsonrpc.FrameError{Code: jsonrpc.CodeParse}
	row := era.RowRequest
	if errors.As(err, &bad); bad.Code != jsonrpc.CodeParse {
		row = era.RowShape
	}
	return era.Refuse(row, mcp.Errorf(mcp.Code(bad.Code), "%v", err))
}
