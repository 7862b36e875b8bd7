package apps_test

import (
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/rialto-mcp/rialto/apps"
)

// TestHostilePermissions reads what a server asks for and must not get: features that no page may ask for, and words that would
// end the attribute or open it to others.
func TestHostilePermissions(t *testing.T) {
	for in, want := range map[string]string{
		`{}`:                                "",
		`{"camera":{},"clipboardWrite":{}}`: "camera; clipboard-write",
		`{"camera":{"src":"*; usb *"}}`:     "camera",
		`{"usb":{},"display-capture":{},"fullscreen *; camera":{}}`: "",
		`{"camera":null,"geolocation":{}}`:                          "geolocation",
		`{"Camera":{},"MICROPHONE":{}}`:                             "",
	} {
		var p apps.Permissions
		if err := json.Unmarshal([]byte(in), &p); err != nil {
			t.Errorf("%s: %v", in, err)
		} else if got := p.Allow(); got != want {
			t.Errorf("%s became %q, want %q", in, got, want)
		}
	}
	for _, in := range []string{`{"camera":true}`, `{"camera":"*"}`, `{"microphone":[]}`} {
		var p apps.Permissions
		if err := json.Unmarshal([]byte(in), &p); err == nil {
			t.Errorf("%s was taken as %q", in, p.Allow())
		}
	}
}

// TestIsPage tells the one type of pages, in whatever way it is written, from all others.
func TestIsPage(t *testing.T) {
	for in, want := range map[string]bool{
		"text/html;profile=mcp-app":                 true,
		`TEXT/HTML; Profile="MCP-App"`:              true,
		"text/html; charset=utf-8; profile=mcp-app": true,
		"text/html":                                     false,
		"text/html;profile=mcp-app2":                    false,
		"text/html;profile=mcp-app;profile=x":           false,
		"text/html;profile=\"mcp-app x\"":               false,
		"text/html+skybridge":                           false,
		"application/xhtml+xml;profile=mcp-app":         false,
		"text/html;profile=mcp-app\r\nX: y":             false,
		"text/html,text/plain;profile=mcp-app":          false,
		"text/uri-list":                                 false,
		"":                                              false,
		"image/svg+xml;profile=mcp-app":                 false,
		"text/html ;\tprofile=mcp-app":                  true,
		"application/vnd.mcp-ui.remote-dom+javascript;": false,
	} {
		if got := apps.IsPage(in); got != want {
			t.Errorf("%q: %v, want %v", in, got, want)
		}
	}
}
