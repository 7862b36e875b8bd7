package mcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Extension adds vocabulary to an era: a plain value without behaviour, so that packages of this module, users and the
// gateway build it alike. It takes effect when a server or client is built with it. Treat it as read-only after that.
type Extension struct {
	// Identifier is the key under capabilities.extensions, such as "io.modelcontextprotocol/tasks".
	Identifier string

	// ServerOnly says that the server's declaration alone puts the extension into force: requests need not declare it, and
	// clients that enable it do not.
	ServerOnly bool

	// Settings is the JSON object this side declares under the identifier. Nil means {}.
	Settings json.RawMessage

	// Requests are the methods a client may send to a server that has the extension.
	Requests []string

	// Notifications are the methods a server may send to a client that has the extension.
	Notifications []string

	// Cacheable are those of Requests whose results carry cache hints, as lists and reads of the core do.
	Cacheable []string

	// ResultTypes are the values of "resultType" the extension adds to those of the core.
	ResultTypes []string

	// FilterMembers are the members the extension adds to the filter of subscriptions/listen.
	FilterMembers []string

	// NameParam maps a method of Requests to the parameter whose value the header Mcp-Name repeats. Methods that are
	// not in it have no Mcp-Name.
	NameParam map[string]string

	// Acks are those of Requests whose answer only says that the request has arrived: their results are sent without
	// members, whatever a handler returns.
	Acks []string
}

// SettingsJSON answers the settings as they are declared, {} for nil.
func (e Extension) SettingsJSON() json.RawMessage {
	if e.Settings == nil {
		return json.RawMessage("{}")
	}
	return e.Settings
}

// Check says why an extension cannot be enabled.
func (e Extension) Check() error {
	if err := CheckExtensionIdentifier(e.Identifier); err != nil {
		return err
	}
	if settings := e.SettingsJSON(); !isWholeObject(settings) {
		return fmt.Errorf("extension %s: the settings must be a JSON object, got %.60s", e.Identifier, settings)
	}
	for _, method := range e.Cacheable {
		if !slices.Contains(e.Requests, method) {
			return fmt.Errorf("extension %s: method %q is to be cacheable but is no request of the extension", e.Identifier, method)
		}
	}
	for method, param := range e.NameParam {
		if param == "" {
			return fmt.Errorf("extension %s: method %q names no parameter for Mcp-Name", e.Identifier, method)
		}
		if !slices.Contains(e.Requests, method) {
			return fmt.Errorf("extension %s: method %q has a name parameter but is no request of the extension", e.Identifier, method)
		}
	}
	for _, method := range e.Acks {
		if !slices.Contains(e.Requests, method) {
			return fmt.Errorf("extension %s: method %q is to be acknowledged but is no request of the extension", e.Identifier, method)
		}
	}
	return nil
}

// CheckExtensionIdentifier says why an identifier breaks the grammar: that of `_meta` keys, with a prefix and a name.
func CheckExtensionIdentifier(id string) error {
	prefix, name, ok := strings.Cut(id, "/")
	if !ok || prefix == "" || name == "" {
		return fmt.Errorf("extension identifier %q needs a prefix, one slash and a name, such as com.example/feature", id)
	}
	if err := CheckMetaKey(id); err != nil {
		return fmt.Errorf("extension identifier: %w", err)
	}
	return nil
}
