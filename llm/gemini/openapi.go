package gemini

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/llm/internal/pieces"
)

// maxDepth bounds how deep a schema nests.
const maxDepth = 64

// counted are the keywords whose numbers may stand in strings, since the API has them as 64-bit integers.
var counted = []string{"minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"}

// fromOpenAPI turns a schema of the API's own kind into JSON Schema of the same meaning: types in capitals, nullable,
// numbers in strings, an example, and an order of properties.
func fromOpenAPI(raw json.RawMessage, depth int) (json.RawMessage, error) {
	if depth > maxDepth {
		return nil, errors.New("the schema nests too deep")
	}
	if !jsonrpc.IsObject(raw) {
		return nil, errors.New("a schema is no object")
	}
	out := (&pieces.Room{Max: -1}).New()
	kind := strings.ToLower(text(raw, "type"))
	for name, v := range jsonrpc.Members(raw) {
		said, isText := jsonrpc.Text(v)
		var err error
		switch {
		case name == "type":
			if kind != "type_unspecified" {
				out.SetText(name, kind)
			}
		case name == "nullable" || name == "propertyOrdering" || name == "format" && said == "enum":
		case name == "example":
			out.Set("examples", json.RawMessage("["+string(v)+"]"))
		case name == "enum" && (kind == "integer" || kind == "number"):
			out.Set(name, numbers(v))
		case slices.Contains(counted, name) && isText:
			if _, err := strconv.ParseInt(said, 10, 64); err == nil {
				out.Set(name, json.RawMessage(said))
			}
		case name == "items":
			if v, err = fromOpenAPI(v, depth+1); err == nil {
				out.Set(name, v)
			}
		case name == "properties":
			err = properties(out.Object(name), v, raw, depth)
		case name == "anyOf":
			list := out.List(name)
			for one := range jsonrpc.Elements(v) {
				if one, err = fromOpenAPI(one, depth+1); err != nil {
					break
				}
				list.Append(one)
			}
		default:
			out.Set(name, v)
		}
		if err != nil {
			return nil, err
		}
	}
	if nullable, _ := jsonrpc.Member(raw, "nullable"); string(nullable) == "true" {
		orNull(out, kind)
	}
	return out.JSON(), nil
}

// properties turns the schemas of properties, in the order that the schema wants.
func properties(out *pieces.Object, all, schema json.RawMessage, depth int) error {
	var order []string
	wanted, _ := jsonrpc.Member(schema, "propertyOrdering")
	for name := range jsonrpc.Elements(wanted) {
		said, _ := jsonrpc.Text(name)
		order = append(order, said)
	}
	for name := range jsonrpc.Members(all) {
		order = append(order, name)
	}
	for _, name := range order {
		v, ok := jsonrpc.Member(all, name)
		if !ok || out.Has(name) {
			continue
		}
		made, err := fromOpenAPI(v, depth+1)
		if err != nil {
			return err
		}
		out.Set(name, made)
	}
	return nil
}

// numbers turns values that stand in strings into those they stand for.
func numbers(list json.RawMessage) json.RawMessage {
	out := (&pieces.Room{Max: -1}).NewList()
	for v := range jsonrpc.Elements(list) {
		said, isText := jsonrpc.Text(v)
		if _, err := strconv.ParseFloat(said, 64); isText && err == nil && json.Valid([]byte(said)) {
			v = json.RawMessage(said)
		}
		out.Append(v)
	}
	return out.JSON()
}

// orNull lets a schema accept null too.
func orNull(o *pieces.Object, kind string) {
	if o.Has("anyOf") {
		o.List("anyOf").Append(json.RawMessage(`{"type":"null"}`))
	}
	if kind != "null" && o.Has("type") {
		o.Set("type", json.RawMessage(`["`+kind+`","null"]`))
	}
	if o.Has("enum") {
		o.List("enum").Append(json.RawMessage("null"))
	}
}

func text(from []byte, name string) string {
	v, _ := jsonrpc.Member(from, name)
	said, _ := jsonrpc.Text(v)
	return said
}
