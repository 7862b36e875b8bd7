package shape

import (
	"fmt"
	"strings"

	"github.com/rialto-mcp/rialto/gateway/upstream"
)

// OnDown says what clients see of a server that is down.
type OnDown string

// What clients may see of it.
const (
	Keep OnDown = "keep" // its last lists, for a while
	Hide OnDown = "hide" // nothing, from the moment it is lost
	Fail OnDown = "fail" // no list at all: none is taken for whole that is not
)

// Whole says why lists cannot be given: a server that must not be missing from them is down. It is made for bridge.Rules.
func (p *Plan) Whole(snaps []upstream.Snapshot) error {
	var down []string
	for _, s := range snaps {
		if p.servers[s.Name].OnDown == Fail && !s.State.Usable() && (p.bundle == nil || p.bundle.has(s.Name)) {
			down = append(down, fmt.Sprintf("%q", s.Name))
		}
	}
	switch len(down) {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("the list would not be whole, since server %s is down; try again later", down[0])
	}
	return fmt.Errorf("the list would not be whole, since servers are down: %s; try again later", strings.Join(down, ", "))
}

// Waits tells whether what clients see depends on the states of servers, and not on their lists alone.
func (p *Plan) Waits() bool {
	for _, s := range p.servers {
		if s.OnDown == Hide || s.OnDown == Fail {
			return true
		}
	}
	return false
}
