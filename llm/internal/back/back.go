// Package back holds what the packages of the vendors share when they read the shapes of an API back into MCP.
package back

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/llm"
	"github.com/rialto-mcp/rialto/mcp"
)

// Text is the string under a name; "" where there is none.
func Text(from []byte, name string) string {
	v, _ := jsonrpc.Member(from, name)
	said, _ := jsonrpc.Text(v)
	return said
}

// Valid refuses what is no JSON of the kind that is expected: '{' or '['.
func Valid(raw json.RawMessage, open byte, what string) error {
	switch {
	case !jsontext.Value(raw).IsValid():
		return fmt.Errorf("%s: it is no valid JSON", what)
	case open == '{' && !jsonrpc.IsObject(raw):
		return fmt.Errorf("%s: it is no JSON object", what)
	case open == '[' && !jsonrpc.IsArray(raw):
		return fmt.Errorf("%s: it is no JSON array", what)
	}
	return nil
}

// Arguments reads the arguments of a call, which may stand in a string. Nothing at all is no arguments.
func Arguments(raw json.RawMessage) (json.RawMessage, error) {
	if said, ok := jsonrpc.Text(raw); ok {
		raw = json.RawMessage(said)
	}
	text := strings.TrimSpace(string(raw))
	switch {
	case text == "" || text == "null":
		return json.RawMessage("{}"), nil
	case !jsonrpc.IsObject(raw) || !jsontext.Value(text).IsValid():
		return nil, errors.New("its arguments are no JSON object")
	}
	return json.RawMessage(text), nil
}

// Base64 reads bytes, leniently: the alphabet for addresses, line breaks and missing padding are understood.
func Base64(text string) ([]byte, bool) {
	text = strings.NewReplacer("\n", "", "\r", "", " ", "", "-", "+", "_", "/").Replace(text)
	data, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
	return data, err == nil
}

// DataURL reads an address that holds its bytes itself.
func DataURL(address string) (mimeType string, data []byte, ok bool) {
	if len(address) < 5 || !strings.EqualFold(address[:5], "data:") {
		return "", nil, false
	}
	head, body, found := strings.Cut(address[5:], ",")
	if !found {
		return "", nil, false
	}
	if kind, inBase64 := strings.CutSuffix(head, ";base64"); inBase64 {
		data, ok = Base64(body)
		return kind, data, ok
	}
	plain, err := url.PathUnescape(body)
	if head == "" {
		head = "text/plain"
	}
	return head, []byte(plain), err == nil
}

// Media is content of an address: the bytes where it holds them, a link where it leads elsewhere.
func Media(address, kind, name string) mcp.Content {
	if mimeType, data, ok := DataURL(address); ok {
		return llm.Media(mimeType, data, name, "").Content()
	}
	if strings.HasPrefix(address, "data:") {
		return mcp.Text("[" + kind + ", broken, not shown]")
	}
	if name == "" {
		name = kind
	}
	return &mcp.ResourceLink{URI: address, Name: name}
}

// Encoded is content of base64; a line where it is none.
func Encoded(mimeType, text, name string) mcp.Content {
	data, ok := Base64(text)
	if !ok {
		return mcp.Text("[" + mimeType + ", broken, not shown]")
	}
	return llm.Media(mimeType, data, name, "").Content()
}

// Part is the part that content holds in bytes; false for what is none.
func Part(c mcp.Content) (llm.Part, bool) {
	switch c := c.(type) {
	case *mcp.ImageContent:
		return llm.Media(c.MIMEType, c.Data, "", ""), true
	case *mcp.AudioContent:
		return llm.Media(c.MIMEType, c.Data, "", ""), true
	case *mcp.EmbeddedResource:
		return llm.Media(c.Resource.MIMEType, c.Resource.Blob, "", c.Resource.URI), c.Resource.Blob != nil
	}
	return llm.Part{}, false
}

// names are what MCP takes as a tool's name.
var names = llm.Profile{NameMax: 128, NameExtra: "-.", NameDigit: true}

// Tool makes a tool of the parts of a definition. input and output are nil where the definition has none. rest is what
// else it holds, an object, and goes into _meta under key; so does the name, where MCP does not take it.
func Tool(key, name, description string, input, output, rest json.RawMessage) (mcp.Tool, error) {
	if name == "" {
		return mcp.Tool{}, errors.New("it has no name")
	}
	t := mcp.Tool{Name: names.Name("", name), Description: description}
	if t.Name != name {
		rest = jsonrpc.With(nil, rest, "name", jsonrpc.AppendString(nil, name))
	}
	var err error
	if t.InputSchema, err = objectSchema(input); err != nil {
		return mcp.Tool{}, fmt.Errorf("its input schema: %w", err)
	}
	if output != nil && string(output) != "null" {
		if t.OutputSchema = output; !jsonrpc.IsObject(output) {
			return mcp.Tool{}, errors.New("its output schema is no object")
		}
	}
	for range jsonrpc.Fields(rest) {
		t.Meta = mcp.Meta(nil).Set(key, rest)
		break
	}
	return t, nil
}

// objectSchema is a schema for arguments: its root says that they are an object.
func objectSchema(raw json.RawMessage) (json.RawMessage, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	if !jsonrpc.IsObject(raw) {
		return nil, errors.New("it is no object")
	}
	kind, said := jsonrpc.Member(raw, "type")
	if !said {
		return jsonrpc.With(nil, raw, "type", []byte(`"object"`)), nil
	}
	if word, _ := jsonrpc.Text(kind); word != "object" {
		return nil, fmt.Errorf("its root is of type %.40s; arguments are always an object", kind)
	}
	return raw, nil
}
