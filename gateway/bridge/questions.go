package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// A server of the legacy era asks by a request of its own, while it serves a call. A client of the legacy era is asked the same
// way, on the stream of its call. One of the modern era is asked by the result of its request, so that call is parked (see
// parked.go). Which way it is, is the client's side to know: a server that asks by the result of a call meets none of this.

// What the gateway's own request states begin with. Others are those of servers, and passed on as they are.
const (
	boundState  = "rialto/bound/"  // a seal for the caller, a slash, and the state of a server follow
	parkedState = "rialto/parked/" // a sealed handle follows
	visitState  = "rialto/visit"   // the call is to be made anew
)

// ownState is what follows a prefix in the request state; false where it does not begin with that.
func ownState(req *server.Request, prefix string) (string, bool) {
	_, raw := req.Retry()
	state, _ := jsonrpc.Text(raw)
	return strings.CutPrefix(state, prefix)
}

// visits turns an error that demands a visit to pages, which a client cannot get that is asked by the result of its request,
// into such a result. Its next request makes the call anew. Spec 2025-11-25, client/elicitation, "URL Mode With Elicitation
// Required Error". It is nil for everything else.
func visits(req *server.Request, err error) *server.RawResult {
	var fault *mcp.Error
	if req.AsksInPlace() || !errors.As(err, &fault) || !fault.Remote || fault.Code != mcp.CodeURLElicitationRequired {
		return nil
	}
	list, _ := jsonrpc.Member(fault.Data, "elicitations")
	questions := []byte{'{'}
	caps, asked := req.ClientCapabilities(), 0
	for page := range jsonrpc.Elements(list) {
		if !jsonrpc.IsObject(page) {
			return nil
		}
		if member(page, "mode") == "" { // there is only one that such an error can mean
			page = jsonrpc.With(nil, page, "mode", []byte(`"url"`))
		}
		if answerable(caps, mcp.MethodElicit, page) != nil {
			return nil
		}
		if asked++; asked > 1 {
			questions = append(questions, ',')
		}
		questions = append(jsonrpc.AppendString(questions, "q"+strconv.Itoa(asked)), `:{"method":"elicitation/create","params":`...)
		questions = append(append(questions, page...), '}')
	}
	if asked == 0 {
		return nil
	}
	return &server.RawResult{InputRequests: append(questions, '}'), RequestState: jsonrpc.AppendString(nil, visitState)}
}

// mayBeAsked tells whether the client of a request has declared that it answers anything that an upstream may ask.
func mayBeAsked(req *server.Request) bool {
	_, capabilities := req.Envelope()
	for _, name := range []string{"elicitation", "sampling", "roots"} {
		if raw, ok := jsonrpc.Member(capabilities, name); ok && jsonrpc.IsObject(raw) {
			return req.CanBeAsked()
		}
	}
	return false
}

// answerable refuses a question that the client has not declared to answer.
func answerable(client mcp.ClientCapabilities, method string, params json.RawMessage) error {
	var need mcp.ClientCapabilities
	switch method {
	case mcp.MethodElicit:
		need.Elicitation = &mcp.ElicitationCapability{Form: &mcp.Capability{}}
		if mcp.ElicitMode(params) == mcp.ElicitModeURL {
			need.Elicitation = &mcp.ElicitationCapability{URL: &mcp.Capability{}}
		}
	case mcp.MethodCreateMessage:
		need.Sampling = &mcp.SamplingCapability{}
		if _, ok := jsonrpc.Member(params, "tools"); ok {
			need.Sampling.Tools = &mcp.Capability{}
		}
	case mcp.MethodListRoots:
		need.Roots = &mcp.RootsCapability{}
	default:
		return mcp.Errorf(mcp.CodeMethodNotFound, "Method not found: this gateway passes no %q on to clients", method)
	}
	if lack, lacks := client.Missing(need); lacks {
		return mcp.Errorf(mcp.CodeMethodNotFound, "The client behind this call does not take this; %s", mcp.MissingCapability(lack).Message)
	}
	return nil
}

// inPlace asks the client while its request is served.
func (p *Passage) inPlace(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if err := answerable(p.Request.ClientCapabilities(), method, params); err != nil {
		return nil, err
	}
	const key = "question"
	p.asked.Add(1)
	answers, err := p.Request.SendInput(ctx, mcp.InputRequests{key: {Method: method, Params: params}})
	if err != nil {
		return nil, err
	}
	p.answered.Add(1)
	return answers[key], nil
}
