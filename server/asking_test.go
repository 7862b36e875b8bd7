package server_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

const everything = `{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}`

// talk is one call of a tool to its end by a client that answers what it is asked.
type talk struct {
	*wire
	asked  []string // what was asked: the message of each question, or its method
	told   []string // progress and log messages
	rounds int      // in which questions came
	method string   // what is called; "" for tools/call
	tokens []string // the states that came with questions, quoted

	extra string // further answers of every retry, each with a comma behind it

	// reply answers a question; "" leaves it out, which only a modern client can.
	reply func(method string, params json.RawMessage) string
}

func newTalk(t testing.TB, s *server.Server, revision string) *talk {
	t.Helper()
	k := &talk{wire: dialWith(t, s, revision, everything), reply: func(method string, params json.RawMessage) string {
		return string(answerTo(method, params))
	}}
	k.meta = `,"` + mcp.MetaLogLevel + `":"debug"`
	return k
}

// call runs the tool and returns its last answer in one line, as plain does.
func (k *talk) call(name, arguments string) string {
	k.t.Helper()
	return k.run(fmt.Sprintf(`"name":%q,"arguments":%s`, name, arguments))
}

// run calls the method with the members and goes on to the last answer.
func (k *talk) run(members string) string {
	k.t.Helper()
	retry := ""
	for range 20 {
		m := k.once(members + retry)
		if member(k.t, m.Result, "resultType") != `"input_required"` {
			return plain(m)
		}
		k.rounds++
		k.tokens = append(k.tokens, member(k.t, m.Result, "requestState"))
		var responses []string
		requests, _ := jsonrpc.Member(m.Result, "inputRequests")
		for f := range jsonrpc.Fields(requests) {
			if answer := k.question(f.Value); answer != "" {
				responses = append(responses, string(f.Name)+":"+answer)
			}
		}
		retry = `,"inputResponses":{` + k.extra + strings.Join(responses, ",") + `},"requestState":` + member(k.t, m.Result, "requestState")
	}
	return "asked without end"
}

// question answers one question, {"method":...,"params":...}.
func (k *talk) question(raw json.RawMessage) string {
	method, _ := jsonrpc.Text([]byte(member(k.t, raw, "method")))
	params := json.RawMessage(member(k.t, raw, "params"))
	what, ok := mcp.Meta(params).Text("message")
	if !ok {
		what = method
	}
	k.asked = append(k.asked, what)
	return k.reply(method, params)
}

// once sends the call and returns its answer. What a legacy server asks on the way is answered.
func (k *talk) once(members string) *jsonrpc.Message {
	k.t.Helper()
	old := k.meta
	k.meta += `,"progressToken":"p"`
	defer func() { k.meta = old }()
	if mcp.IsLegacy(k.revision) {
		members += `,"_meta":{"progressToken":"p"}`
	}
	id := jsonrpc.IntID(int64(k.start(cmp.Or(k.method, mcp.MethodCallTool), members)))
	for {
		switch m := k.Next(); {
		case m.Method == mcp.NotifyProgress:
			k.told = append(k.told, "progress "+member(k.t, m.Params, "progress"))
		case m.Method == mcp.NotifyMessage:
			k.told = append(k.told, "log "+member(k.t, m.Params, "data"))
		case m.Method == mcp.NotifyElicitationComplete:
			k.told = append(k.told, "page done")
		case m.Method != "":
			k.rounds++
			k.Send(`{"jsonrpc":"2.0","id":` + string(m.ID.Raw()) + `,"result":` + k.question(m.Frame()) + `}`)
		case m.ID == id:
			return m
		}
	}
}

// bothTalk runs one script in both eras.
func bothTalk(t *testing.T, opts server.Options, add func(s *server.Server), script func(t *testing.T, k *talk)) {
	t.Helper()
	for _, revision := range bothEras {
		t.Run(revision, func(t *testing.T) {
			s := newServer(opts)
			add(s)
			script(t, newTalk(t, s, revision))
		})
	}
}

func form(message string) mcp.ElicitFormParams {
	return mcp.ElicitFormParams{Message: message, RequestedSchema: nameForm}
}

func sayHi() mcp.CreateMessageParams {
	return mcp.CreateMessageParams{MaxTokens: 9, Messages: []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: []mcp.Content{mcp.Text("hi")}}}}
}

// One plain handler asks three times, tells of its work between, and does a lasting thing once. It is the same for the
// client in both eras: every question once, every word once, the result of the last run.
func TestAskByCall(t *testing.T) {
	booked := 0
	add := func(s *server.Server) {
		booked = 0
		server.AddTool(s, mcp.Tool{Name: "trip"}, func(ctx context.Context, req *server.Request, in struct{ City string }) (string, error) {
			req.Progress(ctx, 1, 4, "")
			req.Log(ctx, mcp.LevelInfo, "", "begin")
			who, err := req.Elicit(ctx, form("who"))
			if err != nil {
				return "", err
			}
			req.Progress(ctx, 2, 4, "")
			req.Log(ctx, mcp.LevelInfo, "", "asked who")
			said, err := req.CreateMessage(ctx, sayHi())
			if err != nil {
				return "", err
			}
			req.Progress(ctx, 3, 4, "")
			receipt, err := server.Once(ctx, req, "book", func(_ context.Context, key string) (string, error) {
				booked++
				return fmt.Sprintf("receipt %d", booked), nil
			})
			if err != nil {
				return "", err
			}
			req.Log(ctx, mcp.LevelInfo, "", "booked")
			roots, err := req.ListRoots(ctx)
			if err != nil {
				return "", err
			}
			req.Progress(ctx, 4, 4, "")
			return fmt.Sprintf("%s, %s, %s, %s, %s", in.City, who.Content, said.Text(), receipt, roots.Roots[0].URI), nil
		})
	}
	bothTalk(t, server.Options{}, add, func(t *testing.T, k *talk) {
		if got, want := k.call("trip", `{"City":"Oslo"}`), saying(`Oslo, {"name":"Ada"}, Paris, receipt 1, file:///home`); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if want := []string{"who", "sampling/createMessage", "roots/list"}; !slices.Equal(k.asked, want) || k.rounds != 3 || booked != 1 {
			t.Errorf("asked %v in %d rounds, booked %d times", k.asked, k.rounds, booked)
		}
		want := []string{"progress 1", `log "begin"`, "progress 2", `log "asked who"`, "progress 3", `log "booked"`, "progress 4"}
		if !slices.Equal(k.told, want) {
			t.Errorf("told\n%q, want\n%q", k.told, want)
		}
	})
}

type guest struct {
	Name   string   `json:"name" jsonschema:"title=Your name,min=1"`
	Nights int      `json:"nights" jsonschema:"min=1,max=7,default=2"`
	Meal   string   `json:"meal" jsonschema:"enum=fish|soup,default=soup"`
	Extras []string `json:"extras,omitempty" jsonschema:"enum=sauna|boat"`
	Note   *string  `json:"note,omitempty"`
}

// A form for a struct comes back as the struct, with its defaults.
func TestElicitAs(t *testing.T) {
	add := func(s *server.Server) {
		server.AddTool(s, mcp.Tool{Name: "ask"}, func(ctx context.Context, req *server.Request, _ struct{}) (string, error) {
			g, err := server.ElicitAs[guest](ctx, req, "Who comes?")
			return fmt.Sprintf("%s %d %s %v %v", g.Name, g.Nights, g.Meal, g.Extras, g.Note == nil), err
		})
	}
	for answer, want := range map[string]string{
		`{"action":"accept","content":{"name":"Ada"}}`:                                            "Ada 2 soup [] true",
		`{"action":"accept","content":{"name":"Ada","nights":3,"meal":"fish","extras":["boat"]}}`: "Ada 3 fish [boat] true",
		`{"action":"decline"}`: "the user declined to answer",
		`{"action":"cancel"}`:  "the user left the question without an answer",
	} {
		bothTalk(t, server.Options{}, add, func(t *testing.T, k *talk) {
			k.reply = func(_ string, params json.RawMessage) string {
				if form := member(t, params, "requestedSchema", "properties", "meal"); !strings.Contains(form, `"default":"soup"`) {
					t.Errorf("the form: %s", params)
				}
				return answer
			}
			if got := k.call("ask", "{}"); !strings.Contains(got, want) {
				t.Errorf("%s: %s, want %s", answer, got, want)
			}
		})
	}
}

// Several questions at once go out together, and what a client leaves out or gets wrong is asked again alone.
func TestAskSeveral(t *testing.T) {
	add := func(s *server.Server) {
		rawTool(t, s, "ask", func(ctx context.Context, req *server.Request) (*mcp.CallToolResult, error) {
			answers, err := req.Ask(ctx, mcp.NeedInput().Elicit("a", form("a")).Elicit("b", form("b")).ListRoots("c"))
			if err != nil {
				return nil, err
			}
			b, err := answers.Elicit("b")
			if err != nil {
				return nil, err
			}
			last, err := req.Elicit(ctx, form("d"), server.Named("a"))
			return mcp.TextResult(fmt.Sprintf("%v %s %s", answers.Keys(), b.Content, last.Action)), err
		})
	}
	bothTalk(t, server.Options{}, add, func(t *testing.T, k *talk) {
		wrong := true
		k.reply = func(method string, params json.RawMessage) string {
			message, _ := mcp.Meta(params).Text("message")
			if message == "b" && wrong {
				wrong = false
				return `{"action":"accept","content":{"name":7}}`
			}
			return string(answerTo(method, params))
		}
		if got, want := k.call("ask", "{}"), saying(`[a b c] {"name":"Ada"} accept`); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		slices.Sort(k.asked[:3])
		if want := []string{"a", "b", "roots/list", "b", "d"}; !slices.Equal(k.asked, want) {
			t.Errorf("asked %v, want %v", k.asked, want)
		}
	})
}

// A handler that goes on after its question is written down, once in a run.
func TestHandlersThatGoOnAreLogged(t *testing.T) {
	var log strings.Builder
	s := newServer(server.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	server.AddTool(s, mcp.Tool{Name: "x"}, func(ctx context.Context, req *server.Request, _ struct{}) (string, error) {
		_, err := req.Elicit(ctx, form("q"))
		if err != nil {
			req.Progress(ctx, 1, 1, "")
			req.Log(ctx, mcp.LevelError, "", err.Error())
		}
		return "done", err
	})
	k := newTalk(t, s, modern)
	if got := k.call("x", "{}"); got != saying("done") {
		t.Error(got)
	}
	if n := strings.Count(log.String(), "goes on after its question"); n != 1 || !strings.Contains(log.String(), `does="sends progress"`) {
		t.Errorf("written down %d times: %s", n, log.String())
	}
}

// A run that has ended with a question does nothing any more, whatever its handler does with the error.
func TestNothingAfterASuspension(t *testing.T) {
	errs := make(chan error, 10)
	handlers := map[string]func(ctx context.Context, req *server.Request) (string, error){
		"returns it": func(ctx context.Context, req *server.Request) (string, error) {
			_, err := req.Elicit(ctx, form("q"))
			return "done", err
		},
		"wraps it": func(ctx context.Context, req *server.Request) (string, error) {
			if _, err := req.Elicit(ctx, form("q")); err != nil {
				return "", fmt.Errorf("ask: %w", err)
			}
			return "done", nil
		},
		"swallows it": func(ctx context.Context, req *server.Request) (string, error) {
			if _, err := req.Elicit(ctx, form("q")); err != nil {
				return "never mind", nil //nolint:nilerr // what people write
			}
			return "done", nil
		},
		"goes on": func(ctx context.Context, req *server.Request) (string, error) {
			_, err := req.Elicit(ctx, form("q"))
			if err == nil {
				return "done", nil
			}
			req.Progress(ctx, 9, 9, "")
			req.Log(ctx, mcp.LevelError, "", "it failed")
			errs <- req.Notify(ctx, mcp.NotifyMessage, json.RawMessage(`{"level":"error","data":"it failed"}`))
			_, again := req.ListRoots(ctx)
			errs <- again
			_, again = server.Once(ctx, req, "pay", func(context.Context, string) (int, error) { panic("paid") })
			errs <- again
			errs <- req.Later(ctx)
			errs <- req.Until(ctx, func(context.Context) (bool, error) { panic("polled") })
			errs <- context.Cause(ctx)
			select {
			case <-ctx.Done():
			case <-time.After(5 * time.Second):
				return "", errors.New("the context goes on")
			}
			return "", errors.New("it failed")
		},
		"returns a question": func(ctx context.Context, req *server.Request) (string, error) {
			if _, err := req.Elicit(ctx, form("q")); err != nil {
				return "", mcp.NeedInput().ListRoots("another")
			}
			return "done", nil
		},
	}
	for name, h := range handlers {
		t.Run(name, func(t *testing.T) {
			add := func(s *server.Server) {
				server.AddTool(s, mcp.Tool{Name: "x"}, func(ctx context.Context, req *server.Request, _ struct{}) (string, error) { return h(ctx, req) })
			}
			bothTalk(t, server.Options{}, add, func(t *testing.T, k *talk) {
				if got := k.call("x", "{}"); got != saying("done") || len(k.told) > 0 || !slices.Equal(k.asked, []string{"q"}) {
					t.Errorf("%s, told %q, asked %q", got, k.told, k.asked)
				}
			})
			for len(errs) > 0 {
				if err := <-errs; !errors.Is(err, server.ErrSuspended) {
					t.Errorf("a call after the question: %v", err)
				}
			}
		})
	}
}
