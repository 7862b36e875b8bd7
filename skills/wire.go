package skills

import (
	stdjson "encoding/json"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rialto-mcp/rialto/mcp"
)

// Identifier is the name of the extension among the capabilities.
const Identifier = "io.modelcontextprotocol/skills"

// The methods of the extension.
const (
	MethodList          = "skills/list"
	MethodGet           = "skills/get"
	MethodReadDirectory = "resources/directory/read" // where Settings.DirectoryRead says so
)

// Types of resources.
const (
	ManifestType  = "text/markdown"   // of a SKILL.md
	DirectoryType = "inode/directory" // of a folder, in results of resources/directory/read
)

// Settings are what a server declares under the Identifier.
type Settings struct {
	DirectoryRead bool           `json:"directoryRead,omitzero"` // resources/directory/read is served
	Extra         jsontext.Value `json:",embed"`
}

// Extension is what a server that serves skills puts into server.Options.Extensions. Clients need not declare it, and see by
// SettingsOf whether a server does.
func Extension() mcp.Extension {
	methods := []string{MethodList, MethodGet, MethodReadDirectory}
	return mcp.Extension{
		Identifier: Identifier, ServerOnly: true, Settings: stdjson.RawMessage(`{"directoryRead":true}`),
		Requests: methods, Cacheable: methods,
	}
}

// SettingsOf reads what a server declares, and whether it serves skills at all. Settings that cannot be read count as not
// declared.
func SettingsOf(c mcp.ServerCapabilities) (Settings, bool) {
	raw, ok := c.Extensions[Identifier]
	if !ok || jsontext.Value(raw).Kind() != '{' {
		return Settings{}, false
	}
	var s Settings
	if err := json.Unmarshal(raw, &s); err != nil {
		return Settings{}, false
	}
	return s, true
}

// ListResult answers skills/list. Its parameters are mcp.ListParams.
type ListResult struct {
	Skills     []Skill        `json:"skills"`
	NextCursor *mcp.Cursor    `json:"nextCursor,omitzero"`
	Meta       mcp.Meta       `json:"_meta,omitzero"`
	Extra      jsontext.Value `json:",embed"`
}

// GetParams are the parameters of skills/get.
type GetParams struct {
	URI   string         `json:"uri"` // of a SKILL.md
	Meta  mcp.Meta       `json:"_meta,omitzero"`
	Extra jsontext.Value `json:",embed"`
}

// GetResult answers skills/get.
type GetResult struct {
	Skill Skill          `json:"skill"`
	Meta  mcp.Meta       `json:"_meta,omitzero"`
	Extra jsontext.Value `json:",embed"`
}

// ReadDirectoryParams are the parameters of resources/directory/read. Its result is an mcp.ListResourcesResult of the
// entries of one folder, folders among them with DirectoryType.
type ReadDirectoryParams struct {
	URI    string         `json:"uri"` // of a folder, without a slash at the end
	Cursor *mcp.Cursor    `json:"cursor,omitzero"`
	Meta   mcp.Meta       `json:"_meta,omitzero"`
	Extra  jsontext.Value `json:",embed"`
}

// decode reads parameters; none count as an empty object.
func decode(params stdjson.RawMessage, into any) error {
	if params == nil {
		params = stdjson.RawMessage("{}")
	}
	if err := json.Unmarshal(params, into); err != nil {
		return mcp.InvalidParams("the parameters cannot be read: %v", err)
	}
	return nil
}

// unknownSkill answers a URI that is no skill's.
func unknownSkill(uri string) *mcp.Error {
	return mcp.InvalidParams("no skill is served at %.200s; skills/list tells which are", uri).WithData(map[string]string{"uri": uri})
}

func notDirectory(uri string) *mcp.Error {
	return mcp.InvalidParams("%.200s is no folder of a skill; folders are written without a slash at the end", uri).WithData(map[string]string{"uri": uri})
}

// fault names the skill that an error is about.
func fault(path string, err error) error { return fmt.Errorf("skill %q: %w", path, err) }
