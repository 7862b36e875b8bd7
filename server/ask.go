package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/internal/schema"
	"github.com/rialto-mcp/rialto/internal/seal"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// ask turns a handler's questions into a round: an input_required result, or requests that the engine sends where the
// revision has no such results.
func (s *Server) ask(r *Request, ask *mcp.InputRequired) *era.Outcome {
	if err := s.canPut(r, ask); err != nil {
		return s.failure(r, err)
	}
	if err := r.refusePages(ask.Requests); err != nil {
		return s.failure(r, err)
	}
	r.rememberPages(ask.Requests)
	record := r.nextRecord()
	record.State = ask.State
	for _, key := range ask.Requests.Keys() {
		record.Asked = append(record.Asked, seal.Question{Key: key, Request: remembered(ask.Requests[key])})
	}
	round, err := s.newRound(r, ask.Requests, record)
	if err != nil {
		return s.failure(r, err)
	}
	return &era.Outcome{Input: round}
}

// mayAsk refuses questions where the method has none, where nobody can be asked, and after too many rounds. The first is
// the programmer's fault and stays here; of the others the client is told.
func (s *Server) mayAsk(r *Request) error {
	if r.in.Row == nil || !r.in.Row.MultiRound {
		return errors.New("the handler asked for input, which this method cannot; tools, prompts and resource reads can")
	}
	if r.rounds() >= s.opts.maxRounds() {
		return s.tooOften()
	}
	if r.CanBeAsked() {
		return nil
	}
	why := fmt.Sprintf("that is not possible here in revision %s, which needs a session and its whole handshake for it", r.ProtocolVersion())
	if able := s.set.Modern(); len(able) > 0 {
		why += "; it is in " + strings.Join(able, ", ")
	}
	return &cannotAsk{why: why}
}

func (s *Server) tooOften() error {
	return &cannotAsk{why: fmt.Sprintf("it has been asked %d times, which is the limit, and the answers are not enough", s.opts.maxRounds())}
}

// canAnswer refuses questions that the client does not declare, or its revision does not have.
func (s *Server) canAnswer(r *Request, need mcp.ClientCapabilities) error {
	traits := r.in.Codec.Traits()
	missing := ""
	switch e := need.Elicitation; {
	case e != nil && !traits.Elicitation:
		missing = "has no questions to the user"
	case e.AcceptsURL() && !traits.URLElicitation:
		missing = "cannot send the user to a page"
	case need.Sampling != nil && need.Sampling.Tools != nil && !traits.SamplingTools:
		missing = "has no tools for the client's model"
	}
	if missing != "" {
		return &cannotAsk{why: fmt.Sprintf("its revision %s %s", r.ProtocolVersion(), missing)}
	}
	lack, lacks := r.ClientCapabilities().Missing(need)
	switch {
	case !lacks:
		return nil
	case traits.InputRounds:
		why := mcp.MissingCapability(lack)
		return &cannotAsk{why: why.Message, code: why}
	}
	names, err := json.Marshal(lack)
	if err != nil {
		return err
	}
	return &cannotAsk{why: fmt.Sprintf("it has not declared the capabilities %s in its handshake", names)}
}

// unable answers a call whose handler needs an answer that it cannot get.
func (s *Server) unable(r *Request, e *cannotAsk) *era.Outcome {
	if e.code != nil {
		return &era.Outcome{Err: e.code, Row: era.RowCapable}
	}
	return s.unasked(r, e.why)
}

// unasked answers a call whose client would have to be asked and cannot be: in the text of a tool's result, for the model
// to read, and as an error elsewhere.
func (s *Server) unasked(r *Request, why string) *era.Outcome {
	message := fmt.Sprintf("%s %q has to ask its client something first, and could not: %s", r.Method(), short(r.Name()), why)
	if r.Method() == mcp.MethodCallTool {
		return s.encodeToolResult(r, mcp.ErrorResult(message), false)
	}
	return &era.Outcome{Err: mcp.Errorf(mcp.CodeInternal, "%s", message)}
}

// asked is a request whose handler has asked, as the engine sees it where it asks by itself.
type asked Request

var _ era.Rerun = (*asked)(nil)

// Fail implements era.Rerun.
func (a *asked) Fail(err error) *era.Outcome {
	r := (*Request)(a)
	return r.server.unasked(r, err.Error())
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

// checkForms refuses forms that clients cannot show.
func checkForms(ask *mcp.InputRequired) error {
	for _, key := range ask.Requests.Keys() {
		q := ask.Requests[key]
		if form, ok := formOf(q.Method, q.Params); ok {
			if _, err := schema.ParseForm(form); err != nil {
				return fmt.Errorf("question %q: %w", key, err)
			}
		}
	}
	return nil
}

// formOf returns the schema of a form; false for a question that is none. A form without one has none.
func formOf(method string, params json.RawMessage) (json.RawMessage, bool) {
	if method != mcp.MethodElicit || mcp.ElicitMode(params) == mcp.ElicitModeURL {
		return nil, false
	}
	form, ok := jsonrpc.Member(params, "requestedSchema")
	if !ok {
		form = json.RawMessage("null")
	}
	return form, true
}

// fit takes from the questions what the revision of the client does not have: pages carry no id where questions ride in
// results.
func fit(r *Request, questions mcp.InputRequests) mcp.InputRequests {
	if !r.in.Codec.Traits().InputRounds {
		return questions
	}
	out := make(mcp.InputRequests, len(questions))
	for key, q := range questions {
		if q.Method == mcp.MethodElicit {
			q.Params = jsonrpc.Without(q.Params, "elicitationId")
		}
		out[key] = q
	}
	return out
}

// dropped writes down an answer that the handler will not see.
func (s *Server) dropped(r *Request, key string, why error) {
	text := why.Error()
	var broken *schema.ValidationError
	if errors.As(why, &broken) {
		text = broken.WithoutValue()
	}
	s.logger().LogAttrs(r.in.Context(), slog.LevelInfo, "mcp: an answer of the client was dropped",
		slog.String("method", r.Method()), slog.String("name", r.Name()), slog.String("key", key), slog.String("error", text))
}

// short cuts what a peer has sent to a length that fits into a message.
func short(name string) string {
	const most = 200
	if len(name) <= most {
		return name
	}
	return strings.ToValidUTF8(name[:most], "") + "..."
}
