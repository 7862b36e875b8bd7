package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

func newServer(opts server.Options, service bookings) *server.Server {
	s := server.New(mcp.Implementation{Name: "booking", Version: "1.0.0"}, opts)
	server.AddTool(s, mcp.Tool{Name: "book", Description: "Books a room in a city"}, desk{service}.book)
	return s
}

// desk books rooms.
type desk struct{ service bookings }

// wish is what the model calls the tool with.
type wish struct {
	City string `json:"city" jsonschema:"min=1,max=80"`
}

// stay is the form that the guest fills in.
type stay struct {
	Guest  string `json:"guest" jsonschema:"title=Your name,min=1,max=80"`
	Nights int    `json:"nights" jsonschema:"min=1,max=30,default=1"`
}

// lastWord is the form at the end.
type lastWord struct {
	Sure bool `json:"sure" jsonschema:"title=Book it"`
}

// book asks three times. For a modern client it runs four times, each time from the top: the answers are there again, and what
// stands in Once is not done again.
func (d desk) book(ctx context.Context, req *server.Request, in wish) (string, error) {
	guest, err := server.ElicitAs[stay](ctx, req, "Who wants a room in "+in.City+", and for how long?")
	if err != nil {
		return "", err
	}
	room, err := server.Once(ctx, req, "hold", func(ctx context.Context, key string) (receipt, error) {
		return d.service.Do(ctx, key, fmt.Sprintf("hold a room in %s for %s, %d nights", in.City, guest.Guest, guest.Nights))
	})
	if err != nil {
		return "", err
	}
	req.Progress(ctx, 1, 2, "room "+room.Number+" is held")
	welcome, err := d.welcome(ctx, req, guest.Guest)
	if err != nil {
		return "", err
	}
	last, err := server.ElicitAs[lastWord](ctx, req, fmt.Sprintf("Book room %s for %d nights?", room.Number, guest.Nights))
	switch {
	case errors.Is(err, server.ErrDeclined), err == nil && !last.Sure:
		return "Nothing is booked.", nil
	case err != nil:
		return "", err
	}
	booked, err := server.Once(ctx, req, "book", func(ctx context.Context, key string) (receipt, error) {
		return d.service.Do(ctx, key, "book room "+room.Number)
	})
	if err != nil {
		return "", err
	}
	req.Progress(ctx, 2, 2, "booked")
	return fmt.Sprintf("%s Room %s is booked for %d nights: %s.", welcome, room.Number, guest.Nights, booked.Number), nil
}

// welcome has the client's model greet the guest. A client without a model goes without.
func (d desk) welcome(ctx context.Context, req *server.Request, guest string) (string, error) {
	said, err := req.CreateMessage(ctx, mcp.CreateMessageParams{
		MaxTokens: 100,
		Messages:  []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: []mcp.Content{mcp.Text("Welcome " + guest + " in one sentence.")}}},
	})
	switch {
	case errors.Is(err, server.ErrCannotAsk):
		return "Welcome, " + guest + "!", nil
	case err != nil:
		return "", err
	}
	return said.Text(), nil
}
