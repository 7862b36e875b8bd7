// Package bare is the limit that SDKs are measured against: the least code that answers the bench's requests with
// net/http and a JSON library. It reads the whole body, decodes it once into a struct, encodes a struct, and checks
// nothing. It is no MCP server.
package bare

import (
	"encoding/json"
	"fmt"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rialto-mcp/rialto/bench/internal/echo"
)

type request struct {
	ID     jsontext.Value `json:"id"`
	Method string         `json:"method"`
	Params struct {
		Name      string     `json:"name"`
		Arguments echo.Input `json:"arguments"`
		Meta      struct {
			Version string `json:"io.modelcontextprotocol/protocolVersion"`
		} `json:"_meta"`
	} `json:"params"`
}

type response struct {
	JSONRPC string         `json:"jsonrpc"`
	ID      jsontext.Value `json:"id"`
	Result  callResult     `json:"result"`
}

type callResult struct {
	Content    []block `json:"content"`
	ResultType string  `json:"resultType,omitempty"`
}

type block struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// results are the answers that never change, by method; a modern answer carries members that a legacy one must not.
type results struct{ legacy, modern map[string]jsontext.Value }

func newResults() results {
	const info = `{"name":"bare","version":"1.0.0"}`
	const stamp = `"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":` + info + `}`
	const cache = `,"ttlMs":0,"cacheScope":"private"`
	tools := toolList()
	return results{
		legacy: map[string]jsontext.Value{
			"initialize": jsontext.Value(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":` + info + `}`),
			"tools/list": jsontext.Value(`{"tools":` + tools + `}`),
			"ping":       jsontext.Value(`{}`),
		},
		modern: map[string]jsontext.Value{
			"server/discover": jsontext.Value(`{"supportedVersions":["2026-07-28","2025-11-25"],"capabilities":{"tools":{}},` + stamp + cache + `}`),
			"tools/list":      jsontext.Value(`{"tools":` + tools + `,` + stamp + cache + `}`),
		},
	}
}

func toolList() string {
	type tool struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		InputSchema json.RawMessage `json:"inputSchema"`
	}
	schema := json.RawMessage(`{"type":"object","properties":{"text":{"type":"string","description":"the text to send back"}},` +
		`"required":["text"],"additionalProperties":false}`)
	var tools []tool
	for _, name := range echo.Names() {
		tools = append(tools, tool{name, echo.Description, schema})
	}
	encoded, err := json.Marshal(tools)
	if err != nil {
		panic(fmt.Sprintf("encode the tool list: %v", err)) // constants only
	}
	return string(encoded)
}

// answer returns the response to one message, and nothing for a notification.
func (r *results) answer(body []byte) ([]byte, error) {
	var in request
	if err := jsonv2.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	return r.reply(&in)
}

func (r *results) reply(in *request) ([]byte, error) {
	modern := in.Params.Meta.Version != ""
	switch {
	case in.ID == nil:
		return nil, nil
	case in.Method == "tools/call":
		out := response{JSONRPC: "2.0", ID: in.ID}
		out.Result.Content = []block{{Type: "text", Text: in.Params.Arguments.Text}}
		if modern {
			out.Result.ResultType = "complete"
		}
		return jsonv2.Marshal(&out)
	case modern && r.modern[in.Method] != nil:
		return splice(in.ID, r.modern[in.Method]), nil
	case !modern && r.legacy[in.Method] != nil:
		return splice(in.ID, r.legacy[in.Method]), nil
	}
	return nil, fmt.Errorf("the bare server does not know the method %q", in.Method)
}

// splice writes a response around a result that is encoded already.
func splice(id, result []byte) []byte {
	const head, middle = `{"jsonrpc":"2.0","id":`, `,"result":`
	out := make([]byte, 0, len(head)+len(id)+len(middle)+len(result)+1)
	out = append(out, head...)
	out = append(out, id...)
	out = append(out, middle...)
	out = append(out, result...)
	return append(out, '}')
}
