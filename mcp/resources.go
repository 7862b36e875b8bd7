package mcp

import (
	stdjson "encoding/json"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Resource is one entry of resources/list.
type Resource struct {
	URI         string         `json:"uri"`
	Name        string         `json:"name"`
	Title       string         `json:"title,omitzero"`
	Description string         `json:"description,omitzero"`
	MIMEType    string         `json:"mimeType,omitzero"`
	Annotations *Annotations   `json:"annotations,omitzero"`
	Size        *int64         `json:"size,omitzero"` // bytes before any encoding
	Icons       []Icon         `json:"icons,omitzero"`
	Meta        Meta           `json:"_meta,omitzero"`
	Extra       jsontext.Value `json:",embed"`
}

// AppendJSON appends the wire form without reflection.
func (r Resource) AppendJSON(dst []byte) ([]byte, error) {
	o := newObject(dst)
	r.members(&o)
	return o.end(r.Extra)
}

func (r *Resource) members(o *object) {
	o.str("uri", r.URI)
	o.str("name", r.Name)
	o.optStr("title", r.Title)
	o.optStr("description", r.Description)
	o.optStr("mimeType", r.MIMEType)
	value(o, "annotations", r.Annotations)
	o.ptrInt("size", r.Size)
	optList(o, "icons", r.Icons)
	o.raw("_meta", r.Meta)
}

// ResourceTemplate is one entry of resources/templates/list.
type ResourceTemplate struct {
	URITemplate string         `json:"uriTemplate"` // RFC 6570
	Name        string         `json:"name"`
	Title       string         `json:"title,omitzero"`
	Description string         `json:"description,omitzero"`
	MIMEType    string         `json:"mimeType,omitzero"` // of every resource that matches, else absent
	Annotations *Annotations   `json:"annotations,omitzero"`
	Icons       []Icon         `json:"icons,omitzero"`
	Meta        Meta           `json:"_meta,omitzero"`
	Extra       jsontext.Value `json:",embed"`
}

// AppendJSON appends the wire form without reflection.
func (t ResourceTemplate) AppendJSON(dst []byte) ([]byte, error) {
	o := newObject(dst)
	o.str("uriTemplate", t.URITemplate)
	o.str("name", t.Name)
	o.optStr("title", t.Title)
	o.optStr("description", t.Description)
	o.optStr("mimeType", t.MIMEType)
	value(&o, "annotations", t.Annotations)
	optList(&o, "icons", t.Icons)
	o.raw("_meta", t.Meta)
	return o.end(t.Extra)
}

// ListResourcesResult answers resources/list.
type ListResourcesResult struct {
	Resources  []Resource     `json:"resources"`
	NextCursor *Cursor        `json:"nextCursor,omitzero"`
	Meta       Meta           `json:"_meta,omitzero"`
	Extra      jsontext.Value `json:",embed"`
	Cache      CacheHint      `json:"-"` // codecs write and read it where the era has it
}

// AppendJSON appends the wire form without reflection.
func (r ListResourcesResult) AppendJSON(dst []byte) ([]byte, error) {
	o := newObject(dst)
	list(&o, "resources", r.Resources)
	o.ptrStr("nextCursor", r.NextCursor)
	o.raw("_meta", r.Meta)
	return o.end(r.Extra)
}

// ListResourceTemplatesResult answers resources/templates/list.
type ListResourceTemplatesResult struct {
	ResourceTemplates []ResourceTemplate `json:"resourceTemplates"`
	NextCursor        *Cursor            `json:"nextCursor,omitzero"`
	Meta              Meta               `json:"_meta,omitzero"`
	Extra             jsontext.Value     `json:",embed"`
	Cache             CacheHint          `json:"-"` // codecs write and read it where the era has it
}

// AppendJSON appends the wire form without reflection.
func (r ListResourceTemplatesResult) AppendJSON(dst []byte) ([]byte, error) {
	o := newObject(dst)
	list(&o, "resourceTemplates", r.ResourceTemplates)
	o.ptrStr("nextCursor", r.NextCursor)
	o.raw("_meta", r.Meta)
	return o.end(r.Extra)
}

// ReadResourceParams are the parameters of resources/read.
type ReadResourceParams struct {
	URI   string         `json:"uri"`
	Meta  Meta           `json:"_meta,omitzero"`
	Extra jsontext.Value `json:",embed"`
}

// ReadResourceResult answers resources/read.
type ReadResourceResult struct {
	Contents []ResourceContents `json:"contents"`
	Meta     Meta               `json:"_meta,omitzero"`
	Extra    jsontext.Value     `json:",embed"`
	Cache    CacheHint          `json:"-"` // codecs write and read it where the era has it
}

// AppendJSON appends the wire form without reflection.
func (r ReadResourceResult) AppendJSON(dst []byte) ([]byte, error) {
	o := newObject(dst)
	list(&o, "contents", r.Contents)
	o.raw("_meta", r.Meta)
	return o.end(r.Extra)
}

// SubscribeParams are the parameters of resources/subscribe and resources/unsubscribe (legacy).
type SubscribeParams struct {
	URI   string         `json:"uri"`
	Meta  Meta           `json:"_meta,omitzero"`
	Extra jsontext.Value `json:",embed"`
}

// ResourceUpdatedParams are the parameters of notifications/resources/updated.
type ResourceUpdatedParams struct {
	URI   string         `json:"uri"`
	Meta  Meta           `json:"_meta,omitzero"`
	Extra jsontext.Value `json:",embed"`
}

// ResourceContents is the text or the bytes of a resource.
//
// Shape: {"uri", "mimeType"?, "text" | "blob", "_meta"?}; blob is base64. Blob decides: not nil, even when empty, means
// bytes. A blob of a peer that is not base64 stays in Extra, and Blob is nil.
type ResourceContents struct {
	URI      string
	MIMEType string
	Text     string
	Blob     []byte
	Meta     Meta
	Extra    jsontext.Value
}

// TextResource is a resource's text.
func TextResource(uri, mimeType, text string) ResourceContents {
	return ResourceContents{URI: uri, MIMEType: mimeType, Text: text}
}

// BlobResource is a resource's bytes.
func BlobResource(uri, mimeType string, blob []byte) ResourceContents {
	if blob == nil {
		blob = []byte{}
	}
	return ResourceContents{URI: uri, MIMEType: mimeType, Blob: blob}
}

// AppendJSON appends the wire form without reflection.
func (c ResourceContents) AppendJSON(dst []byte) ([]byte, error) {
	o := newObject(dst)
	o.str("uri", c.URI)
	o.optStr("mimeType", c.MIMEType)
	if c.Blob != nil {
		o.bytes("blob", c.Blob)
	}
	if c.Text != "" || c.Blob == nil && !c.hasForeignBlob() {
		o.str("text", c.Text)
	}
	o.raw("_meta", c.Meta)
	return o.end(c.Extra)
}

func (c *ResourceContents) hasForeignBlob() bool {
	if len(c.Extra) == 0 {
		return false
	}
	_, ok := Member(c.Extra, "blob")
	return ok
}

// MarshalJSON implements json.Marshaler.
func (c ResourceContents) MarshalJSON() ([]byte, error) { return c.AppendJSON(nil) }

// resourceContentsWire is the wire form with the blob undecoded.
type resourceContentsWire struct {
	URI      string             `json:"uri"`
	MIMEType string             `json:"mimeType,omitzero"`
	Text     string             `json:"text,omitzero"`
	Blob     stdjson.RawMessage `json:"blob,omitzero"`
	Meta     Meta               `json:"_meta,omitzero"`
	Extra    jsontext.Value     `json:",embed"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (c *ResourceContents) UnmarshalJSON(in []byte) error {
	var wire resourceContentsWire
	if err := unmarshal(in, &wire); err != nil {
		return err
	}
	out := ResourceContents{URI: wire.URI, MIMEType: wire.MIMEType, Text: wire.Text, Meta: wire.Meta, Extra: wire.Extra}
	if wire.Blob != nil && !isNull(wire.Blob) {
		blob := []byte{}
		if err := json.Unmarshal(wire.Blob, &blob); err != nil {
			out.Extra = jsontext.Value(Meta(out.Extra).Set("blob", wire.Blob))
		} else {
			out.Blob = blob
		}
	}
	*c = out
	return nil
}
