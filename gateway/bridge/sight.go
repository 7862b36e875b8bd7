package bridge

import (
	"encoding/json"
	"sync"

	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/server"
)

// mostSights bounds the narrowed views that are kept beside one view: the one that has been kept longest goes first.
const mostSights = 256

// sights keeps the narrowed views of one view, by the keys of those who see them.
type sights struct {
	mu    sync.Mutex
	byKey map[string]*view
	order []string
}

// narrow is the view as the caller of a request sees it.
func (v *view) narrow(req *server.Request) *view {
	if v.rules.Sight == nil {
		return v
	}
	sight := v.rules.Sight(req)
	if sight.Shows == nil && sight.Admits == nil {
		return v
	}
	v.sights.mu.Lock()
	defer v.sights.mu.Unlock()
	if known := v.sights.byKey[sight.Key]; known != nil {
		return known
	}
	narrowed := v.through(sight)
	if v.sights.byKey == nil {
		v.sights.byKey = make(map[string]*view)
	}
	if len(v.sights.order) >= mostSights {
		delete(v.sights.byKey, v.sights.order[0])
		v.sights.order = v.sights.order[1:]
	}
	v.sights.byKey[sight.Key] = narrowed
	v.sights.order = append(v.sights.order, sight.Key)
	return narrowed
}

// through is a view with what is shown alone. Its table stays whole, so that names are the same for everybody.
func (v *view) through(sight Sight) *view {
	n := *v
	n.sight, n.sights = sight, &sights{}
	for kind, sh := range shown {
		var items []json.RawMessage
		for i, e := range v.table.Entries(sh.kind) {
			if n.admits(Entry{sh.kind, e.Target, e.Exposed, v.items[kind][i]}) {
				items = append(items, v.items[kind][i])
			}
		}
		n.items[kind], n.lists[kind] = items, v.lists[kind]
		if len(items) != len(v.items[kind]) {
			n.lists[kind] = newShownList(kind, items)
		}
	}
	n.shorten()
	return &n
}

func (v *view) admits(e Entry) bool {
	return (v.sight.Shows == nil || v.sight.Shows(e.Kind, e.Target)) && (v.sight.Admits == nil || v.sight.Admits(e))
}

// sees tells whether an entry is there for those who have this view.
func (v *view) sees(kind route.Kind, to route.Target, found bool) bool {
	return found && (v.rules.Serves == nil || v.rules.Serves(kind, to)) &&
		(v.sight.Shows == nil && v.sight.Admits == nil || v.admits(v.entry(kind, to)))
}

// entry is all that is known of what a request is about.
func (v *view) entry(kind route.Kind, to route.Target) Entry {
	exposed, listed := v.table.Exposed(kind, to)
	if !listed {
		exposed = v.exposed(to.Server, to.Name)
	}
	return Entry{kind, to, exposed, v.definitions[kind][to]}
}
