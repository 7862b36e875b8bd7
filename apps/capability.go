package apps

import (
	"encoding/json"
	"mime"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/rialto-mcp/rialto/mcp"
)

// Names of the extension.
const (
	Identifier = "io.modelcontextprotocol/ui" // among the capabilities
	MIMEType   = "text/html;profile=mcp-app"  // of a page
	Scheme     = "ui://"                      // of a page's URI

	metaKey    = "ui"             // in `_meta`
	oldMetaKey = "ui/resourceUri" // the form before the extension was settled; read, not written
)

// Settings are what a host declares under the Identifier.
type Settings struct {
	MIMETypes []string `json:"mimeTypes"` // of the pages it shows
}

// Host is what a client that shows pages puts into client.Options.Extensions.
func Host() mcp.Extension {
	return mcp.Extension{Identifier: Identifier, Settings: json.RawMessage(`{"mimeTypes":["` + MIMEType + `"]}`)}
}

// Extension is what a server that has pages puts into server.Options.Extensions. The extension does not ask for it; hosts can
// tell by it without looking at the tools.
func Extension() mcp.Extension { return mcp.Extension{Identifier: Identifier} }

// Supported tells whether a client shows pages of MIMEType. Within a handler ask it about Request.ClientCapabilities: a tool
// answers in words in any case, and may leave out what only its page needs.
func Supported(c mcp.ClientCapabilities) bool {
	raw, ok := c.Extensions[Identifier]
	if !ok {
		return false
	}
	var s Settings
	return jsonv2.Unmarshal(raw, &s) == nil && slices.ContainsFunc(s.MIMETypes, IsPage)
}

// IsPage tells whether a media type is MIMEType, in whatever way it is written.
func IsPage(mediaType string) bool {
	kind, params, err := mime.ParseMediaType(mediaType)
	return err == nil && kind == "text/html" && strings.EqualFold(params["profile"], "mcp-app")
}
