package mcp

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rialto-mcp/rialto/jsonrpc"
)

// Implementation names a program at one end of a connection.
//
// Shape: {"name", "version", "title"?, "description"?, "websiteUrl"?, "icons"?}.
type Implementation struct {
	Name        string         `json:"name"`
	Title       string         `json:"title,omitzero"`
	Version     string         `json:"version"`
	Description string         `json:"description,omitzero"`
	WebsiteURL  string         `json:"websiteUrl,omitzero"`
	Icons       []Icon         `json:"icons,omitzero"`
	Extra       jsontext.Value `json:",embed"` // unknown members, kept
}

// DisplayName is the title, or the name where there is none.
func (i Implementation) DisplayName() string {
	if i.Title != "" {
		return i.Title
	}
	return i.Name
}

// Icon points to a picture. A client shows https and data URIs only, and fetches them without credentials.
type Icon struct {
	Src      string         `json:"src"`
	MIMEType string         `json:"mimeType,omitzero"`
	Sizes    []string       `json:"sizes,omitzero"` // "48x48", or "any" for a scalable picture
	Theme    string         `json:"theme,omitzero"` // "light" or "dark" background, "" for both
	Extra    jsontext.Value `json:",embed"`
}

// AppendJSON appends the wire form without reflection.
func (i Icon) AppendJSON(dst []byte) ([]byte, error) {
	o := newObject(dst)
	o.str("src", i.Src)
	o.optStr("mimeType", i.MIMEType)
	o.strs("sizes", i.Sizes)
	o.optStr("theme", i.Theme)
	return o.end(i.Extra)
}

// Role says who speaks in a message.
type Role string

// The two roles.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// Annotations are hints for whoever shows or selects content.
type Annotations struct {
	Audience     []Role         `json:"audience,omitzero"`
	Priority     *float64       `json:"priority,omitzero"`     // 0 (optional) to 1 (required)
	LastModified string         `json:"lastModified,omitzero"` // ISO 8601, kept as sent
	Extra        jsontext.Value `json:",embed"`
}

// AppendJSON appends the wire form without reflection.
func (a Annotations) AppendJSON(dst []byte) ([]byte, error) {
	o := newObject(dst)
	if a.Audience != nil {
		o.key("audience")
		o.dst = append(o.dst, '[')
		for i, role := range a.Audience {
			if i > 0 {
				o.dst = append(o.dst, ',')
			}
			o.dst = jsonrpc.AppendString(o.dst, string(role))
		}
		o.dst = append(o.dst, ']')
	}
	o.ptrFloat("priority", a.Priority)
	o.optStr("lastModified", a.LastModified)
	return o.end(a.Extra)
}
