package server

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/mcp"
)

// ask turns a handler's questions into an input_required result.
func (s *Server) ask(r *Request, ask *mcp.InputRequired) *era.Outcome {
	if refusal := s.mayAsk(r); refusal != nil {
		return refusal
	}
	if ask.State != nil {
		return s.failure(r, errors.New("the handler asked with a state of its own, which is not supported yet; ask again for what is missing"))
	}
	need, err := needs(ask)
	if err != nil {
		return s.failure(r, fmt.Errorf("the handler asked for input: %v", err)) // not %w: it may hold a question again
	}
	if lack, missing := r.ClientCapabilities().Missing(need); missing {
		return &era.Outcome{Err: mcp.MissingCapability(lack), Row: era.RowCapable}
	}
	requests, err := json.Marshal(ask.Requests, json.Deterministic(true))
	if err != nil {
		return s.failure(r, fmt.Errorf("encode the questions of the handler: %v", err))
	}
	return &era.Outcome{Input: &era.InputRound{Requests: requests}}
}

// mayAsk refuses questions where the method or the client's revision has none. The first is the programmer's fault and
// stays here; of the second the client is told.
func (s *Server) mayAsk(r *Request) *era.Outcome {
	if r.in.Row == nil || !r.in.Row.MultiRound {
		return s.failure(r, errors.New("the handler asked for input, which this method cannot; tools, prompts and resource reads can"))
	}
	if r.CanBeAsked() {
		return nil
	}
	why := fmt.Sprintf("%s %q has to ask its client something first, which is not possible here in revision %s", r.Method(), short(r.Name()), r.ProtocolVersion())
	if able := s.set.Modern(); len(able) > 0 {
		why += "; it is in " + strings.Join(able, ", ")
	}
	return &era.Outcome{Err: mcp.Errorf(mcp.CodeInternal, "%s", why)}
}

// needs is what a client must be able to do to answer. It fails for questions that no client knows.
func needs(ask *mcp.InputRequired) (need mcp.ClientCapabilities, err error) {
	if err := ask.Check(); err != nil {
		return need, err
	}
	for key, q := range ask.Requests {
		switch q.Method {
		case mcp.MethodElicit:
			if need.Elicitation == nil {
				need.Elicitation = &mcp.ElicitationCapability{}
			}
			if mcp.ElicitMode(q.Params) == mcp.ElicitModeURL {
				need.Elicitation.URL = &mcp.Capability{}
			} else {
				need.Elicitation.Form = &mcp.Capability{}
			}
		case mcp.MethodCreateMessage:
			if need.Sampling == nil {
				need.Sampling = &mcp.SamplingCapability{}
			}
			_, tools := mcp.Member(q.Params, "tools")
			_, choice := mcp.Member(q.Params, "toolChoice")
			if tools || choice {
				need.Sampling.Tools = &mcp.Capability{}
			}
		case mcp.MethodListRoots:
			need.Roots = &mcp.RootsCapability{}
		default:
			return need, fmt.Errorf("question %q has the method %q; ask with %s, %s or %s",
				key, q.Method, mcp.MethodElicit, mcp.MethodCreateMessage, mcp.MethodListRoots)
		}
	}
	return need, nil
}

// checkRetry judges the material of a retry before a handler sees it (row 12). This server seals no states yet, so none
// that comes can be its own.
func checkRetry(r *Request) *era.Outcome {
	if refusal := checkShape(r); refusal != nil {
		return refusal
	}
	if _, state := r.Retry(); state != nil {
		err := mcp.InvalidParams("Invalid or expired requestState; make the call anew, without it")
		return invalid(err.WithData(map[string]string{"reason": "invalid_request_state"}))
	}
	return nil
}

// short cuts what a peer has sent to a length that fits into a message.
func short(name string) string {
	const most = 200
	if len(name) <= most {
		return name
	}
	return strings.ToValidUTF8(name[:most], "") + "..."
}
