package legacy

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// withoutStamps takes the members off a result that only the modern era has, for handlers and relays that bring them all
// the same: resultType, the cache members of a list, and serverInfo. A result without any comes back as it is.
func withoutStamps(row *era.Row, result json.RawMessage) json.RawMessage {
	if !stamped(row, result) {
		return result
	}
	o := era.OpenObject(make([]byte, 0, len(result)))
	for m := range jsonrpc.Fields(result) {
		switch {
		case isStamp(row, m):
		case m.Is("_meta") && namesServer(m):
			if meta := jsonrpc.Without(m.Value, mcp.MetaServerInfo); len(jsonrpc.AppendRaw(nil, meta)) > len("{}") {
				o.Resume(jsonrpc.AppendRaw(o.KeyOf(m), meta))
			}
		default:
			o.Keep(m)
		}
	}
	return o.Close()
}

func stamped(row *era.Row, result json.RawMessage) bool {
	for m := range jsonrpc.Fields(result) {
		if isStamp(row, m) || m.Is("_meta") && namesServer(m) {
			return true
		}
	}
	return false
}

func isStamp(row *era.Row, m jsonrpc.Field) bool {
	return m.Is("resultType") || row.Cacheable && (m.Is("ttlMs") || m.Is("cacheScope"))
}

func namesServer(meta jsonrpc.Field) bool {
	_, ok := jsonrpc.Member(meta.Value, mcp.MetaServerInfo)
	return ok
}

// Legacy revisions want structured content, and the root of an output schema, to be objects. Where a tool's natural
// output is something else, both are wrapped alike as {"result": natural}.

// appendToolResult appends the result of a tool call, with its structured content wrapped when it is no object or when
// the schema that was advertised for it has been wrapped.
func appendToolResult(dst []byte, result json.RawMessage, wrapped bool) []byte {
	content, ok := jsonrpc.Member(result, "structuredContent")
	if !ok || jsonrpc.IsObject(content) && !wrapped {
		return jsonrpc.AppendRaw(dst, result)
	}
	o := era.OpenObject(dst)
	for m := range jsonrpc.Fields(result) {
		if !m.Is("structuredContent") {
			o.Keep(m)
			continue
		}
		inner := era.OpenObject(o.Key("structuredContent"))
		inner.Put("result", m.Value)
		o.Resume(inner.Close())
	}
	return o.Close()
}

// appendTools appends the result of tools/list, with the output schemas wrapped whose root is no object.
func appendTools(dst []byte, result json.RawMessage) []byte {
	return eachOf("tools", dst, result, appendTool)
}

// eachOf appends the result of a list, with each entry edited.
func eachOf(list string, dst []byte, result json.RawMessage, edit func(dst, entry []byte) []byte) []byte {
	o := era.OpenObject(dst)
	for m := range jsonrpc.Fields(result) {
		if !m.Is(list) || !jsonrpc.IsArray(m.Value) {
			o.Keep(m)
			continue
		}
		entries := append(o.Key(list), '[')
		start := len(entries)
		for entry := range jsonrpc.Elements(m.Value) {
			if len(entries) > start {
				entries = append(entries, ',')
			}
			entries = edit(entries, entry)
		}
		o.Resume(append(entries, ']'))
	}
	return o.Close()
}

func appendTool(dst, tool []byte) []byte {
	schema, ok := jsonrpc.Member(tool, "outputSchema")
	if !ok || rootIsObject(schema) {
		return jsonrpc.AppendRaw(dst, tool)
	}
	o := era.OpenObject(dst)
	for m := range jsonrpc.Fields(tool) {
		if !m.Is("outputSchema") {
			o.Keep(m)
			continue
		}
		o.Resume(appendWrapped(o.Key("outputSchema"), m.Value))
	}
	return o.Close()
}

func rootIsObject(schema []byte) bool {
	kind, ok := textOf(schema, "type")
	return ok && kind == "object"
}

func textOf(obj []byte, name string) (string, bool) {
	raw, ok := jsonrpc.Member(obj, name)
	if !ok {
		return "", false
	}
	return jsonrpc.Text(raw)
}

// appendWrapped appends {"type":"object","properties":{"result":<natural>},"required":["result"]}, with the dialect of
// the natural schema and with its pointers moved to where they point now.
func appendWrapped(dst, natural []byte) []byte {
	o := era.OpenObject(dst)
	dialect, _ := jsonrpc.Member(natural, "$schema")
	if jsonrpc.IsString(dialect) {
		o.Put("$schema", dialect)
	}
	o.Put("type", []byte(`"object"`))
	inner := era.OpenObject(o.Key("properties"))
	if hasOwnBase(natural) { // its pointers start at its own root wherever it stands
		inner.Put("result", natural)
	} else {
		inner.Resume(moverOf(natural, dialect).value(inner.Key("result"), natural))
	}
	o.Resume(inner.Close())
	o.Put("required", []byte(`["result"]`))
	return o.Close()
}

// hasOwnBase tells whether a schema has an $id that is more than a fragment.
func hasOwnBase(schema []byte) bool {
	id, ok := textOf(schema, "$id")
	return ok && !strings.HasPrefix(id, "#")
}

// moved is the place of the natural schema in the wrapper.
const moved = "/properties/result"

// mover rewrites the pointers of one schema that are relative to its document.
type mover struct {
	recursive bool // $recursiveRef "#" means the root: draft 2019-09 without an anchor
}

func moverOf(root, dialect []byte) mover {
	anchor, _ := jsonrpc.Member(root, "$recursiveAnchor")
	return mover{recursive: bytes.Contains(dialect, []byte("2019-09")) && string(anchor) != "true"}
}

// value appends a value in the place of a schema or a list of schemas; others pass.
func (v mover) value(dst, raw []byte) []byte {
	switch {
	case jsonrpc.IsArray(raw):
		dst = append(dst, '[')
		start := len(dst)
		for element := range jsonrpc.Elements(raw) {
			if len(dst) > start {
				dst = append(dst, ',')
			}
			dst = v.value(dst, element)
		}
		return append(dst, ']')
	case jsonrpc.IsObject(raw):
		return v.schema(dst, raw)
	}
	return jsonrpc.AppendRaw(dst, raw)
}

const rootRef = `{"$ref":"#` + moved + `"}`

// schema appends a schema object. A subschema with a base of its own is left alone.
func (v mover) schema(dst, raw []byte) []byte {
	if hasOwnBase(raw) {
		return jsonrpc.AppendRaw(dst, raw)
	}
	var recursion, beside bool // beside: $recursiveRef stands next to a $ref, so its successor goes into allOf
	if target, ok := textOf(raw, "$recursiveRef"); ok && target == "#" && v.recursive {
		_, beside = jsonrpc.Member(raw, "$ref")
		recursion = true
	}
	o := era.OpenObject(dst)
	for m := range jsonrpc.Fields(raw) {
		name, _ := jsonrpc.Text(m.Name)
		switch name {
		case "const", "enum", "default", "examples": // data, whatever it looks like
			o.Keep(m)
		case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies":
			o.Resume(v.named(o.KeyOf(m), m.Value))
		case "$ref", "$dynamicRef":
			o.Resume(appendPointer(o.KeyOf(m), m.Value))
		case "$recursiveRef":
			switch {
			case !recursion:
				o.Keep(m)
			case !beside:
				o.Put("$ref", []byte(`"#`+moved+`"`))
			}
		case "allOf":
			list := v.value(o.KeyOf(m), m.Value)
			if recursion && beside && jsonrpc.IsArray(m.Value) {
				list, beside = addElement(list, rootRef), false
			}
			o.Resume(list)
		default:
			o.Resume(v.value(o.KeyOf(m), m.Value))
		}
	}
	if recursion && beside {
		o.Put("allOf", []byte("["+rootRef+"]"))
	}
	return o.Close()
}

// named appends an object whose member names are no keywords, with schemas (or lists of names) behind them.
func (v mover) named(dst, raw []byte) []byte {
	if !jsonrpc.IsObject(raw) {
		return jsonrpc.AppendRaw(dst, raw)
	}
	o := era.OpenObject(dst)
	for m := range jsonrpc.Fields(raw) {
		o.Resume(v.value(o.KeyOf(m), m.Value))
	}
	return o.Close()
}

// addElement adds an element to the array that dst ends with.
func addElement(dst []byte, element string) []byte {
	dst = dst[:len(dst)-1]
	if dst[len(dst)-1] != '[' {
		dst = append(dst, ',')
	}
	return append(append(dst, element...), ']')
}

// appendPointer appends a reference: # and #/x are moved with their document, everything else stays.
func appendPointer(dst, raw []byte) []byte {
	target, ok := jsonrpc.Text(raw)
	if !ok || target != "#" && !strings.HasPrefix(target, "#/") {
		return jsonrpc.AppendRaw(dst, raw)
	}
	return jsonrpc.AppendString(dst, "#"+moved+target[1:])
}
