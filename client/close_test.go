package client_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// A server on a pipe that sees the end of its input, but has not been told that nobody waits any more, works on until its
// grace is over. So Close cancels what still runs, each call once, before the pipe ends.
func TestCloseCancelsWhatRuns(t *testing.T) {
	eras(t, script{"tools/call": nil}, func(t *testing.T, era string, conn transport.Conn, p *peer) {
		c, err := client.Connect(t.Context(), conn, client.Options{OnError: func(err error) { t.Errorf("reported: %v", err) }})
		if err != nil {
			t.Fatal(err)
		}
		const running = 3
		ended := make(chan error, running)
		for range running {
			go func() {
				_, err := c.CallTool(t.Context(), "slow", nil)
				ended <- err
			}()
		}
		synctest.Wait()
		began := time.Now()
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("Close took %s", took)
		}
		for range running {
			if err := <-ended; !errors.Is(err, mcp.CodeConnectionClosed) || !errors.Is(err, transport.ErrClosed) ||
				err.Error() != `call tool "slow": connection closed: the client was closed` {
				t.Errorf("a call ended with %v", err)
			}
		}
		synctest.Wait()
		if sent := p.methods(); !strings.HasSuffix(sent, strings.Repeat(" tools/call", running)+strings.Repeat(" notifications/cancelled", running)) {
			t.Errorf("sent %s", sent)
		}
		cancelled := map[string]bool{}
		for _, m := range p.sent("notifications/cancelled") {
			id, _ := jsonrpc.Member(m.Params, "requestId")
			cancelled[string(id)] = true
		}
		if len(cancelled) != running {
			t.Errorf("cancelled %v", cancelled)
		}
	})
}
