package bridge

import (
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// owner is who a parked call counts for.
type owner struct {
	key string // of a principal; "" for all that nobody knows together
	all bool   // there is nobody else: the client of a pipe
}

func ownerOf(req *server.Request) owner {
	if who := req.Principal(); who != nil && !who.IsZero() {
		return owner{key: who.Key()}
	}
	return owner{all: !req.OverHTTP()}
}

// share is how many of the places it may have: a principal a tenth, those that nobody knows together a half, so that neither
// keeps all others from being asked.
func (o owner) share(places int) int {
	switch {
	case o.all:
		return places
	case o.key == "":
		return places / 2
	}
	return max(places/10, leastShare)
}

// shares counts places by those who have them.
type shares struct {
	total int
	by    map[owner]int
}

func (s *shares) add(who owner) error {
	if s.total >= mostParked {
		return mcp.Errorf(mcp.CodeInternal, "too many calls wait for answers of their clients; try again later")
	}
	if most := who.share(mostParked); s.by[who] >= most {
		return mcp.Errorf(mcp.CodeInternal, "%d calls of yours wait for answers, which is the limit; answer or cancel some first", most)
	}
	if s.by == nil {
		s.by = make(map[owner]int)
	}
	s.total++
	s.by[who]++
	return nil
}

func (s *shares) remove(who owner) {
	s.total--
	if s.by[who]--; s.by[who] == 0 {
		delete(s.by, who)
	}
}
