package mcp

import "github.com/go-json-experiment/json/jsontext"

// SubscriptionFilter says which notices a listen wants, and in the acknowledgement which it gets.
type SubscriptionFilter struct {
	ToolsListChanged      bool           `json:"toolsListChanged,omitzero"`
	PromptsListChanged    bool           `json:"promptsListChanged,omitzero"`
	ResourcesListChanged  bool           `json:"resourcesListChanged,omitzero"`
	ResourceSubscriptions []string       `json:"resourceSubscriptions,omitzero"` // URIs
	Extra                 jsontext.Value `json:",embed"`                         // members of extensions; read with [Member]
}

// IsZero reports whether the filter asks for nothing.
func (f SubscriptionFilter) IsZero() bool {
	return !f.ToolsListChanged && !f.PromptsListChanged && !f.ResourcesListChanged &&
		len(f.ResourceSubscriptions) == 0 && len(f.Extra) == 0
}

// ListenParams are the parameters of subscriptions/listen.
type ListenParams struct {
	Notifications SubscriptionFilter `json:"notifications"`
	Meta          Meta               `json:"_meta,omitzero"`
	Extra         jsontext.Value     `json:",embed"`
}

// SubscriptionsAcknowledgedParams are the parameters of notifications/subscriptions/acknowledged; the id of the listen
// stands in Meta.
type SubscriptionsAcknowledgedParams struct {
	Notifications SubscriptionFilter `json:"notifications"`
	Meta          Meta               `json:"_meta,omitzero"`
	Extra         jsontext.Value     `json:",embed"`
}
