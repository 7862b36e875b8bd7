package examples

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// What the page for authors of handlers that ask shows.

// signedIn stands for what a sign-in page knows.
type signedIn struct{ looks int }

func (s *signedIn) User(context.Context) (string, bool) {
	s.looks++
	return "ada", s.looks > 2
}

// A handler sends the user to a page and waits until they are done there.
func Example_askWithPage() {
	s := newShop(server.Options{})
	page := &signedIn{}
	// [page]
	server.AddTool(s, mcp.Tool{Name: "orders"}, func(ctx context.Context, req *server.Request, _ struct{}) (string, error) {
		answer, err := req.ElicitURL(ctx, mcp.ElicitURLParams{Message: "Sign in to see your orders", URL: "https://shop.example/in"})
		switch {
		case err != nil:
			return "", err
		case !answer.Accepted():
			return "Without signing in there is nothing to see.", nil
		}
		var user string
		err = req.Until(ctx, func(ctx context.Context) (done bool, err error) {
			user, done = page.User(ctx) // only the page knows
			return done, nil
		})
		return "orders of " + user, err
	})
	// [end]
	for _, mode := range []client.Mode{client.Legacy, client.Modern} {
		page.looks = 1
		c, done := connect(s, client.Options{Mode: mode, ElicitURL: func(context.Context, *client.ElicitURLRequest) (*mcp.ElicitResult, error) {
			return client.Accept(nil)
		}})
		out, err := c.CallTool(context.Background(), "orders", nil)
		if err != nil {
			panic(err)
		}
		fmt.Println(out.Text())
		done()
	}
	// Output:
	// orders of ada
	// orders of ada
}

type wrapping struct {
	Colour string `json:"colour" jsonschema:"title=Which colour?,enum=red|blue,default=red"`
}

// A handler asks for several things at once, and goes on without what a client cannot answer.
func Example_askSeveral() {
	s := newShop(server.Options{})
	// [several]
	server.AddTool(s, mcp.Tool{Name: "find"}, func(ctx context.Context, req *server.Request, _ struct{}) (string, error) {
		ask := mcp.NeedInput().ListRoots("folders").CreateMessage("name", mcp.CreateMessageParams{
			MaxTokens: 20,
			Messages:  []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: []mcp.Content{mcp.Text("A name for a shopping list, please.")}}},
		})
		answers, err := req.Ask(ctx, ask)
		if err != nil {
			return "", err
		}
		name, err := answers.Message("name")
		if err != nil {
			return "", err
		}
		folders, err := answers.Roots("folders")
		if err != nil {
			return "", err
		}
		return folders.Roots[0].URI + "/" + name.Text(), nil
	})
	// [end]
	// [cannot]
	server.AddTool(s, mcp.Tool{Name: "wrap"}, func(ctx context.Context, req *server.Request, _ struct{}) (string, error) {
		choice, err := server.ElicitAs[wrapping](ctx, req, "How shall it be wrapped?")
		switch {
		case errors.Is(err, server.ErrCannotAsk), errors.Is(err, server.ErrDeclined):
			choice.Colour = "plain"
		case err != nil:
			return "", err // also ErrSuspended, which ends this run with the question
		}
		return choice.Colour + " paper", nil
	})
	// [end]
	c, done := connect(s, client.Options{
		Roots: []mcp.Root{{URI: "file:///home/ada"}},
		CreateMessage: func(context.Context, *client.SamplingRequest) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Model: "m", Content: []mcp.Content{mcp.Text("apples.txt")}}, nil
		},
	})
	defer done()
	for _, tool := range []string{"find", "wrap"} {
		out, err := c.CallTool(context.Background(), tool, nil)
		if err != nil {
			panic(err)
		}
		fmt.Println(out.Text())
	}
	// Output:
	// file:///home/ada/apples.txt
	// plain paper
}

// jobs stands for a service that takes its time.
type jobs struct{ looks int }

func (j *jobs) Start(_ context.Context, key string) (string, error) {
	return "job of " + key[:0] + "ada", nil
}
func (j *jobs) Done(context.Context, string) bool { j.looks++; return j.looks > 2 }

// A handler waits for work elsewhere without holding a modern client's connection.
func Example_later() {
	s := newShop(server.Options{})
	service := &jobs{}
	// [later]
	server.AddTool(s, mcp.Tool{Name: "print"}, func(ctx context.Context, req *server.Request, _ struct{}) (string, error) {
		job, err := server.Once(ctx, req, "start", service.Start) // service takes the idempotency key
		if err != nil {
			return "", err
		}
		for !service.Done(ctx, job) {
			if err := req.Later(ctx); err != nil {
				return "", err
			}
		}
		return strings.ToUpper(job), nil
	})
	// [end]
	c, done := connect(s, client.Options{})
	defer done()
	out, err := c.CallTool(context.Background(), "print", nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(out.Text(), "after", service.looks, "looks")
	// Output:
	// JOB OF ADA after 3 looks
}
