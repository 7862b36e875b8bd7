package shape

import (
	"slices"

	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/llm"
)

// Filter says what of a list is shown, by patterns in which '*' stands for any run of characters. They are held against the
// names that the server gives, of resources against addresses and of templates against the template. The zero value shows
// everything.
type Filter struct {
	Allow []string // empty allows all
	Deny  []string // wins over Allow
}

// Shows tells whether a name, or an address, is shown.
func (f Filter) Shows(name string) bool {
	return !llm.Fits(f.Deny, "", name) && (len(f.Allow) == 0 || llm.Fits(f.Allow, "", name))
}

// IsZero tells whether everything is shown.
func (f Filter) IsZero() bool { return len(f.Allow) == 0 && len(f.Deny) == 0 }

// of leaves in a list what is shown. The list stays as it is.
func (f Filter) of(items []upstream.Item) []upstream.Item {
	if f.IsZero() {
		return items
	}
	return slices.DeleteFunc(slices.Clone(items), func(it upstream.Item) bool { return !f.Shows(it.Key) })
}

// idle gives the patterns that fit nothing in some lists.
func (f Filter) idle(lists ...[]upstream.Item) (patterns []string) {
	for _, p := range slices.Concat(f.Allow, f.Deny) {
		if !slices.ContainsFunc(slices.Concat(lists...), func(it upstream.Item) bool { return llm.Fits([]string{p}, "", it.Key) }) {
			patterns = append(patterns, p)
		}
	}
	return patterns
}
