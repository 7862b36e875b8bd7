package bridge

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/rialto-mcp/rialto/apps"
	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/skills"
)

// An extension may add methods, notifications and kinds of results, which a relay has to know. So one that is not known goes
// neither way, though a declaration alone looks harmless: a client that is told of it calls methods that are not there, and a
// server that is told of it answers in a form that cannot be passed on. What is declared then is what works. Tasks are a matter
// of their own (tasks.go).

// carried are the extensions that need nothing but what is passed on anyway, and the methods in relays.
var carried = []string{apps.Identifier, skills.Identifier}

// carries tells whether an extension is passed on.
func (r *Rules) carries(id string) bool {
	return slices.Contains(carried, id) || slices.Contains(r.Extensions, id)
}

// declared is what a server is told of what a client can do: all that it has declared, without extensions that are not passed
// on.
func (r *Rules) declared(capabilities json.RawMessage) json.RawMessage {
	all, ok := jsonrpc.Member(capabilities, "extensions")
	if !ok {
		return capabilities
	}
	kept := []byte{'{'}
	for m := range jsonrpc.Fields(all) {
		if id, _ := jsonrpc.Text(m.Name); !r.carries(id) {
			continue
		}
		if len(kept) > 1 {
			kept = append(kept, ',')
		}
		kept = append(append(append(kept, m.Name...), ':'), m.Value...)
	}
	if len(kept) == 1 {
		return jsonrpc.Without(capabilities, "extensions")
	}
	return jsonrpc.With(nil, capabilities, "extensions", append(kept, '}'))
}

// extensionsOf are those that servers have declared and that are passed on, with the settings of the first server that has each.
func extensionsOf(rules *Rules, snaps []upstream.Snapshot) map[string]json.RawMessage {
	all := make(map[string]json.RawMessage)
	for _, s := range snaps {
		for id, settings := range s.Lists.Extensions {
			switch old, known := all[id]; {
			case !rules.carries(id):
			case !known:
				all[id] = settings
			case id == skills.Identifier:
				all[id] = readsFolders(old, settings)
			}
		}
	}
	return all
}

// declareWait is how long the question what there is waits for servers that have not been tried yet. Some clients take a server
// that has not answered after two seconds for one of the legacy era.
const declareWait = time.Second

// declares says which extensions the front has: those that a server has at the moment, beside those of its own.
func (b *Bridge) declares(ctx context.Context, _ *server.Request, enabled map[string]json.RawMessage) map[string]json.RawMessage {
	wait, cancel := context.WithTimeout(ctx, declareWait)
	defer cancel()
	b.settle(wait)
	delete(enabled, skills.Identifier)
	for id, settings := range b.view.Load().extensions {
		enabled[id] = settings
	}
	return enabled
}
