package mcp

import (
	stdjson "encoding/json"

	"github.com/go-json-experiment/json/jsontext"
)

// Values of the member "mode" of elicitation/create.
const (
	ElicitModeForm = "form" // also meant when the member is absent
	ElicitModeURL  = "url"
)

// ElicitFormParams ask the user to fill in a form. Never ask for secrets this way.
type ElicitFormParams struct {
	Mode            string             `json:"mode,omitzero"` // "" or ElicitModeForm
	Message         string             `json:"message"`
	RequestedSchema stdjson.RawMessage `json:"requestedSchema"` // flat object schema; see [FormSchema]
	Meta            Meta               `json:"_meta,omitzero"`
	Extra           jsontext.Value     `json:",embed"`
}

// ElicitURLParams ask the user to visit a page.
type ElicitURLParams struct {
	Mode          string         `json:"mode"` // ElicitModeURL
	Message       string         `json:"message"`
	URL           string         `json:"url"`
	ElicitationID string         `json:"elicitationId,omitzero"` // 2025-11-25 alone; it is added and dropped on the way
	Meta          Meta           `json:"_meta,omitzero"`
	Extra         jsontext.Value `json:",embed"`
}

// ElicitMode answers the mode that raw parameters of elicitation/create ask for.
func ElicitMode(params stdjson.RawMessage) string {
	if mode, ok := Meta(params).Text("mode"); ok {
		return mode
	}
	return ElicitModeForm
}

// ElicitationCompleteParams are the parameters of notifications/elicitation/complete (2025-11-25).
type ElicitationCompleteParams struct {
	ElicitationID string         `json:"elicitationId"`
	Meta          Meta           `json:"_meta,omitzero"`
	Extra         jsontext.Value `json:",embed"`
}

// ElicitAction is what the user did.
type ElicitAction string

// The actions.
const (
	ElicitAccept  ElicitAction = "accept"
	ElicitDecline ElicitAction = "decline" // said no
	ElicitCancel  ElicitAction = "cancel"  // went away without a choice
)

// ElicitResult is the user's answer.
type ElicitResult struct {
	Action  ElicitAction       `json:"action"`
	Content stdjson.RawMessage `json:"content,omitzero"` // an object, for an accepted form; null reads as absent
	Meta    Meta               `json:"_meta,omitzero"`
	Extra   jsontext.Value     `json:",embed"`
}

// Accepted reports whether the user agreed.
func (r *ElicitResult) Accepted() bool { return r.Action == ElicitAccept }
