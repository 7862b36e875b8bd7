package mcp

import (
	stdjson "encoding/json"

	"github.com/go-json-experiment/json/jsontext"
)

// Capability is a capability without settings of its own: present or (nil pointer) absent.
type Capability struct {
	Extra jsontext.Value `json:",embed"`
}

// ClientCapabilities says what a client can do. On modern connections each request carries its own.
type ClientCapabilities struct {
	Experimental map[string]stdjson.RawMessage `json:"experimental,omitzero"`
	Sampling     *SamplingCapability           `json:"sampling,omitzero"`
	Elicitation  *ElicitationCapability        `json:"elicitation,omitzero"`
	Roots        *RootsCapability              `json:"roots,omitzero"`
	Tasks        stdjson.RawMessage            `json:"tasks,omitzero"`      // 2025-11-25 alone; see package tasks
	Extensions   map[string]stdjson.RawMessage `json:"extensions,omitzero"` // identifier to settings
	Extra        jsontext.Value                `json:",embed"`
}

// SamplingCapability: the client lets servers use its model.
type SamplingCapability struct {
	Context *Capability    `json:"context,omitzero"` // honours includeContext
	Tools   *Capability    `json:"tools,omitzero"`   // takes tools and toolChoice
	Extra   jsontext.Value `json:",embed"`
}

// ElicitationCapability: the client can ask its user. An empty object means form mode; ask through
// [ElicitationCapability.AcceptsForm], which knows that.
type ElicitationCapability struct {
	Form  *Capability    `json:"form,omitzero"`
	URL   *Capability    `json:"url,omitzero"`
	Extra jsontext.Value `json:",embed"`
}

// AcceptsForm reports whether form mode is declared, which naming no mode at all does too.
func (c *ElicitationCapability) AcceptsForm() bool {
	return c != nil && (c.Form != nil || c.URL == nil)
}

// AcceptsURL reports whether URL mode is declared.
func (c *ElicitationCapability) AcceptsURL() bool { return c != nil && c.URL != nil }

// RootsCapability: the client answers roots/list.
type RootsCapability struct {
	ListChanged bool           `json:"listChanged,omitzero"` // legacy alone
	Extra       jsontext.Value `json:",embed"`
}

// HasExtension reports whether the client declares an extension.
func (c ClientCapabilities) HasExtension(identifier string) bool {
	_, ok := c.Extensions[identifier]
	return ok
}

// Missing answers the part of need that c lacks, and whether there is any. It is what goes into
// [MissingCapability]. Settings are not compared, only presence.
func (c ClientCapabilities) Missing(need ClientCapabilities) (ClientCapabilities, bool) {
	var lack ClientCapabilities
	found := false
	if s := need.Sampling; s != nil {
		if c.Sampling == nil || s.Tools != nil && c.Sampling.Tools == nil || s.Context != nil && c.Sampling.Context == nil {
			lack.Sampling, found = s, true
		}
	}
	if e := need.Elicitation; e != nil {
		if e.AcceptsForm() && !c.Elicitation.AcceptsForm() || e.AcceptsURL() && !c.Elicitation.AcceptsURL() {
			lack.Elicitation, found = e, true
		}
	}
	if need.Roots != nil && c.Roots == nil {
		lack.Roots, found = need.Roots, true
	}
	for id, settings := range need.Extensions {
		if c.HasExtension(id) {
			continue
		}
		if lack.Extensions == nil {
			lack.Extensions = rawMap{}
		}
		lack.Extensions[id], found = settings, true
	}
	return lack, found
}

// ServerCapabilities says what a server offers.
type ServerCapabilities struct {
	Experimental map[string]stdjson.RawMessage `json:"experimental,omitzero"`
	Logging      *Capability                   `json:"logging,omitzero"`
	Completions  *Capability                   `json:"completions,omitzero"`
	Prompts      *PromptsCapability            `json:"prompts,omitzero"`
	Resources    *ResourcesCapability          `json:"resources,omitzero"`
	Tools        *ToolsCapability              `json:"tools,omitzero"`
	Tasks        stdjson.RawMessage            `json:"tasks,omitzero"`      // 2025-11-25 alone; see package tasks
	Extensions   map[string]stdjson.RawMessage `json:"extensions,omitzero"` // identifier to settings
	Extra        jsontext.Value                `json:",embed"`
}

// HasExtension reports whether the server declares an extension.
func (c ServerCapabilities) HasExtension(identifier string) bool {
	_, ok := c.Extensions[identifier]
	return ok
}

// PromptsCapability: the server has prompts.
type PromptsCapability struct {
	ListChanged bool           `json:"listChanged,omitzero"`
	Extra       jsontext.Value `json:",embed"`
}

// ResourcesCapability: the server has resources.
type ResourcesCapability struct {
	Subscribe   bool           `json:"subscribe,omitzero"`
	ListChanged bool           `json:"listChanged,omitzero"`
	Extra       jsontext.Value `json:",embed"`
}

// ToolsCapability: the server has tools.
type ToolsCapability struct {
	ListChanged bool           `json:"listChanged,omitzero"`
	Extra       jsontext.Value `json:",embed"`
}
