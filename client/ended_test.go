package client_test

import (
	"errors"
	"testing"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	rialto "github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/transport"
)

// TestCallAfterTheEnd holds that a call that comes after the end of a connection says that it was not sent, so that it may be
// made elsewhere whatever it does, and why the connection has ended. Calls that were under way cannot say that.
func TestCallAfterTheEnd(t *testing.T) {
	near, far := transport.Pair(0)
	s := rialto.New(mcp.Implementation{Name: "s", Version: "1"}, rialto.Options{})
	served := make(chan error, 1)
	go func() { served <- s.Serve(t.Context(), far) }()
	c, err := client.Connect(t.Context(), near, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := far.Close(); err != nil {
		t.Fatal(err)
	}
	<-served
	<-c.Done()
	_, err = c.CallTool(t.Context(), "x", nil)
	if !errors.Is(err, mcp.CodeNotConnected) || !errors.Is(err, mcp.CodeConnectionClosed) {
		t.Errorf("got %v", err)
	}
	t.Log(err)
}
