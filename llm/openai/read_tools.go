package openai

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/llm"
	"github.com/rialto-mcp/rialto/llm/internal/back"
	"github.com/rialto-mcp/rialto/mcp"
)

// MetaDefinition is the member of a tool's _meta that holds what else its definition said: an object with "strict" and the
// like, "namespace" where the tool stands in one, and "name" where MCP does not take that name.
const MetaDefinition = "io.github.rialto-mcp/openai"

// ReadTools reads the member "tools" of a request, of Chat Completions or of Responses, so that functions written for these
// can be served over MCP. It reads the older member "functions" as well. The tools of a namespace have its name in front,
// with a dot between.
//
// It fails where the whole is no list; what is wrong with one definition is among [llm.Definitions].Skipped.
func ReadTools(tools json.RawMessage) (*llm.Definitions, error) {
	if err := back.Valid(tools, '[', "read the definitions of tools"); err != nil {
		return nil, err
	}
	out := &llm.Definitions{}
	readTools(out, tools, "")
	return out, nil
}

func readTools(out *llm.Definitions, tools []byte, namespace string) {
	for def := range jsonrpc.Elements(tools) {
		name, kind := back.Text(def, "name"), back.Text(def, "type")
		if kind == "namespace" && namespace == "" {
			inner, _ := jsonrpc.Member(def, "tools")
			readTools(out, inner, name)
			continue
		}
		t, err := readTool(def, namespace)
		if err == nil {
			out.Tools = append(out.Tools, t)
			continue
		}
		if function, ok := jsonrpc.Member(def, kind); ok && name == "" {
			name = back.Text(function, "name")
		}
		if name == "" {
			name = kind
		}
		out.Skipped = append(out.Skipped, llm.Skipped{Tool: name, Reason: err})
	}
}

func readTool(def json.RawMessage, namespace string) (mcp.Tool, error) {
	switch kind := back.Text(def, "type"); kind {
	case "function", "":
	case "custom":
		return mcp.Tool{}, errors.New("it takes a plain text; a tool of MCP takes an object")
	default:
		return mcp.Tool{}, fmt.Errorf("a tool of type %.80q is run by the API itself", kind)
	}
	if inner, ok := jsonrpc.Member(def, "function"); ok && jsonrpc.IsObject(inner) {
		def = inner
	}
	input, _ := jsonrpc.Member(def, "parameters")
	output, _ := jsonrpc.Member(def, "output_schema")
	rest := jsonrpc.Without(def, "type", "name", "description", "parameters", "output_schema")
	name := back.Text(def, "name")
	if namespace != "" {
		name = namespace + "." + name
		rest = jsonrpc.With(nil, rest, "namespace", jsonrpc.AppendString(nil, namespace))
	}
	return back.Tool(MetaDefinition, name, back.Text(def, "description"), input, output, rest)
}
