package demo

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// Name is the name the demonstration server gives itself.
const Name = "rialto-demo"

const instructions = "A demonstration. echo says what you say, add adds, count counts with progress, stumble always fails."

// Server builds the demonstration server. version is what it says of itself; opts is completed with instructions.
func Server(version string, opts server.Options) *server.Server {
	opts.Instructions = instructions
	s := server.New(mcp.Implementation{Name: Name, Title: "Rialto demonstration", Version: version}, opts)
	addTools(s)
	addResources(s)
	addPrompts(s)
	return s
}

type echoIn struct {
	Text string `json:"text" jsonschema:"what to say"`
}

type addIn struct {
	A float64 `json:"a" jsonschema:"the first number"`
	B float64 `json:"b" jsonschema:"the second number"`
}

type addOut struct {
	Sum float64 `json:"sum" jsonschema:"a plus b"`
}

type countIn struct {
	To    int `json:"to" jsonschema:"where to stop, from 1 to 100"`
	Pause int `json:"pause,omitempty" jsonschema:"milliseconds between two steps, at most 1000; 100 when left out"`
}

func addTools(s *server.Server) {
	server.AddTool(s, mcp.Tool{Name: "echo", Description: "Says what it is given"},
		func(_ context.Context, _ *server.Request, in echoIn) (string, error) { return in.Text, nil })
	server.AddTool(s, mcp.Tool{Name: "add", Description: "Adds two numbers; the result is structured"},
		func(_ context.Context, _ *server.Request, in addIn) (addOut, error) { return addOut{in.A + in.B}, nil })
	server.AddTool(s, mcp.Tool{Name: "count", Description: "Counts and reports its progress"}, count)
	server.AddTool(s, mcp.Tool{Name: "stumble", Description: "Always fails, to show what a failing tool looks like"},
		func(context.Context, *server.Request, struct{}) (string, error) {
			return "", errors.New("stumbled, as always; nothing is wrong on your side. Try echo instead")
		})
}

func count(ctx context.Context, req *server.Request, in countIn) (string, error) {
	if in.To < 1 || in.To > 100 || in.Pause < 0 || in.Pause > 1000 {
		return "", errors.New("this tool counts to something from 1 to 100, with pauses of 0 to 1000 milliseconds")
	}
	pause := time.Duration(in.Pause) * time.Millisecond
	if pause == 0 {
		pause = 100 * time.Millisecond
	}
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for i := range in.To {
		req.Progress(ctx, float64(i+1), float64(in.To), fmt.Sprintf("at %d of %d", i+1, in.To))
		select {
		case <-tick.C:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	return fmt.Sprintf("counted to %d", in.To), nil
}

// languages are those the prompt and the template know.
var languages = []string{"danish", "dutch", "english", "french", "german"}

var greetings = map[string]string{
	"danish": "Hej", "dutch": "Hallo", "english": "Hello", "french": "Bonjour", "german": "Guten Tag",
}

func addResources(s *server.Server) {
	const welcome = "demo://welcome"
	s.AddResource(mcp.Resource{URI: welcome, Name: "welcome", Description: "What this server is", MIMEType: "text/plain"},
		func(context.Context, *server.Request) (*mcp.ReadResourceResult, error) {
			return text(welcome, "Welcome to the demonstration server of Rialto.\n"+instructions+"\n"), nil
		})
	const greeting = "demo://greeting/{language}"
	s.AddResourceTemplate(mcp.ResourceTemplate{URITemplate: greeting, Name: "greeting", Description: "A greeting in a language", MIMEType: "text/plain"},
		func(_ context.Context, req *server.Request, vars map[string]string) (*mcp.ReadResourceResult, error) {
			word, ok := greetings[vars["language"]]
			if !ok {
				return nil, mcp.ResourceNotFound(req.Name())
			}
			return text(req.Name(), word+"!\n"), nil
		})
	s.CompleteTemplate(greeting, "language", startingWith)
}

func addPrompts(s *server.Server) {
	const name = "greet"
	s.AddPrompt(mcp.Prompt{
		Name: name, Description: "Asks a model to greet somebody",
		Arguments: []mcp.PromptArgument{
			{Name: "name", Description: "whom to greet", Required: true},
			{Name: "language", Description: "in which language; english when left out"},
		},
	}, func(_ context.Context, _ *server.Request, args map[string]string) (*mcp.GetPromptResult, error) {
		language := args["language"]
		if language == "" {
			language = "english"
		}
		ask := fmt.Sprintf("Greet %s in %s, in one sentence.", args["name"], language)
		return &mcp.GetPromptResult{Messages: []mcp.PromptMessage{{Role: mcp.RoleUser, Content: mcp.Text(ask)}}}, nil
	})
	s.CompletePrompt(name, "language", startingWith)
}

func startingWith(_ context.Context, _ *server.Request, value string, _ map[string]string) ([]string, error) {
	var out []string
	for _, l := range languages {
		if strings.HasPrefix(l, strings.ToLower(value)) {
			out = append(out, l)
		}
	}
	return out, nil
}

func text(uri, body string) *mcp.ReadResourceResult {
	return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{mcp.TextResource(uri, "text/plain", body)}}
}
