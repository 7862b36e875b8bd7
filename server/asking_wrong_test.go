package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// What people write who have not read how runs work: all of it must end well, or say what is wrong.

var ageForm = json.RawMessage(`{"type":"object","properties":{"age":{"type":"integer"}}}`)

// doing carries out one step of a handler, given as a word: "form words", "named words" (a form named by its first word),
// "age", "roots", "model", "once key", "log words", "progress n".
func doing(ctx context.Context, req *server.Request, step string, did *[]string) error {
	kind, words, _ := strings.Cut(step, " ")
	var err error
	switch kind {
	case "form":
		_, err = req.Elicit(ctx, form(words))
	case "named":
		name, _, _ := strings.Cut(words, " ")
		_, err = req.Elicit(ctx, form(words), server.Named(name))
	case "age":
		_, err = req.Elicit(ctx, mcp.ElicitFormParams{Message: "age", RequestedSchema: ageForm})
	case "roots":
		_, err = req.ListRoots(ctx)
	case "model":
		_, err = req.CreateMessage(ctx, sayHi())
	case "once":
		_, err = server.Once(ctx, req, words, func(context.Context, string) (bool, error) {
			*did = append(*did, words)
			return true, nil
		})
	case "log":
		req.Log(ctx, mcp.LevelInfo, "", words)
	default:
		panic(step)
	}
	return err
}

// A run that asks something else than the one before asks from there on anew, unless a step stands behind it.
func TestAnotherQuestionInTheNextRun(t *testing.T) {
	for name, c := range map[string]struct {
		runs  [][]string // what each run does; the last for all further ones
		asked string
		did   string
		want  string // part of the answer
	}{
		"other words": {[][]string{{"form one"}, {"form two"}}, "one", "", "done"},
		"kind":        {[][]string{{"form one"}, {"roots"}}, "one roots/list", "", "done"},
		"name":        {[][]string{{"named x"}, {"named y"}}, "x y", "", "done"},
		"a name lost": {[][]string{{"named x"}, {"form x"}}, "x x", "", "done"},
		"form":        {[][]string{{"form one"}, {"age"}}, "one age", "", "done"},
		"later ones are dropped": {
			[][]string{{"form one", "roots", "model"}, {"form one", "roots", "model"}, {"form one", "roots", "model"}, {"age", "roots", "model"}},
			"one roots/list sampling/createMessage age roots/list sampling/createMessage", "", "done",
		},
		"earlier ones stay": {[][]string{{"form one", "roots"}, {"form one", "roots"}, {"form one", "model"}}, "one roots/list sampling/createMessage", "", "done"},
		"fewer":             {[][]string{{"form one", "roots"}, {"form one"}}, "one", "", "done"},
		"a step before":     {[][]string{{"once pay", "form one"}, {"once pay", "roots"}}, "one roots/list", "pay", "done"},
		"a step that moves": {[][]string{{"once pay", "form one"}, {"form one", "once pay", "roots"}}, "one roots/list", "pay", "done"},
		"a step behind": {
			[][]string{{"form one", "once pay", "roots"}, {"form one", "once pay", "roots"}, {"age", "once pay", "roots"}},
			"one roots/list", "pay", `after that the step \"pay\" was done, which cannot be done again`,
		},
		"a step behind, and a name": {
			[][]string{{"named x", "once pay", "roots"}, {"named x", "once pay", "roots"}, {"named y", "once pay", "roots"}},
			"x roots/list", "pay", `question 1 of this run is elicitation/create \"y\", and in the run before it was elicitation/create \"x\"`,
		},
		"never the same": {[][]string{{"form one"}, {"roots"}, {"form one"}, {"roots"}, {"form one"}, {"roots"}, {"form one"}, {"roots"}, {"form one"}, {"roots"}, {"form one"}},
			"one roots/list one roots/list one roots/list one roots/list one roots/list", "", "asked 10 times"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(server.Options{})
			run, did := 0, []string(nil)
			server.AddTool(s, mcp.Tool{Name: "x"}, func(ctx context.Context, req *server.Request, _ struct{}) (string, error) {
				run++
				if req.Run() != run {
					t.Errorf("run %d counts as %d", run, req.Run())
				}
				for _, step := range c.runs[min(run, len(c.runs))-1] {
					if err := doing(ctx, req, step, &did); err != nil {
						return "", err
					}
				}
				return "done", nil
			})
			k := newTalk(t, s, modern)
			got := k.call("x", "{}")
			if asked := strings.Join(k.asked, " "); !strings.Contains(got, c.want) || asked != c.asked || strings.Join(did, " ") != c.did {
				t.Errorf("%s\nasked %s\ndid %s", got, asked, did)
			}
		})
	}
}

// gate is a StateStore whose Put waits, so that a question stays half put.
type gate struct {
	server.StateStore
	entered, leave chan struct{}
	once           sync.Once
}

func (g *gate) Put(ctx context.Context, id string, sealed []byte, expiry time.Time) error {
	g.once.Do(func() {
		close(g.entered)
		<-g.leave
	})
	return g.StateStore.Put(ctx, id, sealed, expiry)
}

// Whoever asks, or begins a step, while a question is being put is told to use Ask; the first question goes its way.
func TestTwoQuestionsAtOnce(t *testing.T) {
	for _, revision := range bothEras {
		t.Run(revision, func(t *testing.T) {
			g := &gate{StateStore: server.MemoryStates(0, 0), entered: make(chan struct{}), leave: make(chan struct{})}
			s := newServer(server.Options{StateStore: g, MaxStateBytes: 1})
			var errs []error
			server.AddTool(s, mcp.Tool{Name: "x"}, func(ctx context.Context, req *server.Request, _ struct{}) (string, error) {
				if req.Run() == 1 {
					go func() {
						defer close(g.leave)
						<-g.entered
						_, second := req.ListRoots(ctx)
						_, step := server.Once(ctx, req, "pay", func(context.Context, string) (int, error) { panic("paid") })
						errs = append(errs, second, req.Later(ctx), step)
					}()
				}
				_, err := req.Elicit(ctx, form("q"))
				return "done", err
			})
			k := newTalk(t, s, revision)
			k.reply = func(method string, params json.RawMessage) string {
				g.once.Do(func() { // legacy: no state is sealed
					close(g.entered)
					<-g.leave
				})
				return string(answerTo(method, params))
			}
			if got := k.call("x", "{}"); got != saying("done") || !slices.Equal(k.asked, []string{"q"}) {
				t.Errorf("%s, asked %q", got, k.asked)
			}
			for i, part := range []string{"Request.Ask", "Request.Ask", `the step "pay" is begun while a question is being asked`} {
				if errs[i] == nil || !strings.Contains(errs[i].Error(), part) {
					t.Errorf("error %d: %v", i, errs[i])
				}
			}
		})
	}
}

// A goroutine that asks when another one has just ended the run with its question learns both: that the run is over, and why it
// should not have asked.
func TestQuestionAfterTheLast(t *testing.T) {
	s := newServer(server.Options{})
	var late error
	server.AddTool(s, mcp.Tool{Name: "x"}, func(ctx context.Context, req *server.Request, _ struct{}) (string, error) {
		_, err := req.Elicit(ctx, form("q"))
		if errors.Is(err, server.ErrSuspended) {
			other := make(chan struct{})
			go func() { // ends before its handler
				defer close(other)
				_, late = req.ListRoots(ctx)
			}()
			<-other
		}
		return "done", err
	})
	if got := newTalk(t, s, modern).call("x", "{}"); got != saying("done") {
		t.Error(got)
	}
	if !errors.Is(late, server.ErrSuspended) || !strings.Contains(late.Error(), "Request.Ask") {
		t.Errorf("got %v", late)
	}
}

// Named questions of two goroutines are never given each other's answers, whatever the order.
func TestGoroutinesThatAsk(t *testing.T) {
	add := func(s *server.Server) {
		server.AddTool(s, mcp.Tool{Name: "x"}, func(ctx context.Context, req *server.Request, _ struct{}) (string, error) {
			var group sync.WaitGroup
			answers, errs := make([]string, 2), make([]error, 2)
			for i, name := range []string{"left", "right"} {
				group.Go(func() {
					a, err := req.Elicit(ctx, form(name), server.Named(name))
					if errs[i] = err; err == nil {
						answers[i] = string(a.Content)
					}
				})
			}
			group.Wait()
			return strings.Join(answers, " "), errors.Join(errs...)
		})
	}
	bothTalk(t, server.Options{}, add, func(t *testing.T, k *talk) {
		k.reply = func(_ string, params json.RawMessage) string {
			return `{"action":"accept","content":{"name":` + member(t, params, "message") + `}}`
		}
		got := k.call("x", "{}")
		right := saying(`{"name":"left"} {"name":"right"}`)
		if got != right && !strings.Contains(got, "Request.Ask") && !strings.Contains(got, "asked 10 times") {
			t.Error(got)
		}
	})
}

// A question inside a step of Once would not be asked when the step is done: it is refused.
func TestQuestionInAStep(t *testing.T) {
	add := func(s *server.Server) {
		server.AddTool(s, mcp.Tool{Name: "x"}, func(ctx context.Context, req *server.Request, _ struct{}) (string, error) {
			return server.Once(ctx, req, "pay", func(ctx context.Context, _ string) (string, error) {
				_, err := req.Elicit(ctx, form("sure?"))
				return "paid", err
			})
		})
	}
	bothTalk(t, server.Options{}, add, func(t *testing.T, k *talk) {
		if got := k.call("x", "{}"); !strings.Contains(got, "ask before the step or after it") || len(k.asked) > 0 {
			t.Errorf("%s, asked %q", got, k.asked)
		}
	})
}

// What a client answers besides, too late, in the wrong shape or not at all does no harm: the open question is asked again.
func TestAnswersThatAreNone(t *testing.T) {
	add := func(s *server.Server) {
		server.AddTool(s, mcp.Tool{Name: "x"}, func(ctx context.Context, req *server.Request, _ struct{}) (string, error) {
			a, err := req.Elicit(ctx, form("a"))
			if err != nil {
				return "", err
			}
			if keys := req.InputResponses().Keys(); len(keys) > 0 {
				return "", fmt.Errorf("answers %q", keys)
			}
			b, err := req.Elicit(ctx, form("b"))
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("%s %s", a.Content, b.Content), nil
		})
	}
	const good = `{"action":"accept","content":{"name":"Ada"}}`
	for name, c := range map[string]struct {
		extra string   // sent with every retry
		first []string // the first answers, in their order; then good ones
		asked int
	}{
		"nothing odd":       {"", nil, 2},
		"extra":             {`"x":` + good + `,"question-3":` + good + `,`, nil, 2},
		"missing":           {"", []string{"", ""}, 4},
		"missing later":     {"", []string{good, ""}, 3},
		"null":              {"", []string{"null"}, 3},
		"wrapped":           {"", []string{`{"result":` + good + `}`}, 3},
		"misfit":            {"", []string{`{"action":"accept","content":{"name":7}}`}, 3},
		"unknown action":    {"", []string{`{"action":"maybe"}`}, 3},
		"another kind":      {"", []string{`{"roots":[]}`}, 3},
		"accepted, nothing": {"", []string{`{"action":"accept"}`}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			bothTalk(t, server.Options{}, add, func(t *testing.T, k *talk) {
				if k.revision == legacy && (c.extra != "" || slices.Contains(c.first, "") || slices.Contains(c.first, "null")) {
					t.Skip("a request has one answer, which is an object")
				}
				k.extra = c.extra
				first := c.first
				k.reply = func(string, json.RawMessage) string {
					if len(first) == 0 {
						return good
					}
					answer := first[0]
					first = first[1:]
					return answer
				}
				if got := k.call("x", "{}"); got != saying(`{"name":"Ada"} {"name":"Ada"}`) || len(k.asked) != c.asked {
					t.Errorf("%s, asked %q", got, k.asked)
				}
			})
		})
	}
}

// An answer to a question of a round before does not replace the one that was given.
func TestLateAnswer(t *testing.T) {
	s := newServer(server.Options{})
	server.AddTool(s, mcp.Tool{Name: "x"}, func(ctx context.Context, req *server.Request, _ struct{}) (string, error) {
		a, err := req.Elicit(ctx, form("a"))
		if err != nil {
			return "", err
		}
		_, err = req.ListRoots(ctx)
		return string(a.Content), err
	})
	k := newTalk(t, s, modern)
	k.reply = func(method string, params json.RawMessage) string {
		if method == mcp.MethodListRoots {
			k.extra = `"question-1":{"action":"accept","content":{"name":"Eve"}},`
		}
		return string(answerTo(method, params))
	}
	if got := k.call("x", "{}"); got != saying(`{"name":"Ada"}`) {
		t.Errorf("got %s", got)
	}
}

// What the user does instead of answering is an answer, and the same in every later run.
func TestDeclinedAndCancelled(t *testing.T) {
	add := func(s *server.Server) {
		server.AddTool(s, mcp.Tool{Name: "x"}, func(ctx context.Context, req *server.Request, _ struct{}) (string, error) {
			a, err := req.Elicit(ctx, form("a"))
			if err != nil {
				return "", err
			}
			if _, err := server.ElicitAs[guest](ctx, req, "b"); !errors.Is(err, server.ErrCancelled) {
				return "", err
			}
			_, err = req.ListRoots(ctx)
			return string(a.Action), err
		})
	}
	bothTalk(t, server.Options{}, add, func(t *testing.T, k *talk) {
		k.reply = func(method string, params json.RawMessage) string {
			switch member(t, params, "message") {
			case `"a"`:
				return `{"action":"decline"}`
			case `"b"`:
				return `{"action":"cancel","content":null}`
			}
			return string(answerTo(method, params))
		}
		if got := k.call("x", "{}"); got != saying("decline") || len(k.asked) != 3 {
			t.Errorf("%s, asked %q", got, k.asked)
		}
	})
}

// A handler that can go on without an answer does, in the same way in every run.
func TestCannotAsk(t *testing.T) {
	add := func(s *server.Server) {
		server.AddTool(s, mcp.Tool{Name: "falls back"}, func(ctx context.Context, req *server.Request, _ struct{}) (string, error) {
			said := "nobody"
			switch a, err := req.Elicit(ctx, form("who")); {
			case err == nil:
				said = string(a.Content)
			case !errors.Is(err, server.ErrCannotAsk):
				return "", err
			}
			req.Log(ctx, mcp.LevelInfo, "", "go on")
			roots, err := req.ListRoots(ctx)
			if err != nil {
				return "", err
			}
			return said + " in " + roots.Roots[0].URI, nil
		})
		server.AddTool(s, mcp.Tool{Name: "gives up"}, func(ctx context.Context, req *server.Request, _ struct{}) (string, error) {
			_, err := req.Elicit(ctx, form("who"))
			return "", fmt.Errorf("ask: %w", err)
		})
	}
	for _, revision := range []string{mcp.Version20241105, mcp.Version20250326, mcp.Version20250618, legacy, modern} {
		t.Run(revision, func(t *testing.T) {
			s := newServer(server.Options{})
			add(s)
			k := newTalk(t, s, revision)
			old := dialWith(t, s, revision, `{"roots":{},"sampling":{}}`)
			old.meta, k.wire = k.meta, old
			if got := k.call("falls back", "{}"); got != saying("nobody in file:///home") || !slices.Equal(k.asked, []string{"roots/list"}) {
				t.Errorf("%s, asked %q", got, k.asked)
			}
			if want := []string{`log "go on"`}; !slices.Equal(k.told, want) {
				t.Errorf("told %q", k.told)
			}
			got := k.call("gives up", "{}")
			if want := `error -32021 {"requiredCapabilities":{"elicitation":{"form":{}}}}`; revision == modern && got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			if revision != modern && !strings.Contains(got, `has to ask its client something first, and could not`) {
				t.Errorf("got %s", got)
			}
		})
	}
}

// A client refuses a question of the legacy era with an error.
func TestRefusedQuestion(t *testing.T) {
	s := newServer(server.Options{})
	server.AddTool(s, mcp.Tool{Name: "x"}, func(ctx context.Context, req *server.Request, _ struct{}) (string, error) {
		_, err := req.CreateMessage(ctx, sayHi())
		if !errors.Is(err, server.ErrCannotAsk) {
			return "", fmt.Errorf("got %w", err)
		}
		return err.Error(), nil
	})
	w := dialWith(t, s, legacy, everything)
	w.start("tools/call", `"name":"x"`)
	w.Fail(w.Next(), -1, "the user has rejected it")
	if got := plain(w.Next()); !strings.Contains(got, "the user has rejected it") || strings.Contains(got, "isError") {
		t.Error(got)
	}
}

// Who asks where nobody can be asked by call is told so: raw handlers, middleware, goroutines that outlive their handler.
func TestWhereQuestionsAreRefused(t *testing.T) {
	left := make(chan error, 4)
	leave := func(ctx context.Context, req *server.Request) {
		_, err := req.ListRoots(context.WithoutCancel(ctx))
		left <- err
		_, err = server.Once(ctx, req, "k", func(context.Context, string) (int, error) { return 1, nil })
		left <- err
	}
	for _, revision := range bothEras {
		s := newServer(server.Options{
			Capabilities: mcp.ServerCapabilities{Tools: &mcp.ToolsCapability{}},
			Fallback: func(ctx context.Context, req *server.Request) (*server.RawResult, error) {
				_, err := req.Elicit(ctx, form("q"))
				return nil, mcp.Errorf(-5, "%v", err)
			},
			Middleware: []server.Middleware{func(next server.Call) server.Call {
				return func(ctx context.Context, req *server.Request) (*server.Result, error) {
					if req.Method() != mcp.MethodCallTool {
						return next(ctx, req)
					}
					leave(ctx, req)
					defer leave(ctx, req)
					return next(ctx, req)
				}
			}},
		})
		gone := make(chan *server.Request, 1)
		server.AddTool(s, mcp.Tool{Name: "x"}, func(_ context.Context, req *server.Request, _ struct{}) (string, error) {
			gone <- req
			return "done", nil
		})
		k := newTalk(t, s, revision)
		check := func(where string) {
			t.Helper()
			for len(left) > 0 {
				if err := <-left; err == nil || !strings.Contains(err.Error(), "tools, prompts and resources, while they run") {
					t.Errorf("%s, %s: %v", revision, where, err)
				}
			}
		}
		if got := k.call("x", "{}"); got != saying("done") || len(left) != 4 {
			t.Errorf("%s: %s", revision, got)
		}
		check("middleware")
		leave(t.Context(), <-gone)
		check("a goroutine that was left")
		m := k.once(`"name":"unknown"`)
		if m.Error == nil || !strings.Contains(m.Error.Message, "a raw handler returns them") || len(k.asked) > 0 {
			t.Errorf("%s: a raw handler: %s, asked %q", revision, m.Frame(), k.asked)
		}
		for len(left) > 0 {
			<-left
		}
	}
}
