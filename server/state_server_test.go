package server_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// A state is for the server that has sealed it, whatever other servers share its key; replicas have its name.
func TestStateOfAnotherServer(t *testing.T) {
	keys := [][]byte{bytes.Repeat([]byte("one key "), 4)}
	named := func(name string) (*wire, *int) {
		s, runs := server.New(mcp.Implementation{Name: name, Version: "1"}, server.Options{StateKeys: keys}), new(int)
		rawTool(t, s, "x", func(_ context.Context, r *server.Request) (*mcp.CallToolResult, error) {
			*runs++
			if r.Run() == 1 {
				return nil, askName("who")
			}
			return mcp.TextResult("done"), nil
		})
		return dialWith(t, s, modern, withForms), runs
	}
	first, _ := named("one")
	retry := `"name":"x"` + adaAnswer + `,"requestState":` + tokenFor(t, first, `"name":"x"`)
	replica, _ := named("one")
	replica.want("tools/call", retry, saying("done"))
	other, runs := named("another")
	other.want("tools/call", retry, noState)
	if *runs != 0 {
		t.Errorf("a handler ran %d times with a state of another server", *runs)
	}
}
