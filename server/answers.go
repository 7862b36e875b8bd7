package server

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/rialto-mcp/rialto/internal/schema"
	"github.com/rialto-mcp/rialto/internal/seal"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// bareAnswers reads the answers of a retry, an object by key: those that are answers at all. Null and what is wrapped like a
// message of its own are none.
func bareAnswers(raw json.RawMessage) mcp.InputResponses {
	if !jsonrpc.IsObject(raw) {
		return nil
	}
	out := mcp.InputResponses{}
	for key, answer := range jsonrpc.Members(raw) {
		if checkBare(answer) == nil {
			out[key] = answer
		}
	}
	return out
}

func checkBare(answer json.RawMessage) error {
	if !jsonrpc.IsObject(answer) {
		return errors.New("an answer must be an object")
	}
	for f := range jsonrpc.Fields(answer) {
		if f.Is("method") || f.Is("result") {
			return fmt.Errorf("an answer is the result itself, without a member %s", f.Name)
		}
	}
	return nil
}

// checkedAnswers keeps the answers to what was asked that fit it. The handler asks again for what is missing then.
func (s *Server) checkedAnswers(r *Request, questions []seal.Question) mcp.InputResponses {
	out := mcp.InputResponses{}
	for _, q := range questions {
		answer, ok := jsonrpc.Member(r.responses, q.Key)
		if !ok {
			continue
		}
		if err := checkAnswer(q.Request, answer); err != nil {
			s.dropped(r, q.Key, err)
			continue
		}
		out[q.Key] = answer
	}
	return out
}

// keptAnswers are those to questions that a handler has returned in an earlier run, and asked by call since.
func keptAnswers(record *seal.Record) mcp.InputResponses {
	out := make(mcp.InputResponses, len(record.Kept))
	for _, answer := range record.Kept {
		out[answer.Name] = answer.Raw
	}
	return out
}

// remembered keeps of a question what its answer is checked against: the method, and the schema of a form. Messages for a
// model, say, would only make the state larger.
func remembered(q mcp.InputRequest) json.RawMessage {
	raw := append([]byte(`{"method":`), jsonrpc.AppendString(nil, q.Method)...)
	if form, ok := formOf(q.Method, q.Params); ok {
		raw = append(append(append(raw, `,"params":{"requestedSchema":`...), form...), '}')
	} else if q.Method == mcp.MethodElicit {
		raw = append(raw, `,"params":{"mode":"`+mcp.ElicitModeURL+`"}`...)
	}
	return append(raw, '}')
}

// checkAnswer says why an answer does not fit what was asked; request is as remembered has it.
func checkAnswer(request, answer json.RawMessage) error {
	if err := checkBare(answer); err != nil {
		return err
	}
	method, _ := jsonrpc.Member(request, "method")
	params, _ := jsonrpc.Member(request, "params")
	switch text(method) {
	case mcp.MethodElicit:
		return checkElicited(params, answer)
	case mcp.MethodCreateMessage:
		return checkSampled(answer)
	}
	return checkRoots(answer)
}

// checkElicited checks the answer to a form or a page. Only an accepted form has content; none counts as {}.
func checkElicited(params, answer json.RawMessage) error {
	action, _ := jsonrpc.Member(answer, "action")
	switch mcp.ElicitAction(text(action)) {
	case mcp.ElicitAccept:
	case mcp.ElicitDecline, mcp.ElicitCancel:
		return nil
	default:
		return errors.New("the action must be accept, decline or cancel")
	}
	raw, ok := formOf(mcp.MethodElicit, params)
	if !ok {
		return nil
	}
	form, err := schema.ParseForm(raw)
	if err != nil {
		return err
	}
	content, ok := jsonrpc.Member(answer, "content")
	if !ok || string(content) == "null" {
		content = noArguments
	}
	return form.Validate(content)
}

func checkSampled(answer json.RawMessage) error {
	role, _ := jsonrpc.Member(answer, "role")
	content, _ := jsonrpc.Member(answer, "content")
	if !jsonrpc.IsString(role) || !jsonrpc.IsObject(content) && !jsonrpc.IsArray(content) {
		return errors.New("the message of a model needs a role and content")
	}
	return nil
}

func checkRoots(answer json.RawMessage) error {
	roots, _ := jsonrpc.Member(answer, "roots")
	if !jsonrpc.IsArray(roots) {
		return errors.New("roots must be a list")
	}
	for root := range jsonrpc.Elements(roots) {
		if uri, _ := jsonrpc.Member(root, "uri"); !jsonrpc.IsString(uri) {
			return errors.New("each root needs a uri")
		}
	}
	return nil
}
