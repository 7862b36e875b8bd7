package bridge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/skills"
)

// Why a text stays where it is.
const (
	aName    = "things are asked for by it"
	anID     = "it joins messages"
	aPage    = "it has to lead there"
	aFile    = "pictures and files are not looked at"
	aKind    = "it is a word of the protocol"
	aChoice  = "one of these has to come back"
	aTrace   = "traces are joined by it, in a form of its own"
	elsehow  = "it holds the state that tasks/get gives; see TestRedactionOfTasks"
	noText   = "it holds no text of a server or client but names and addresses"
	ownText  = "the gateway says it of itself; of servers no more than the settings of extensions"
	ofOwnWay = "the gateway has its own with each side"
)

// none is what arrives where a revision has nothing of it.
const none = "nothing, in these eras"

// passing is one way by which text goes from a server to a client, or back.
type passing struct {
	what  string                              // the method, and which side's word
	run   func(t *testing.T, s *stage) string // says SECRET everywhere; what arrives, or none
	stays map[string]string                   // where it is not masked, and why
}

const (
	blocks = `[{"type":"text","text":"SECRET","annotations":{"lastModified":"SECRET"},"_meta":{"example.com/x":"SECRET"}},{"type":"image","data":"SECRET","mimeType":"image/SECRET"},` +
		`{"type":"resource","resource":{"uri":"memo://SECRET","text":"SECRET"}},{"type":"resource","resource":{"uri":"memo://b","blob":"SECRET"}},{"type":"resource_link","uri":"memo://SECRET","name":"l","title":"SECRET","description":"SECRET"}]`
	conversation = `{"maxTokens":5,"systemPrompt":"SECRET","stopSequences":["SECRET"],"metadata":{"x":"SECRET"},"modelPreferences":{"hints":[{"name":"SECRET"}]},` +
		`"tools":[{"name":"SECRET","description":"SECRET","inputSchema":{"type":"object","properties":{"x":{"enum":["SECRET"],"description":"SECRET"}}}}],` +
		`"messages":[{"role":"user","content":{"type":"text","text":"SECRET"}},{"role":"assistant","content":[{"type":"tool_use","id":"SECRET","name":"SECRET","input":{"name":"SECRET"}}]},` +
		`{"role":"user","content":[{"type":"tool_result","toolUseId":"SECRET","content":` + blocks + `,"structuredContent":{"id":"SECRET"}}]}]}`
	form = `{"mode":"form","message":"SECRET","requestedSchema":{"type":"object","properties":{"a":{"type":"string","title":"SECRET","description":"SECRET","default":"SECRET"},"b":{"type":"string","enum":["SECRET"]}},"required":["a"]}}`
	page = `{"mode":"url","message":"SECRET","url":"https://example.com/?s=SECRET","elicitationId":"SECRET"}`
)

var staysInBlocks = map[string]string{
	".annotations.lastModified": aKind, ".data": aFile, ".mimeType": aKind, ".resource.uri": aName, ".resource.blob": aFile, ".uri": aName,
}

// inBlocks are the places of staysInBlocks in blocks, beside others.
func inBlocks(at string, others map[string]string) map[string]string {
	for place, why := range staysInBlocks {
		others[at+"[]"+place] = why
	}
	return others
}

// passings are all ways. A method that has none is in silent.
var passings = []passing{
	{"tools/list", func(t *testing.T, s *stage) string { return raw(t, s.Client, mcp.MethodListTools, "{}") }, map[string]string{
		"tools[].name": aName, "tools[].inputSchema.properties.SECRET.enum[]": aChoice, "tools[].inputSchema.properties.SECRET.pattern": aKind, "tools[].inputSchema.required[]": aName}},
	{"prompts/list", func(t *testing.T, s *stage) string { return raw(t, s.Client, mcp.MethodListPrompts, "{}") }, map[string]string{
		"prompts[].name": aName, "prompts[].arguments[].name": aName}},
	{"resources/list", func(t *testing.T, s *stage) string { return raw(t, s.Client, mcp.MethodListResources, "{}") }, map[string]string{
		"resources[].uri": aName, "resources[].mimeType": aKind}},
	{"resources/templates/list", func(t *testing.T, s *stage) string { return raw(t, s.Client, mcp.MethodListResourceTemplates, "{}") }, map[string]string{
		"resourceTemplates[].uriTemplate": aName}},

	{"tools/call of the client", func(t *testing.T, s *stage) string {
		return s.says(t, mcp.MethodCallTool, `{"name":"SECRET","arguments":{"SECRET":"SECRET","name":["SECRET"]},"_meta":{"baggage":"k=SECRET","example.com/x":{"y":"SECRET"}}}`)
	}, map[string]string{"name": aName, "_meta.baggage": aTrace}},
	{"prompts/get of the client", func(t *testing.T, s *stage) string {
		return s.says(t, mcp.MethodGetPrompt, `{"name":"SECRET","arguments":{"SECRET":"SECRET"}}`)
	}, map[string]string{"name": aName}},
	{"resources/read of the client", func(t *testing.T, s *stage) string {
		return s.says(t, mcp.MethodReadResource, `{"uri":"memo://SECRET","_meta":{"example.com/x":"SECRET"}}`)
	}, map[string]string{"uri": aName}},
	{"completion/complete of the client", func(t *testing.T, s *stage) string {
		return s.says(t, mcp.MethodComplete, `{"ref":{"type":"ref/prompt","name":"SECRET"},"argument":{"name":"SECRET","value":"SECRET"},"context":{"arguments":{"name":"SECRET"}}}`)
	}, map[string]string{"ref.name": aName, "argument.name": aName}},

	{"tools/call of the server", func(t *testing.T, s *stage) string {
		return s.results(t, mcp.MethodCallTool, `{"content":`+blocks+`,"structuredContent":{"type":"SECRET"},"_meta":{"example.com/x":"SECRET"}}`)
	}, inBlocks("content", map[string]string{})},
	{"tools/call, an error of the server", func(t *testing.T, s *stage) string {
		return s.fails(t, mcp.MethodCallTool, mcp.Errorf(mcp.Code(4711), "SECRET").WithData(map[string]any{"x": "SECRET", "y": []string{"SECRET"}}))
	}, nil},
	{"prompts/get of the server", func(t *testing.T, s *stage) string {
		return s.results(t, mcp.MethodGetPrompt, `{"description":"SECRET","messages":[{"role":"user","content":{"type":"text","text":"SECRET"}}]}`)
	}, nil},
	{"resources/read of the server", func(t *testing.T, s *stage) string {
		return s.results(t, mcp.MethodReadResource, `{"contents":[{"uri":"memo://SECRET","text":"SECRET"},{"uri":"memo://b","blob":"SECRET"}]}`)
	}, map[string]string{"contents[].uri": aName, "contents[].blob": aFile}},
	{"resources/read, an error of the server", func(t *testing.T, s *stage) string {
		return s.fails(t, mcp.MethodReadResource, mcp.Errorf(mcp.CodeResourceNotFound, "SECRET").WithData(map[string]string{"uri": "memo://SECRET"}))
	}, map[string]string{"data.uri": aName}},
	{"completion/complete of the server", func(t *testing.T, s *stage) string {
		return s.results(t, mcp.MethodComplete, `{"completion":{"values":["SECRET"]}}`)
	}, nil},

	{"notifications/progress", func(t *testing.T, s *stage) string {
		return s.tells(t, mcp.NotifyProgress, `{"progressToken":TOKEN,"progress":1,"message":"SECRET"}`)
	}, nil},
	{"notifications/message", func(t *testing.T, s *stage) string {
		return s.tells(t, mcp.NotifyMessage, `{"level":"error","logger":"SECRET","data":{"level":"SECRET","l":["SECRET"]}}`)
	}, nil},

	{"elicitation/create of the server", func(t *testing.T, s *stage) string {
		asked, _ := s.asks(t, mcp.MethodElicit, form, `{"action":"decline"}`)
		return asked
	}, map[string]string{"requestedSchema.properties.b.enum[]": aChoice}},
	{"elicitation/create of the server, a page", func(t *testing.T, s *stage) string {
		asked, _ := s.asks(t, mcp.MethodElicit, page, `{"action":"decline"}`)
		return asked
	}, map[string]string{"url": aPage, "elicitationId": anID}},
	{"elicitation/create, a page that an error of the server demands", func(t *testing.T, s *stage) string {
		if s.modern || s.upModern {
			return none
		}
		return s.fails(t, mcp.MethodCallTool, mcp.Errorf(mcp.CodeURLElicitationRequired, "SECRET").WithData(map[string]any{
			"elicitations": []json.RawMessage{json.RawMessage(page)}, "detail": map[string]string{"url": "SECRET"},
		}))
	}, map[string]string{"data.elicitations[].url": aPage, "data.elicitations[].elicitationId": anID}},
	{"elicitation/create, an error of the server that demands no page and says something", func(t *testing.T, s *stage) string {
		if s.modern || s.upModern {
			return none
		}
		return s.fails(t, mcp.MethodCallTool, mcp.Errorf(mcp.CodeURLElicitationRequired, "SECRET").WithData(map[string]any{"elicitations": []string{}, "detail": "SECRET"}))
	}, nil},
	{"elicitation/create, what the server says beside it", func(t *testing.T, s *stage) string {
		if !s.modern || !s.upModern {
			return none
		}
		return s.demands(t, `{"q":{"method":"elicitation/create","params":`+page+`,"note":"SECRET","more":{"url":"SECRET"}}}`)
	}, map[string]string{"q.params.url": aPage, "q.params.elicitationId": anID}},
	{"elicitation/create of the client", func(t *testing.T, s *stage) string {
		_, answered := s.asks(t, mcp.MethodElicit, form, `{"action":"accept","content":{"a":"SECRET","b":"SECRET"}}`)
		return answered
	}, nil},
	{"sampling/createMessage of the server", func(t *testing.T, s *stage) string {
		asked, _ := s.asks(t, mcp.MethodCreateMessage, conversation, `{"role":"assistant","model":"m","content":{"type":"text","text":"x"}}`)
		return asked
	}, inBlocks("messages[].content[].content", map[string]string{
		"modelPreferences.hints[].name": aName, "tools[].name": aName, "tools[].inputSchema.properties.x.enum[]": aChoice,
		"messages[].content[].id": anID, "messages[].content[].name": aName, "messages[].content[].toolUseId": anID})},
	{"sampling/createMessage of the client", func(t *testing.T, s *stage) string {
		_, answered := s.asks(t, mcp.MethodCreateMessage, conversation, `{"role":"assistant","model":"SECRET","content":[{"type":"text","text":"SECRET"},{"type":"tool_use","id":"SECRET","name":"SECRET","input":{"x":"SECRET"}}]}`)
		return answered
	}, map[string]string{"model": aName, "content[].id": anID, "content[].name": aName}},
	{"roots/list of the client", func(t *testing.T, s *stage) string {
		_, answered := s.asks(t, mcp.MethodListRoots, `{}`, `{"roots":[{"uri":"file:///SECRET","name":"SECRET"}]}`)
		return answered
	}, map[string]string{"roots[].uri": aName}},

	{"tools/call of the server, a task", func(t *testing.T, s *stage) string {
		began, _, _ := s.task(t, mcp.MethodGetTask, answering(aTask))
		return began
	}, nil},
	{"tasks/get", func(t *testing.T, s *stage) string { return s.about(t, mcp.MethodGetTask, answering(aTask)) }, nil},
	{"tasks/get, with a question", func(t *testing.T, s *stage) string {
		if !s.modern || !s.upModern {
			return none
		}
		asking := strings.Replace(aTask, "working", "input_required", 1)
		asking = strings.TrimSuffix(asking, "}") + `,"inputRequests":{"q":{"method":"elicitation/create","params":` + page + `,"note":"SECRET"}}}`
		return s.about(t, mcp.MethodGetTask, answering(asking))
	}, map[string]string{"inputRequests.q.params.url": aPage, "inputRequests.q.params.elicitationId": anID}},
	{"tasks/get, an error of the server", func(t *testing.T, s *stage) string {
		_, _, err := s.task(t, mcp.MethodGetTask, func(context.Context, *server.Request) (*server.RawResult, error) {
			return nil, mcp.Errorf(mcp.Code(4711), "SECRET")
		})
		return strconv.Quote(fmt.Sprint(err))
	}, nil},
	{"tasks/cancel", func(t *testing.T, s *stage) string {
		return s.about(t, mcp.MethodCancelTask, func(_ context.Context, req *server.Request) (*server.RawResult, error) {
			return &server.RawResult{Result: json.RawMessage(aTask)}, nil
		})
	}, nil},
	{"tasks/list", func(t *testing.T, s *stage) string {
		if s.modern {
			return none
		}
		return s.about(t, mcp.MethodListTasks, answering(aTask))
	}, nil},
	{"tasks/result", func(t *testing.T, s *stage) string {
		if s.modern {
			return none
		}
		return s.about(t, mcp.MethodTaskResult, func(_ context.Context, req *server.Request) (*server.RawResult, error) {
			if req.Method() == mcp.MethodTaskResult {
				return &server.RawResult{Result: json.RawMessage(`{"content":[{"type":"text","text":"SECRET"}]}`)}, nil
			}
			done := strings.Replace(aTask, "working", "completed", 1)
			if s.upModern {
				done = strings.TrimSuffix(done, "}") + `,"result":{"content":[{"type":"text","text":"SECRET"}]}}`
			}
			return &server.RawResult{Result: json.RawMessage(done)}, nil
		})
	}, nil},

	{"skills/list", func(t *testing.T, s *stage) string {
		return s.skill(t, skills.MethodList, `{"skills":[{"uri":"memo://SECRET/SKILL.md","frontmatter":{"name":"x","description":"SECRET"}}]}`)
	}, map[string]string{"skills[].uri": aName}},
	{"skills/get", func(t *testing.T, s *stage) string {
		return s.skill(t, skills.MethodGet, `{"skill":{"uri":"memo://SECRET/SKILL.md","frontmatter":{"name":"x","description":"SECRET"}}}`)
	}, map[string]string{"skill.uri": aName}},
	{"resources/directory/read", func(t *testing.T, s *stage) string {
		return s.skill(t, skills.MethodReadDirectory, `{"resources":[{"uri":"memo://SECRET/x","name":"x","description":"SECRET"}]}`)
	}, map[string]string{"resources[].uri": aName}},
}

// silent are the methods that bring no text from one side to the other which could be masked, and why.
var silent = map[string]string{
	mcp.MethodInitialize: ownText, mcp.MethodDiscover: ownText, mcp.NotifyInitialized: noText, mcp.MethodPing: noText,
	mcp.MethodSubscribeResource: noText, mcp.MethodUnsubscribeResource: noText, mcp.MethodListen: noText,
	mcp.NotifySubscriptionsAcknowledged: noText, mcp.NotifyResourceUpdated: noText,
	mcp.NotifyToolsChanged: noText, mcp.NotifyPromptsChanged: noText, mcp.NotifyResourcesChanged: noText, mcp.NotifyRootsChanged: noText,
	mcp.MethodSetLevel: ofOwnWay, mcp.NotifyCancelled: ofOwnWay, mcp.NotifyElicitationComplete: "it is not passed on",
	mcp.MethodUpdateTask: "it holds answers; see TestRedactionOfTasks", mcp.NotifyTaskStatus: elsehow, mcp.NotifyTask: elsehow,
}

func answering(result string) server.RawHandler {
	return func(context.Context, *server.Request) (*server.RawResult, error) {
		return &server.RawResult{Result: json.RawMessage(result)}, nil
	}
}

// about is task for a request that is answered.
func (s *stage) about(t *testing.T, method string, serves server.RawHandler) string {
	t.Helper()
	_, told, err := s.task(t, method, serves)
	if err != nil {
		t.Error(err)
	}
	return told
}

// skill asks for skills, where the client and the server know of them.
func (s *stage) skill(t *testing.T, method, result string) string {
	t.Helper()
	if !s.modern || !s.upModern {
		return none
	}
	return s.results(t, method, result)
}

// TestAllThatIsMasked says SECRET in every text of every message, and holds where it still stands on the other side.
func TestAllThatIsMasked(t *testing.T) {
	pairings(t, func(t *testing.T, modern, upModern bool) {
		s := newStage(t, modern, upModern)
		for _, p := range passings {
			t.Run(p.what, func(t *testing.T) {
				arrives := p.run(t, s)
				if arrives == none {
					return
				}
				var want []string
				for place := range p.stays {
					want = append(want, place)
				}
				slices.Sort(want)
				if got := secretsIn(t, arrives); !slices.Equal(got, want) {
					t.Errorf("it stands in\n%q, want\n%q, of\n%s", got, want, arrives)
				}
				if !strings.Contains(arrives, "[redacted own]") {
					t.Errorf("nothing is masked in %s", arrives)
				}
			})
		}
	})
}

// TestEveryMethodIsLookedAt holds that there is no method of the specification of which nobody has said what is masked in it.
func TestEveryMethodIsLookedAt(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../../mcp/method.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	methods := []string{skills.MethodList, skills.MethodGet, skills.MethodReadDirectory}
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok {
			method, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Fatal(err)
			}
			methods = append(methods, method)
		}
		return true
	})
	if len(methods) < 30 {
		t.Errorf("the file of methods has %d", len(methods))
	}
	for _, method := range methods {
		said := slices.ContainsFunc(passings, func(p passing) bool {
			rest, ok := strings.CutPrefix(p.what, method)
			return ok && (rest == "" || rest[0] == ' ' || rest[0] == ',')
		})
		if said == (silent[method] != "") {
			t.Errorf("%s: give it rows in passings, or else its reason in silent", method)
		}
	}
}
