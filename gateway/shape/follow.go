package shape

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/rialto-mcp/rialto/jsonrpc"
)

// follow tells whether a keyword of a schema about the arguments can stay as it is, though arguments are not shown as they are.
func (e Edit) follow(key string, value json.RawMessage) error {
	switch key {
	case "propertyNames":
		if e.some(func(own string, a Argument) bool { return a.hidden() || a.shown(own) != own }) {
			return errors.New(`its schema has rules for the names of arguments ("propertyNames")`)
		}
	case "patternProperties":
		for pattern := range jsonrpc.Members(value) {
			by, err := regexp.Compile(pattern)
			if e.some(func(own string, a Argument) bool {
				return (a.hidden() || a.shown(own) != own) && (err != nil || by.MatchString(own) || by.MatchString(a.shown(own)))
			}) {
				return fmt.Errorf("its schema has rules for the names of arguments like %q", pattern)
			}
		}
	case "minProperties", "maxProperties":
		if e.some(func(_ string, a Argument) bool { return a.provided() }) {
			return fmt.Errorf("its schema counts the arguments (%q), and some are sent by the gateway", key)
		}
	case "const", "enum":
		if e.some(changes) {
			return fmt.Errorf("its schema says what the arguments are all together (%q)", key)
		}
	case "$ref", "$dynamicRef", "$recursiveRef":
		if e.some(changes) {
			return fmt.Errorf("its schema has rules about the arguments in another place (%q), which are not followed there", key)
		}
	}
	return nil
}

// some tells whether something is so of one of the arguments.
func (e Edit) some(is func(own string, a Argument) bool) bool {
	for own, a := range e.Arguments {
		if is(own, a) {
			return true
		}
	}
	return false
}

// provided tells whether the gateway sends the argument where the client does not.
func (a Argument) provided() bool { return a.Value != nil || a.Default != nil }

// changes tells whether rules about the argument are others for clients than for the server.
func changes(own string, a Argument) bool { return a.hidden() || a.provided() || a.shown(own) != own }

const intoProperties = "#/properties/"

// references follows the names in references to definitions of arguments, which generators of schemas write for those that
// look alike.
func (e Edit) references(schema json.RawMessage) (json.RawMessage, error) {
	if !strings.Contains(string(schema), intoProperties) {
		return schema, nil
	}
	var failed error
	var walk func(raw []byte) []byte
	walk = func(raw []byte) []byte {
		switch {
		case jsonrpc.IsArray(raw):
			return list(raw, walk)
		case !jsonrpc.IsObject(raw):
			return raw
		}
		return members(raw, func(f jsonrpc.Field) ([]byte, []byte, bool) {
			target, isText := jsonrpc.Text(f.Value)
			rest, into := strings.CutPrefix(target, intoProperties)
			if !f.Is("$ref") || !isText || !into {
				return f.Name, walk(f.Value), true
			}
			step, tail, deeper := strings.Cut(rest, "/")
			own := pointed(step)
			a := e.Arguments[own]
			switch {
			case a.hidden():
				failed = errors.Join(failed, follows(own))
			case a.Rename != "":
				target = intoProperties + url.PathEscape(strings.NewReplacer("~", "~0", "/", "~1").Replace(a.Rename))
				if deeper {
					target += "/" + tail
				}
				return f.Name, jsonrpc.AppendString(nil, target), true
			}
			return f.Name, f.Value, true
		})
	}
	return walk(schema), failed
}

// pointed reads one step of a JSON pointer in an address. RFC 6901, sections 4 and 6.
func pointed(step string) string {
	if plain, err := url.PathUnescape(step); err == nil {
		step = plain
	}
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
}
