package server_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// The contexts of a run end with its question, whenever they were made, and say why.
func TestContextsEndWithARun(t *testing.T) {
	type key struct{}
	for name, opts := range map[string]server.Options{"bare": {}, "inside middleware": {Middleware: []server.Middleware{server.Timeout(time.Minute)}}} {
		t.Run(name, func(t *testing.T) {
			s := newServer(opts)
			server.AddTool(s, mcp.Tool{Name: "x"}, func(ctx context.Context, req *server.Request, _ struct{}) (string, error) {
				if req.Run() == 2 {
					_, err := req.ListRoots(ctx)
					return "done", errors.Join(err, ctx.Err())
				}
				value := context.WithValue(ctx, key{}, 1) // Done is not looked at before the question
				timed, cancel := context.WithTimeout(ctx, time.Hour)
				defer cancel()
				inner, stop := context.WithCancel(timed)
				defer stop()
				free := context.WithoutCancel(ctx)
				after := make(chan struct{})
				context.AfterFunc(ctx, func() { close(after) })
				if err := errors.Join(ctx.Err(), inner.Err(), context.Cause(value)); err != nil {
					t.Errorf("before the question: %v", err)
				}
				_, err := req.ListRoots(inner)
				if !errors.Is(err, server.ErrSuspended) {
					t.Errorf("got %v", err)
				}
				late, stopLate := context.WithTimeout(value, time.Hour)
				defer stopLate()
				for i, c := range []context.Context{ctx, value, timed, inner, late} {
					select {
					case <-c.Done():
					case <-time.After(5 * time.Second):
						t.Errorf("context %d goes on", i)
					}
					if context.Cause(c) != server.ErrSuspended || !errors.Is(c.Err(), context.Canceled) { //nolint:errorlint // that very one
						t.Errorf("context %d: %v, because of %v", i, c.Err(), context.Cause(c))
					}
					if server.RequestFrom(c) != req {
						t.Errorf("context %d does not lead to the request", i)
					}
				}
				if free.Err() != nil {
					t.Error("a context without cancellation has ended")
				}
				select {
				case <-after:
				case <-time.After(5 * time.Second):
					t.Error("AfterFunc does not run")
				}
				return "", err
			})
			k := newTalk(t, s, modern)
			if got := k.call("x", "{}"); got != saying("done") || len(k.asked) != 1 {
				t.Errorf("%s, asked %q", got, k.asked)
			}
		})
	}
}

// What stands around a handler sees a round as an answer, has a context that goes on, and may run the handler again.
func TestMiddlewareAroundAQuestion(t *testing.T) {
	wary := func(next server.Call) server.Call { // as people write it who know nothing of rounds
		return func(ctx context.Context, req *server.Request) (*server.Result, error) {
			own, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			result, err := next(own, req)
			if own.Err() != nil || ctx.Err() != nil {
				return nil, fmt.Errorf("too late: %v, %v", context.Cause(own), context.Cause(ctx))
			}
			return result, err
		}
	}
	stubborn := func(next server.Call) server.Call {
		return func(ctx context.Context, req *server.Request) (*server.Result, error) {
			for range 2 {
				own, cancel := context.WithCancel(ctx)
				result, err := next(own, req)
				cancel()
				if err == nil && !result.IsError() {
					return result, nil
				}
			}
			return next(ctx, req)
		}
	}
	booked, tries := 0, 0
	add := func(s *server.Server) {
		booked, tries = 0, 0
		server.AddTool(s, mcp.Tool{Name: "x"}, func(ctx context.Context, req *server.Request, _ struct{}) (string, error) {
			if _, err := req.Elicit(ctx, form("one")); err != nil {
				return "", err
			}
			if _, err := server.Once(ctx, req, "book", func(context.Context, string) (int, error) { booked++; return booked, nil }); err != nil {
				return "", err
			}
			req.Log(ctx, mcp.LevelInfo, "", "booked")
			if tries++; tries%3 == 1 {
				return "", errors.New("try again")
			}
			if _, err := req.Elicit(ctx, form("two")); err != nil {
				return "", err
			}
			return "done", ctx.Err()
		})
	}
	for name, opts := range map[string]server.Options{
		"wary":     {Middleware: []server.Middleware{wary, stubborn}},
		"standard": {Middleware: []server.Middleware{server.Timeout(time.Minute), server.RateLimit(server.RateLimitOptions{PerSecond: 1000}), stubborn}},
		"consume":  {Middleware: []server.Middleware{stubborn}, Consume: server.MemoryNonces(0)},
	} {
		t.Run(name, func(t *testing.T) {
			bothTalk(t, opts, add, func(t *testing.T, k *talk) {
				if got := k.call("x", "{}"); got != saying("done") || booked != 1 || !slices.Equal(k.asked, []string{"one", "two"}) {
					t.Errorf("%s, booked %d times, asked %q", got, booked, k.asked)
				}
			})
		})
	}
}

// Prompts and resources ask as tools do.
func TestPromptsAndResourcesAsk(t *testing.T) {
	add := func(s *server.Server) {
		ask := func(ctx context.Context, req *server.Request) (string, error) {
			who, err := server.ElicitAs[guest](ctx, req, "who")
			if err != nil {
				return "", err
			}
			n, err := server.Once(ctx, req, "count", func(context.Context, string) (int, error) { return 7, nil })
			if err != nil {
				return "", err
			}
			_, err = req.ListRoots(ctx)
			return fmt.Sprint(who.Name, n), err
		}
		s.AddPrompt(mcp.Prompt{Name: "p"}, func(ctx context.Context, req *server.Request, _ map[string]string) (*mcp.GetPromptResult, error) {
			text, err := ask(ctx, req)
			return &mcp.GetPromptResult{Messages: []mcp.PromptMessage{mcp.UserMessage(mcp.Text(text))}}, err
		})
		read := func(ctx context.Context, req *server.Request) (*mcp.ReadResourceResult, error) {
			text, err := ask(ctx, req)
			return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{mcp.TextResource(req.Name(), "", text)}}, err
		}
		s.AddResource(mcp.Resource{URI: "r:1", Name: "r"}, read)
		s.AddResourceTemplate(mcp.ResourceTemplate{URITemplate: "t:{x}", Name: "t"}, func(ctx context.Context, req *server.Request, _ map[string]string) (*mcp.ReadResourceResult, error) {
			return read(ctx, req)
		})
	}
	bothTalk(t, server.Options{}, add, func(t *testing.T, k *talk) {
		for _, c := range []struct{ method, members, want string }{
			{mcp.MethodGetPrompt, `"name":"p"`, `"text":"Ada7"`},
			{mcp.MethodReadResource, `"uri":"r:1"`, `"text":"Ada7"`},
			{mcp.MethodReadResource, `"uri":"t:1"`, `"text":"Ada7"`},
		} {
			k.method, k.asked = c.method, nil
			if got := k.run(c.members); !strings.Contains(got, c.want) || len(k.asked) != 2 {
				t.Errorf("%s: %s, asked %q", c.members, got, k.asked)
			}
		}
	})
}

// What a logger, progress and notifications tell goes out once however often the handler runs, and progress never goes back:
// by call and by return, and also after the handler has gone on from a question.
func TestToldOnce(t *testing.T) {
	log := slog.New(server.NewLogHandler(slog.NewTextHandler(io.Discard, nil), ""))
	tell := func(ctx context.Context, req *server.Request, n float64) {
		log.InfoContext(ctx, fmt.Sprint(n))
		req.Progress(ctx, n, 9, "")
		if err := req.Notify(ctx, mcp.NotifyMessage, []byte(fmt.Sprintf(`{"level":"info","data":{"msg":"n%v"}}`, n))); err != nil && !errors.Is(err, server.ErrSuspended) {
			log.ErrorContext(ctx, err.Error())
		}
	}
	add := func(s *server.Server) {
		server.AddTool(s, mcp.Tool{Name: "by call"}, func(ctx context.Context, req *server.Request, _ struct{}) (string, error) {
			tell(ctx, req, 1)
			_, err := req.Elicit(ctx, form("a"))
			tell(ctx, req, 2)
			if err != nil {
				return "", err
			}
			if _, err = req.Elicit(ctx, form("b")); err != nil {
				tell(ctx, req, 3)
				return "", err
			}
			tell(ctx, req, 3)
			return "done", nil
		})
		server.AddTool(s, mcp.Tool{Name: "by return"}, func(ctx context.Context, req *server.Request, _ struct{}) (string, error) {
			req.Progress(ctx, 1, 9, "")
			if req.Run() < 3 {
				req.Progress(ctx, float64(req.Run())+1, 9, "")
				return "", askName("who")
			}
			req.Progress(ctx, 4, 9, "")
			return "done", nil
		})
	}
	bothTalk(t, server.Options{}, add, func(t *testing.T, k *talk) {
		if got := k.call("by call", "{}"); got != saying("done") {
			t.Error(got)
		}
		var want []string
		for n := 1; n <= 3; n++ {
			want = append(want, fmt.Sprintf(`log {"msg":"%d"}`, n), fmt.Sprintf("progress %d", n), fmt.Sprintf(`log {"msg":"n%d"}`, n))
		}
		if !slices.Equal(k.told, want) {
			t.Errorf("told\n%q, want\n%q", k.told, want)
		}
		k.told = nil
		if got := k.call("by return", "{}"); got != saying("done") {
			t.Error(got)
		}
		if want := []string{"progress 1", "progress 2", "progress 3", "progress 4"}; !slices.Equal(k.told, want) {
			t.Errorf("told %q, want %q", k.told, want)
		}
	})
}

// Answers of both ways are there together: those returned for stay while the handler asks by call.
func TestBothWaysOfAsking(t *testing.T) {
	add := func(s *server.Server) {
		server.AddTool(s, mcp.Tool{Name: "x"}, func(ctx context.Context, req *server.Request, _ struct{}) (string, error) {
			first, err := req.Elicit(ctx, form("first"))
			if err != nil {
				return "", err
			}
			second, _ := req.InputResponses().Elicit("second")
			if second == nil {
				return "", mcp.NeedInput().Elicit("second", form("second")).WithState("s")
			}
			third, err := req.Elicit(ctx, form("third"))
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("%s %s %s %s", first.Action, second.Action, third.Action, req.State()), nil
		})
	}
	bothTalk(t, server.Options{}, add, func(t *testing.T, k *talk) {
		if got := k.call("x", "{}"); got != saying("accept accept accept s") || !slices.Equal(k.asked, []string{"first", "second", "third"}) {
			t.Errorf("%s, asked %q", got, k.asked)
		}
	})
}
