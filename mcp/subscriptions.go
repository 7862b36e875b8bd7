package mcp

import (
	stdjson "encoding/json"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rialto-mcp/rialto/jsonrpc"
)

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

// filterTasks is the member that the extension of tasks adds to a filter.
const filterTasks = "taskIds"

// TaskIDs returns the tasks that the filter names, by the extension of tasks; false when the member is no list of texts.
// Nil means that there is no such member.
func (f SubscriptionFilter) TaskIDs() (ids []string, ok bool) {
	raw, named := Member(f.Extra, filterTasks)
	if !named {
		return nil, true
	}
	if !jsonrpc.IsArray(raw) {
		return nil, false
	}
	ids = []string{}
	for element := range jsonrpc.Elements(raw) {
		id, ok := jsonrpc.Text(element)
		if !ok {
			return nil, false
		}
		ids = append(ids, id)
	}
	return ids, true
}

// WithTaskIDs returns the filter with tasks named in it, in the place of those it names; nil takes the member out.
func (f SubscriptionFilter) WithTaskIDs(ids []string) SubscriptionFilter {
	extra := stdjson.RawMessage(f.Extra)
	if extra == nil {
		extra = stdjson.RawMessage("{}")
	}
	extra = jsonrpc.Without(extra, filterTasks)
	if ids != nil {
		list := []byte{'['}
		for i, id := range ids {
			if i > 0 {
				list = append(list, ',')
			}
			list = jsonrpc.AppendString(list, id)
		}
		extra = jsonrpc.With(nil, extra, filterTasks, append(list, ']'))
	}
	f.Extra = nil
	for range jsonrpc.Fields(extra) {
		f.Extra = jsontext.Value(extra)
		break
	}
	return f
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
