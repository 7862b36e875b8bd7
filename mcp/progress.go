package mcp

import "github.com/go-json-experiment/json/jsontext"

// ProgressParams are the parameters of notifications/progress.
type ProgressParams struct {
	ProgressToken ProgressToken  `json:"progressToken"`
	Progress      float64        `json:"progress"`       // only ever grows; 0 is written
	Total         *float64       `json:"total,omitzero"` // nil when unknown; 0 is written
	Message       string         `json:"message,omitzero"`
	Meta          Meta           `json:"_meta,omitzero"`
	Extra         jsontext.Value `json:",embed"`
}

// CancelledParams are the parameters of notifications/cancelled. RequestID may be absent in 2025-11-25 alone.
type CancelledParams struct {
	RequestID RequestID      `json:"requestId,omitzero"`
	Reason    string         `json:"reason,omitzero"`
	Meta      Meta           `json:"_meta,omitzero"`
	Extra     jsontext.Value `json:",embed"`
}
