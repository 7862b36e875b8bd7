package policy

import (
	"weak"

	"github.com/rialto-mcp/rialto/gateway/upstream"
)

// mostSeen bounds the lists that something is kept for, since callers may have lists of their own.
const mostSeen = 1000

// kept is what was made of lists. It does not keep the lists: a server that lists something else all the time would fill the
// memory otherwise. The zero value is ready to use; it is not for concurrent use.
type kept[T any] struct {
	byLists map[weak.Pointer[upstream.Lists]]T
}

func (k *kept[T]) get(of *upstream.Lists) (T, bool) {
	what, ok := k.byLists[weak.Make(of)]
	return what, ok
}

// put keeps something, and forgets what was kept for lists that nobody has any more.
func (k *kept[T]) put(of *upstream.Lists, what T) {
	for lists := range k.byLists {
		if lists.Value() == nil {
			delete(k.byLists, lists)
		}
	}
	if k.byLists == nil || len(k.byLists) >= mostSeen {
		k.byLists = make(map[weak.Pointer[upstream.Lists]]T)
	}
	k.byLists[weak.Make(of)] = what
}
