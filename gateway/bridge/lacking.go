package bridge

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// lacking is what a client gets whose request a server has refused for capabilities that it lacks; nil for another error. One
// that can declare them gets the refusal as it is. One that cannot, since its handshake is over, or has declared them and the
// gateway has not passed them on, is told in words: in the result of a tool, for its model to read, or by an internal error.
func lacking(req *server.Request, to destination, fault *mcp.Error) (*server.RawResult, error) {
	if fault.Code != mcp.CodeMissingCapability {
		return nil, nil
	}
	lack, ok := fault.MissingCapabilityData()
	if !ok && req.CanDeclare() {
		return nil, nil
	}
	raw, _ := jsonrpc.Member(fault.Data, "requiredCapabilities")
	needs := fmt.Sprintf("server %q needs the capabilities %s of its client", to.Server, compact(raw))
	switch _, lacks := req.ClientCapabilities().Missing(lack); {
	case !ok:
		return inWords(req, fmt.Sprintf("server %q needs something that its client has not declared: %s", to.Server, fault.Message))
	case !req.CanBeAsked():
		return inWords(req, needs+"; "+inSession(req))
	case !lacks:
		return inWords(req, needs+"; it has declared them, but the gateway does not pass them on")
	case !req.CanDeclare():
		return inWords(req, needs+", which it has not declared in its handshake")
	}
	return nil, nil
}

// inSession says how a client of an older revision can be asked.
func inSession(req *server.Request) string {
	return fmt.Sprintf("a client of revision %s has them in a session alone, when its handshake is complete", req.ProtocolVersion())
}

// inWords refuses a request in the way that every client knows.
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
