package interop

import (
	"encoding/json"
	"errors"
	"io"
	"testing"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// TestShapesOfNews is TestShapes for what no plan asks for: log levels and subscriptions. The
// legacy peer is the reference server "everything", which is built on the official TypeScript SDK 1.x.
func TestShapesOfNews(t *testing.T) {
	own := startOwn(t, server.Options{})
	for _, c := range []struct {
		era      string
		mode     client.Mode
		official string
		methods  []string
		ask      func(t *testing.T, c *client.Client)
	}{
		{"legacy", client.Legacy, StartEverything(t), []string{"logging/setLevel", "resources/subscribe", "resources/unsubscribe"}, askForNews},
		{"modern", client.Modern, StartMemo(t), []string{"subscriptions/listen"}, listen},
	} {
		t.Run(c.era, func(t *testing.T) {
			theirs, ours := record(t, c.official, use(t, c.mode, c.ask)).only(false), record(t, own, use(t, c.mode, c.ask)).only(false)
			for _, opening := range []string{"initialize", "server/discover"} { // the servers offer different things
				delete(theirs, opening+" 1 answer")
				delete(ours, opening+" 1 answer")
			}
			compareShapes(t, c.era, c.methods, theirs, ours)
		})
	}
}

func askForNews(t *testing.T, c *client.Client) {
	const uri = "demo://resource/static/document/features.md"
	for _, err := range []error{
		c.SetLevel(t.Context(), mcp.LevelError), c.SubscribeResource(t.Context(), uri), c.UnsubscribeResource(t.Context(), uri),
	} {
		if err != nil {
			t.Error(err)
		}
	}
}

// listen opens a subscription, waits for its acknowledgement and ends it.
func listen(t *testing.T, c *client.Client) {
	s, err := c.Start(t.Context(), mcp.MethodListen, json.RawMessage(`{"notifications":{"toolsListChanged":true}}`), client.RawOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Next(t.Context()); err != nil && !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

// use lets our client do something with a server.
func use(t *testing.T, mode client.Mode, do func(*testing.T, *client.Client)) func(address string) {
	return func(address string) {
		c, err := client.DialHTTP(t.Context(), address, client.Options{Mode: mode})
		if err != nil {
			t.Fatal(err)
		}
		do(t, c)
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}
