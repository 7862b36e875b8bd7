package bridge_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/policy"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/skills"
)

// stage is a server and a client, of raw JSON both, with a gateway between them that masks the word SECRET in all that passes.
type stage struct {
	*client.Client
	modern, upModern bool

	mu     sync.Mutex
	serves server.RawHandler // what the server does
	asked  json.RawMessage   // what the client was asked last
	answer json.RawMessage   // what it says
}

// shelf is what the server lists.
var shelf = map[server.ListKind]string{
	server.Tools: `{"name":"SECRET","title":"SECRET","description":"SECRET","annotations":{"title":"SECRET"},"_meta":{"example.com/x":"SECRET"},` +
		`"inputSchema":{"type":"object","properties":{"SECRET":{"type":"string","title":"SECRET","description":"SECRET","default":"SECRET","enum":["SECRET"],"pattern":"SECRET"}},"required":["SECRET"]},"execution":{"taskSupport":"optional"}}`,
	server.Prompts:           `{"name":"SECRET","title":"SECRET","description":"SECRET","arguments":[{"name":"SECRET","title":"SECRET","description":"SECRET"}]}`,
	server.Resources:         `{"uri":"memo://SECRET","name":"SECRET","title":"SECRET","description":"SECRET","mimeType":"text/SECRET"}`,
	server.ResourceTemplates: `{"uriTemplate":"memo://SECRET/{SECRET}","name":"SECRET","title":"SECRET","description":"SECRET"}`,
}

// List implements server.Catalogue.
func (s *stage) List(_ context.Context, _ *server.Request, kind server.ListKind) (*server.List, error) {
	return server.NewList(kind, []json.RawMessage{json.RawMessage(shelf[kind])}, mcp.CacheHint{}), nil
}

// newStage is over HTTP, where every message is on the stream of its call whatever the revision.
func newStage(t *testing.T, modern, upModern bool) *stage {
	s := &stage{modern: modern, upModern: upModern}
	w, _, _ := policed(t, policy.Settings{Redact: []policy.Redaction{{Name: "own", Pattern: "SECRET"}}}, backend{
		name: "a", modern: upModern, http: true,
		opts: server.Options{
			Catalogue: s, Tasks: (*rawTasks)(s), Extensions: []mcp.Extension{skills.Extension()},
			Capabilities: mcp.ServerCapabilities{
				Tools: &mcp.ToolsCapability{}, Prompts: &mcp.PromptsCapability{}, Resources: &mcp.ResourcesCapability{},
				Completions: &mcp.Capability{}, Logging: &mcp.Capability{},
			},
			Fallback: s.serve,
		},
		fill: func(srv *server.Server) {
			for _, method := range []string{skills.MethodList, skills.MethodGet, skills.MethodReadDirectory} {
				srv.Handle(method, s.serve)
			}
		},
	})
	s.Client = w.dialAs(t, modern, "ann", client.Options{ // who has a name, so that there is a list of tasks
		Tasks: true, Extensions: []mcp.Extension{skills.Extension()}, LogLevel: mcp.LevelInfo,
		Capabilities: mcp.ClientCapabilities{
			Elicitation: &mcp.ElicitationCapability{Form: &mcp.Capability{}, URL: &mcp.Capability{}},
			Sampling:    &mcp.SamplingCapability{Tools: &mcp.Capability{}, Context: &mcp.Capability{}}, Roots: &mcp.RootsCapability{},
		},
		OnRequest: func(_ context.Context, req *client.IncomingRequest) (json.RawMessage, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.asked = req.Params
			return s.answer, nil
		},
	})
	return s
}

func (s *stage) serve(ctx context.Context, req *server.Request) (*server.RawResult, error) {
	s.mu.Lock()
	serves := s.serves
	s.mu.Unlock()
	return serves(ctx, req)
}

// call has the client send a request that the server serves so.
func (s *stage) call(t *testing.T, method, params string, serves server.RawHandler) (*client.RawResult, error) {
	t.Helper()
	s.mu.Lock()
	s.serves = serves
	s.mu.Unlock()
	return s.Raw(t.Context(), method, json.RawMessage(params), client.RawOptions{AnswerInput: true})
}

// Ways to say something; each gives what arrives on the other side.

// says has the client send parameters.
func (s *stage) says(t *testing.T, method, params string) (arrives string) {
	t.Helper()
	if _, err := s.call(t, method, params, func(_ context.Context, req *server.Request) (*server.RawResult, error) {
		arrives = string(req.Params())
		return &server.RawResult{Result: json.RawMessage(blank[method])}, nil
	}); err != nil {
		t.Error(err)
	}
	return arrives
}

// blank are results that say nothing.
var blank = map[string]string{
	mcp.MethodCallTool: `{"content":[]}`, mcp.MethodGetPrompt: `{"messages":[]}`, mcp.MethodReadResource: `{"contents":[]}`,
	mcp.MethodComplete: `{"completion":{"values":[]}}`,
}

// requests are requests that say nothing but what they are about.
var requests = map[string]string{
	mcp.MethodCallTool: `{"name":"SECRET"}`, mcp.MethodGetPrompt: `{"name":"SECRET"}`, mcp.MethodReadResource: `{"uri":"memo://SECRET"}`,
	mcp.MethodComplete: `{"ref":{"type":"ref/prompt","name":"SECRET"},"argument":{"name":"x","value":"y"}}`,
	skills.MethodGet:   `{"uri":"memo://SECRET"}`, skills.MethodReadDirectory: `{"uri":"memo://SECRET"}`,
}

// results has the server answer with a result.
func (s *stage) results(t *testing.T, method, result string) string {
	t.Helper()
	r, err := s.call(t, method, cmp.Or(requests[method], "{}"), func(context.Context, *server.Request) (*server.RawResult, error) {
		return &server.RawResult{Result: json.RawMessage(result)}, nil
	})
	if err != nil {
		t.Error(err)
		return ""
	}
	return string(r.Result)
}

// fails has the server answer with an error.
func (s *stage) fails(t *testing.T, method string, fault *mcp.Error) string {
	t.Helper()
	_, err := s.call(t, method, cmp.Or(requests[method], "{}"), func(context.Context, *server.Request) (*server.RawResult, error) { return nil, fault })
	var got *mcp.Error
	if !errors.As(err, &got) || got.Code != fault.Code {
		t.Errorf("got %v", err)
		return ""
	}
	arrives, err := json.Marshal(map[string]any{"message": got.Message, "data": got.Data})
	if err != nil {
		t.Error(err)
	}
	return string(arrives)
}

// demands has the server end a call with questions.
func (s *stage) demands(t *testing.T, questions string) string {
	t.Helper()
	s.mu.Lock()
	s.serves = func(context.Context, *server.Request) (*server.RawResult, error) {
		return &server.RawResult{InputRequests: json.RawMessage(questions)}, nil
	}
	s.mu.Unlock()
	r, err := s.Raw(t.Context(), mcp.MethodCallTool, json.RawMessage(`{"name":"SECRET"}`), client.RawOptions{})
	if err != nil || r.Input == nil {
		t.Fatalf("got %+v, %v, want questions", r, err)
	}
	return string(r.Input.Requests)
}

// tells has the server send a notification in the middle of a call.
func (s *stage) tells(t *testing.T, method, params string) (arrives string) {
	t.Helper()
	s.mu.Lock()
	s.serves = func(ctx context.Context, req *server.Request) (*server.RawResult, error) {
		said := json.RawMessage(params)
		if method == mcp.NotifyProgress {
			said = json.RawMessage(strings.Replace(params, "TOKEN", string(req.ProgressToken()), 1))
		}
		if err := req.Notify(ctx, method, said); err != nil {
			return nil, err
		}
		return &server.RawResult{Result: json.RawMessage(`{"content":[]}`)}, nil
	}
	s.mu.Unlock()
	stream, err := s.Start(t.Context(), mcp.MethodCallTool, json.RawMessage(`{"name":"SECRET","_meta":{"progressToken":1}}`), client.RawOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	for {
		m, err := stream.Next(t.Context())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if m.Method == method {
			arrives = string(m.Params)
		}
	}
	if _, err := stream.Result(); err != nil {
		t.Error(err)
	}
	return arrives
}

// asks has the server ask something in the middle of a call, and gives what the client is asked and what the server is answered.
func (s *stage) asks(t *testing.T, method, params, answer string) (asked, answered string) {
	t.Helper()
	s.mu.Lock()
	s.asked, s.answer = nil, json.RawMessage(answer)
	s.mu.Unlock()
	const key = "q"
	_, err := s.call(t, mcp.MethodCallTool, `{"name":"SECRET"}`, func(ctx context.Context, req *server.Request) (*server.RawResult, error) {
		question := mcp.InputRequests{key: {Method: method, Params: json.RawMessage(params)}}
		if req.AsksInPlace() {
			answers, err := req.SendInput(ctx, question)
			answered = string(answers[key])
			return &server.RawResult{Result: json.RawMessage(`{"content":[]}`)}, err
		}
		responses, state := req.Retry()
		if responses == nil {
			all, err := json.Marshal(question)
			return &server.RawResult{InputRequests: all, RequestState: json.RawMessage(`"SECRET"`)}, err
		}
		if string(state) != `"SECRET"` {
			t.Errorf("the state comes back as %s", state)
		}
		var answers map[string]json.RawMessage
		err := json.Unmarshal(responses, &answers)
		answered = string(answers[key])
		return &server.RawResult{Result: json.RawMessage(`{"content":[]}`)}, err
	})
	if err != nil {
		t.Error(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.asked), answered
}

// rawTasks is the stage as the tasks of its server: one, whose states are what the server serves.
type rawTasks stage

const aTask = `{"taskId":"task-SECRET","status":"working","statusMessage":"SECRET","createdAt":"2026-01-02T03:04:05Z","lastUpdatedAt":"2026-01-02T03:04:05Z","ttlMs":60000,"detail":"SECRET","progress":{"status":"SECRET","l":["SECRET"]},"_meta":{"example.com/x":"SECRET"}}`

var _ server.Tasks = (*rawTasks)(nil)

func (r *rawTasks) Attach(s *server.Server) {
	for _, method := range []string{mcp.MethodGetTask, mcp.MethodUpdateTask, mcp.MethodCancelTask, mcp.MethodTaskResult, mcp.MethodListTasks} {
		s.Handle(method, (*stage)(r).serve)
	}
}
func (r *rawTasks) Capability(*server.Request) json.RawMessage {
	return json.RawMessage(`{"cancel":{},"requests":{"tools":{"call":{}}}}`)
}
func (r *rawTasks) Finished(context.Context, *server.Request, server.TaskOutcome) (*server.ExtensionResult, error) {
	return nil, errors.New("no tool is registered")
}
func (r *rawTasks) Task(context.Context, string) json.RawMessage          { return nil }
func (r *rawTasks) Follows(context.Context, *server.Request, string) bool { return false }
func (r *rawTasks) Shutdown(context.Context) error                        { return nil }

// task begins a task, and asks about it by a method while its server serves so. began is what the client is told of it.
func (s *stage) task(t *testing.T, method string, serves server.RawHandler) (began, told string, err error) {
	t.Helper()
	s.mu.Lock()
	s.serves = func(_ context.Context, req *server.Request) (*server.RawResult, error) {
		if req.Method() != mcp.MethodCallTool { // the gateway asks how far it is, for the session
			return &server.RawResult{Result: json.RawMessage(aTask)}, nil
		}
		return &server.RawResult{ResultType: mcp.ResultTask, Result: json.RawMessage(aTask)}, nil
	}
	s.mu.Unlock()
	r, err := s.Raw(t.Context(), mcp.MethodCallTool, json.RawMessage(`{"name":"SECRET"}`), client.RawOptions{Task: json.RawMessage("{}")})
	if err != nil || r.ResultType != mcp.ResultTask {
		t.Fatalf("got %+v, %v, want a task", r, err)
	}
	params, err := json.Marshal(map[string]string{"taskId": member(t, r.Result, "taskId")})
	if err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	s.serves = serves
	s.mu.Unlock()
	about, err := s.Raw(t.Context(), method, params, client.RawOptions{})
	if err != nil {
		return string(r.Result), "", err
	}
	return string(r.Result), string(about.Result), nil
}

// secretsIn are the places of a JSON value where a text still holds the word.
func secretsIn(t *testing.T, raw string) (places []string) {
	t.Helper()
	var value any
	if err := json.Unmarshal([]byte(raw), &value); err != nil {
		t.Fatalf("%q arrives: %v", raw, err)
	}
	var walk func(at string, value any)
	walk = func(at string, value any) {
		switch value := value.(type) {
		case string:
			if strings.Contains(value, "SECRET") {
				places = append(places, at)
			}
		case []any:
			for _, one := range value {
				walk(at+"[]", one)
			}
		case map[string]any:
			for name, one := range value {
				walk(strings.TrimPrefix(at+"."+name, "."), one)
			}
		}
	}
	walk("", value)
	slices.Sort(places)
	return slices.Compact(places)
}
