package bridge

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// lacking says why a request cannot be served that a server has refused for capabilities which its client lacks. A client that can
// declare them gets the refusal as it is, and so for every other error: then it is "". One that cannot, since its handshake is
// over, or has declared them and the gateway has not passed them on, is told in words.
func lacking(req *server.Request, to destination, fault *mcp.Error) string {
	if fault.Code != mcp.CodeMissingCapability {
		return ""
	}
	lack, ok := fault.MissingCapabilityData()
	if !ok {
		if req.CanDeclare() {
			return ""
		}
		return fmt.Sprintf("server %q needs something that its client has not declared: %s", to.Server, fault.Message)
	}
	raw, _ := jsonrpc.Member(fault.Data, "requiredCapabilities")
	needs := fmt.Sprintf("server %q needs the capabilities %s of its client", to.Server, compact(raw))
	switch _, lacks := req.ClientCapabilities().Missing(lack); {
	case !req.CanBeAsked():
		return needs + "; " + inSession(req)
	case !lacks:
		return needs + "; it has declared them, but the gateway does not pass them on"
	case !req.CanDeclare():
		return needs + ", which it has not declared in its handshake"
	}
	return ""
}

// inSession says how a client of an older revision can be asked.
func inSession(req *server.Request) string {
	return fmt.Sprintf("a client of revision %s has them in a session alone, when its handshake is complete", req.ProtocolVersion())
}

// inWords refuses a request in the way that every client knows: in the result of a tool, for its model to read, or by an internal
// error.
func inWords(req *server.Request, why string) (*server.RawResult, error) {
	text := fmt.Sprintf("%s %q cannot be served: %s", req.Method(), req.Name(), why)
	if req.Method() != mcp.MethodCallTool {
		return nil, mcp.Errorf(mcp.CodeInternal, "%s", text)
	}
	result, err := json.Marshal(mcp.ErrorResult(text))
	return &server.RawResult{Result: result}, err
}

// compact leaves out white space.
func compact(raw json.RawMessage) json.RawMessage {
	var out bytes.Buffer
	if json.Compact(&out, raw) != nil {
		return raw
	}
	return out.Bytes()
}
