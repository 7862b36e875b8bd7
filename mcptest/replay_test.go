package mcptest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/mcptest"
	"github.com/rialto-mcp/rialto/server"
)

// bank is what the handlers of these tests change in the world.
type bank interface{ Effect(name string) }

var sure = mcp.ElicitFormParams{Message: "Are you sure?", RequestedSchema: []byte(`{"type":"object","properties":{"yes":{"type":"boolean"}}}`)}

// paying is a server with one tool, made of what it does.
func paying(h func(ctx context.Context, req *server.Request) (string, error)) *server.Server {
	s := server.New(mcp.Implementation{Name: "bank", Version: "1.0.0"}, server.Options{})
	server.AddTool(s, mcp.Tool{Name: "pay", Description: "Pays"},
		func(ctx context.Context, req *server.Request, _ struct{}) (string, error) { return h(ctx, req) })
	return s
}

// printer is a testing.TB that prints, to show what a test would say.
type printer struct{ testing.TB }

func (printer) Helper()                           {}
func (printer) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }
func (printer) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

// A handler is taken through its questions.
func ExampleReplay() {
	var play *mcptest.Replay
	s := paying(func(ctx context.Context, req *server.Request) (string, error) {
		answer, err := req.Elicit(ctx, sure)
		if err != nil {
			return "", err
		}
		receipt, err := server.Once(ctx, req, "pay", func(context.Context, string) (string, error) {
			play.Effect("pay") // in a test, what stands for the bank says so
			return "receipt 7", nil
		})
		if err != nil {
			return "", err
		}
		said, err := req.CreateMessage(ctx, mcp.CreateMessageParams{
			MaxTokens: 50, Messages: []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: []mcp.Content{mcp.Text("Thank them")}}},
		})
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%s, %s, %s", answer.Content, receipt, said.Text()), nil
	})
	play = mcptest.NewReplay(printer{}, s) // in a test: t
	play.Accept("sure", map[string]any{"yes": true}).Says("Thank them", "Thanks!")
	fmt.Println(play.CallTool("pay", nil).Text())
	fmt.Println(strings.Join(play.Asked(), ", "))
	// Output:
	// {"yes":true}, receipt 7, Thanks!
	// Are you sure?, sampling/createMessage
}

// Replay finds what would go wrong with a modern client: here the money leaves once in every run.
func ExampleReplay_Effect() {
	var play *mcptest.Replay
	s := paying(func(ctx context.Context, req *server.Request) (string, error) {
		play.Effect("pay") // outside Once, and before a question
		_, err := req.Elicit(ctx, sure)
		return "paid", err
	})
	play = mcptest.NewReplay(printer{}, s)
	fmt.Println(play.Accept("sure", nil).CallTool("pay", nil).Text())
	// Output:
	// run 2: the effect "pay" happens again, after run 1; put it into server.Once
	// paid
}

// complaints is a testing.TB that keeps what it is told.
type complaints struct {
	testing.TB
	said []string
}

func (c *complaints) Helper() {}
func (c *complaints) Errorf(format string, args ...any) {
	c.said = append(c.said, fmt.Sprintf(format, args...))
}

func (c *complaints) Fatalf(format string, args ...any) {
	c.Errorf(format, args...)
	panic(c)
}

// Each way in which a handler misuses its runs is found, and a sound one is not complained of.
func TestReplayComplains(t *testing.T) {
	ask := func(ctx context.Context, req *server.Request, message string) error {
		form := sure
		form.Message = message
		_, err := req.Elicit(ctx, form)
		return err
	}
	for name, c := range map[string]struct {
		h      func(ctx context.Context, req *server.Request, b bank) (string, error)
		script func(r *mcptest.Replay)
		want   []string // parts, in their order
	}{
		"sound": {func(ctx context.Context, req *server.Request, b bank) (string, error) {
			req.Progress(ctx, 1, 2, "")
			if err := ask(ctx, req, "one"); err != nil {
				return "", err
			}
			req.Log(ctx, mcp.LevelInfo, "", "going")
			if err := req.Later(ctx); err != nil {
				return "", err
			}
			if err := ask(ctx, req, "two"); err != nil {
				return "", err
			}
			b.Effect("pay")
			return "done", nil
		}, func(r *mcptest.Replay) { r.Accept("one", nil).Decline("two") }, nil},
		"tells of the error": {func(ctx context.Context, req *server.Request, _ bank) (string, error) {
			err := ask(ctx, req, "one")
			if err != nil {
				req.Log(ctx, mcp.LevelError, "", err.Error())
				req.Progress(ctx, 1, 1, "")
			}
			return "done", err
		}, func(r *mcptest.Replay) { r.Cancel("one") }, []string{"run 1 sends a log message after a question", "run 1 sends progress after"}},
		"takes the error for a no": {func(ctx context.Context, req *server.Request, b bank) (string, error) {
			if errors.Is(ask(ctx, req, "one"), server.ErrSuspended) {
				b.Effect("refund")
				return "refunded", nil
			}
			return "done", nil
		}, func(r *mcptest.Replay) { r.Accept("one", nil) }, []string{`the effect "refund" happens after a question has ended the run`}},
		"asks on": {func(ctx context.Context, req *server.Request, _ bank) (string, error) {
			return "done", errors.Join(ask(ctx, req, "one"), ask(ctx, req, "two"))
		}, func(r *mcptest.Replay) { r.Accept("one", nil).Accept("two", nil) }, []string{"run 1 asks a question after a question"}},
		"steps on": {func(ctx context.Context, req *server.Request, _ bank) (string, error) {
			err := ask(ctx, req, "one")
			_, again := server.Once(ctx, req, "pay", func(context.Context, string) (int, error) { return 1, nil })
			return "done", errors.Join(err, again)
		}, func(r *mcptest.Replay) { r.Accept("one", nil) }, []string{`run 1 begins the step "pay" after a question`}},
		"asks something else": {func(ctx context.Context, req *server.Request, _ bank) (string, error) {
			if req.Run() == 1 {
				return "", ask(ctx, req, "one")
			}
			_, err := req.ListRoots(ctx)
			return "done", err
		}, func(r *mcptest.Replay) { r.Accept("one", nil).Roots("file:///x") }, []string{"run 2: question 1 is roots/list, and was elicitation/create"}},
		"pays in every run": {func(ctx context.Context, req *server.Request, b bank) (string, error) {
			b.Effect("pay")
			return "done", ask(ctx, req, "one")
		}, func(r *mcptest.Replay) { r.Accept("one", nil) }, []string{`run 2: the effect "pay" happens again, after run 1`}},
		"pays twice": {func(_ context.Context, _ *server.Request, b bank) (string, error) {
			b.Effect("pay")
			b.Effect("pay")
			return "done", nil
		}, func(*mcptest.Replay) {}, []string{`run 1: the effect "pay" happens twice`}},
		"asks too little": {func(ctx context.Context, req *server.Request, _ bank) (string, error) {
			return "done", ask(ctx, req, "one")
		}, func(r *mcptest.Replay) { r.Accept("one", nil).Accept("two", nil) }, []string{`nobody asked "two" by elicitation/create`}},
		"asks too much": {func(ctx context.Context, req *server.Request, _ bank) (string, error) {
			return "done", ask(ctx, req, "one")
		}, func(*mcptest.Replay) {}, []string{`run 1 asks "one" by elicitation/create, and the script has no more answers`}},
		"asks in another order": {func(ctx context.Context, req *server.Request, _ bank) (string, error) {
			return "done", ask(ctx, req, "one")
		}, func(r *mcptest.Replay) { r.Roots() }, []string{`an answer to "" by roots/list there`}},
		"fails": {func(context.Context, *server.Request, bank) (string, error) {
			return "", mcp.Errorf(7, "no")
		}, func(*mcptest.Replay) {}, []string{"tools/call fails with error 7: no"}},
	} {
		t.Run(name, func(t *testing.T) {
			kept := &complaints{}
			var play *mcptest.Replay
			play = mcptest.NewReplay(kept, paying(func(ctx context.Context, req *server.Request) (string, error) { return c.h(ctx, req, play) }))
			c.script(play)
			func() {
				defer func() {
					if v := recover(); v != nil && v != any(kept) {
						panic(v)
					}
				}()
				if out := play.CallTool("pay", nil); out != nil && out.Text() != "done" {
					t.Errorf("got %q", out.Text())
				}
			}()
			if len(kept.said) != len(c.want) {
				t.Fatalf("complaints %q, want %q", kept.said, c.want)
			}
			for i, part := range c.want {
				if !strings.Contains(kept.said[i], part) {
					t.Errorf("complaint %q, want %q", kept.said[i], part)
				}
			}
		})
	}
}

// Prompts, resources, several questions at once, and what is told.
func TestReplayOfOtherHandlers(t *testing.T) {
	s := server.New(mcp.Implementation{Name: "bank", Version: "1.0.0"}, server.Options{})
	ask := func(ctx context.Context, req *server.Request) (string, error) {
		req.Progress(ctx, 1, 2, "")
		page := mcp.ElicitURLParams{Message: "Sign in", URL: "https://example.com/"}
		answers, err := req.Ask(ctx, mcp.NeedInput().Elicit("a", sure).ElicitURL("b", page).ListRoots("c"))
		if err != nil {
			return "", err
		}
		req.Log(ctx, mcp.LevelInfo, "", "asked")
		return strings.Join(answers.Keys(), ""), nil
	}
	s.AddPrompt(mcp.Prompt{Name: "p"}, func(ctx context.Context, req *server.Request, _ map[string]string) (*mcp.GetPromptResult, error) {
		text, err := ask(ctx, req)
		return &mcp.GetPromptResult{Messages: []mcp.PromptMessage{mcp.UserMessage(mcp.Text(text))}}, err
	})
	s.AddResource(mcp.Resource{URI: "r:1", Name: "r"}, func(ctx context.Context, req *server.Request) (*mcp.ReadResourceResult, error) {
		text, err := ask(ctx, req)
		return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{mcp.TextResource("r:1", "", text)}}, err
	})
	play := mcptest.NewReplay(t, s)
	prompt := play.Accept("Sign in", nil).Roots().Accept("sure", nil).GetPrompt("p", nil)
	if text, ok := prompt.Messages[0].Content.(*mcp.TextContent); !ok || text.Text != "abc" || len(play.Asked()) != 3 {
		t.Errorf("%+v, asked %q", prompt, play.Asked())
	}
	if want := []string{"1", `"asked"`}; !slices.Equal(play.Told(), want) {
		t.Errorf("told %q", play.Told())
	}
	read := play.Accept("Sign in", nil).Roots().Accept("sure", nil).ReadResource("r:1")
	if read.Contents[0].Text != "abc" {
		t.Errorf("%+v", read)
	}
}
