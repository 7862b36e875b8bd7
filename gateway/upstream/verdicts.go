package upstream

import (
	"sync"

	"github.com/rialto-mcp/rialto/client"
)

// verdicts remembers what was found out about the era of each server.
type verdicts struct {
	mu     sync.Mutex
	byName map[string]client.Verdict
}

// take gives the verdict about a server, once: a connection that fails with it must not use it again.
func (v *verdicts) take(name string) (client.Verdict, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	verdict, ok := v.byName[name]
	delete(v.byName, name)
	return verdict, ok
}

func (v *verdicts) put(name string, verdict client.Verdict) {
	if verdict.Era == "" {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.byName[name] = verdict
}
