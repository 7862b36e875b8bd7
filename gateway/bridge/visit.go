package bridge

import (
	"encoding/json"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// visitKey names the question of a visit.
const visitKey = "visit"

// Visit asks the client of a request to send its user to a page, for a [Step] that needs that before it goes on: the answer of the
// step, in either era. The client's next request, or the step's next run, finds what the user has said by [Visited], and is sent
// to its server as if nothing had been asked. id stands for the page where the client's revision has a place for that; it must
// not be guessable. A client that cannot be asked gets an error with the message and the address.
func Visit(req *server.Request, message, page, id string) (*server.RawResult, error) {
	params := []byte(`{"mode":"url"`)
	params = jsonrpc.AppendString(append(params, `,"message":`...), message)
	params = jsonrpc.AppendString(append(params, `,"url":`...), page)
	if req.AsksInPlace() {
		params = jsonrpc.AppendString(append(params, `,"elicitationId":`...), id)
	}
	params = append(params, '}')
	if !req.CanBeAsked() || answerable(req.ClientCapabilities(), mcp.MethodElicit, params) != nil {
		return nil, mcp.Errorf(mcp.CodeInternal, "%s Open this page in a browser, and call again then: %s", message, page)
	}
	questions := append([]byte(`{"`+visitKey+`":{"method":"elicitation/create","params":`), params...)
	return &server.RawResult{InputRequests: append(questions, "}}"...), RequestState: jsonrpc.AppendString(nil, visitState)}, nil
}

// Visited is what the user has said to a [Visit]: accept, decline or cancel. It is "" where this request does not come from one.
func Visited(req *server.Request) string {
	if _, ours := ownState(req, visitState); !ours {
		return ""
	}
	responses, _ := req.Retry()
	answer, _ := jsonrpc.Member(responses, visitKey)
	return member(json.RawMessage(answer), "action")
}

// outlived tells whether a client comes back from a page for a tool which is not there any more: it stood for the visit itself.
func outlived(req *server.Request) bool {
	return req.Method() == mcp.MethodCallTool && Visited(req) == string(mcp.ElicitAccept)
}

func doneWith() *server.RawResult {
	return &server.RawResult{Result: json.RawMessage(`{"content":[{"type":"text","text":"The user has been to the page. The tool that was called is done with; list the tools again."}]}`)}
}
