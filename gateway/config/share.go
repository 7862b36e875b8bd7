package config

import (
	"errors"
	"slices"
	"time"

	"github.com/rialto-mcp/rialto/gateway/upstream"
)

// Pool bounds the connections that belong to single callers.
type Pool struct {
	Most  int           // of all servers together
	Each  int           // of one server
	Share int           // percent of these that one caller may have
	Idle  time.Duration // after which one is closed that nobody needs
}

const mostConnections = 100_000

func (s *section) pool() []setting {
	p := &s.config.Pool
	return []setting{
		{"most", s.number(&p.Most, checkConnections)},
		{"mostPerServer", s.number(&p.Each, checkConnections)},
		{"callerShare", s.number(&p.Share, checkPercent)},
		{"idle", s.duration(&p.Idle)},
	}
}

func (p Pool) normal() ordered {
	return ordered{{"most", p.Most}, {"mostPerServer", p.Each}, {"callerShare", p.Share}, {"idle", duration(p.Idle)}}
}

func checkConnections(n int) error {
	if n < 1 || n > mostConnections {
		return errors.New("this must be a number of connections from 1 to 100000")
	}
	return nil
}

func checkPercent(n int) error {
	if n < 1 || n > 100 {
		return errors.New("this must be a percentage from 1 to 100: of most and of mostPerServer, that one caller may have")
	}
	return nil
}

func checkShare(text string) error {
	if !slices.Contains([]upstream.Share{upstream.ShareAll, upstream.SharePrincipal, upstream.ShareSession}, upstream.Share(text)) {
		return errors.New("write all, principal or session; leave the key out to share where that is safe")
	}
	return nil
}
