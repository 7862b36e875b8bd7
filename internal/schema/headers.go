package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/rialto-mcp/rialto/jsonrpc"
)

// HeaderParam is one x-mcp-header declaration of an input schema: the argument at Path is mirrored in the header
// Mcp-Param-Name. Spec 2026-07-28, basic/transports, "Custom Headers".
type HeaderParam struct {
	// Path names the properties from the root down, at least one.
	Path []string
	// Name is the part of the header name after Mcp-Param-, as declared.
	Name string
	// Type is "string", "integer" or "boolean".
	Type string
}

// In finds the argument of a declaration among the arguments of a call, an object; false when it is not there.
func (p HeaderParam) In(args json.RawMessage) (json.RawMessage, bool) {
	for _, name := range p.Path {
		if !jsonrpc.IsObject(args) {
			return nil, false
		}
		next, ok := jsonrpc.Member(args, name)
		if !ok {
			return nil, false
		}
		args = next
	}
	return args, len(args) > 0
}

const headerKeyword = "x-mcp-header"

// HeaderParams reads the x-mcp-header declarations of an input schema, sorted by path. Nil when there are none.
//
// One wrong declaration makes the whole schema wrong: the error says where it stands and what is wrong with it. A
// declaration must be a non-empty RFC 9110 token, unique without regard to case, on a property that is one string,
// integer or boolean and reached through properties alone.
func HeaderParams(raw json.RawMessage) ([]HeaderParam, error) {
	if !bytes.Contains(raw, []byte("header")) && !bytes.Contains(raw, []byte(`\`)) {
		return nil, nil // an escape could spell the keyword
	}
	doc, err := parse(raw)
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	h := headerSearch{byName: map[string]string{}}
	if root, ok := doc.(map[string]any); ok {
		if _, found := root[headerKeyword]; found {
			return nil, fmt.Errorf("%s stands at the root of the schema; it belongs on a property", headerKeyword)
		}
	}
	if err := h.walk(doc, nil, "", true); err != nil {
		return nil, err
	}
	return h.params, nil
}

type headerSearch struct {
	params []HeaderParam
	byName map[string]string // lower-case name to the pointer that declares it
}

// walk visits schema. path is the way to the value through properties; direct is false once anything else was passed.
func (h *headerSearch) walk(schema any, path []string, pointer string, direct bool) error {
	if object, ok := schema.(map[string]any); ok && pointer != "" {
		if name, found := object[headerKeyword]; found {
			if err := h.declare(object, name, path, pointer, direct); err != nil {
				return err
			}
		}
	}
	return eachSubschema(schema, func(sub any, step ...string) error {
		onward := direct && step[0] == "properties"
		next := path
		if onward {
			next = append(append([]string(nil), path...), step[1])
		}
		return h.walk(sub, next, pointer+jsonPointer(step), onward)
	})
}

func (h *headerSearch) declare(object map[string]any, declared any, path []string, pointer string, direct bool) error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("%s at %s %s", headerKeyword, excerpt(pointer, maxPath), fmt.Sprintf(format, args...))
	}
	name, ok := declared.(string)
	if !ok || name == "" {
		return wrong("must be a non-empty string")
	}
	if !isToken(name) {
		return wrong("is %q, which is no header name; use letters, digits and -", excerpt(name, maxQuote))
	}
	if !direct {
		return wrong("is not reached through properties alone")
	}
	kind, ok := object["type"].(string)
	if !ok || kind != "string" && kind != "integer" && kind != "boolean" {
		return wrong("needs the type string, integer or boolean")
	}
	lower := strings.ToLower(name)
	if other, taken := h.byName[lower]; taken {
		return wrong("names %q, as %s does already", name, excerpt(other, maxPath))
	}
	h.byName[lower] = pointer
	h.params = append(h.params, HeaderParam{Path: path, Name: name, Type: kind})
	return nil
}

// isToken follows RFC 9110 section 5.6.2.
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !('0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0) {
			return false
		}
	}
	return s != ""
}
