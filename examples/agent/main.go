// Command agent answers a question with a model and the tools of MCP servers: a whole agent loop.
//
//	agent "How is the weather in Bergen?"                       # offline: a model and a server that are built in
//	agent -url http://127.0.0.1:11434/v1 -model qwen3 "..."     # any endpoint that is compatible with OpenAI's
//	agent -server http://127.0.0.1:8421/mcp -model gpt-5 "..."  # the tools of a server of yours
//	agent -stream "..."                                         # prints text as it comes
//
// The key of the endpoint is read from the environment variable OPENAI_API_KEY.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/llm"
	"github.com/rialto-mcp/rialto/llm/openai"
)

func main() {
	url := flag.String("url", "", "base URL of the model's endpoint, up to /v1; empty starts one that is built in")
	model := flag.String("model", "built-in", "the model's name")
	serverURL := flag.String("server", "", "URL of the MCP server; empty starts one that is built in")
	stream := flag.Bool("stream", false, "print text as it comes")
	flag.Parse()
	a := agent{endpoint: llm.Endpoint{BaseURL: *url, Key: os.Getenv("OPENAI_API_KEY")}, model: *model, stream: *stream, out: os.Stdout}
	if err := run(context.Background(), a, *serverURL, flag.Arg(0)); err != nil {
		log.Fatal("agent: ", err)
	}
}

func run(ctx context.Context, a agent, serverURL, question string) error {
	if question == "" {
		return errors.New("what do you want to know? Give a question")
	}
	if a.endpoint.BaseURL == "" {
		var stop func()
		a.endpoint.BaseURL, stop = startModel()
		defer stop()
	}
	if serverURL == "" {
		var stop func()
		serverURL, stop = startServer()
		defer stop()
	}
	c, err := client.DialHTTP(ctx, serverURL, client.Options{})
	if err != nil {
		return err
	}
	defer c.Close()
	a.source = llm.Client(c)
	answer, err := a.ask(ctx, question)
	if err != nil {
		return err
	}
	if !a.stream { // otherwise it has been printed as it came
		fmt.Fprintln(a.out, answer)
	}
	return nil
}

// maxTurns bounds how often the model is asked for one answer.
const maxTurns = 10

type agent struct {
	endpoint llm.Endpoint
	model    string
	source   llm.Source
	stream   bool
	out      io.Writer
}

// [loop]

// ask lets the model call tools until it answers.
func (a *agent) ask(ctx context.Context, question string) (string, error) {
	tools, err := llm.Tools(ctx, a.source, llm.Options{Profile: openai.Compatible()})
	if err != nil {
		return "", err
	}
	user, err := json.Marshal(map[string]string{"role": "user", "content": question})
	if err != nil {
		return "", err
	}
	messages := []json.RawMessage{user}
	for range maxTurns {
		message, err := a.complete(ctx, messages, tools)
		if err != nil {
			return "", err
		}
		calls, err := openai.ChatCalls(message)
		if err != nil {
			return "", err
		}
		if len(calls) == 0 {
			return text(message)
		}
		results := tools.InvokeAll(ctx, calls) // one result for each call, whatever happens
		for i, r := range results {
			fmt.Fprintf(a.out, "%s(%s): %s\n", r.Name, calls[i].Args, r.Text())
		}
		messages = append(messages, message)
		messages = append(messages, openai.CompatibleResults(results)...)
	}
	return "", fmt.Errorf("no answer after %d turns", maxTurns)
}

// [end]

// complete asks the model once. Its message goes back later as it came.
func (a *agent) complete(ctx context.Context, messages []json.RawMessage, tools *llm.Set) (json.RawMessage, error) {
	request := map[string]any{"model": a.model, "messages": messages}
	if a.stream {
		request["stream"] = true
	}
	if definitions := openai.ChatTools(tools); definitions != nil {
		request["tools"] = definitions
	}
	body, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	answer, err := a.post(ctx, body)
	if err != nil {
		return nil, err
	}
	message, err := openai.Message(answer)
	if err != nil {
		return nil, err
	}
	return openai.WithIDs(message)
}

func (a *agent) post(ctx context.Context, body []byte) (json.RawMessage, error) {
	auth := http.Header{}
	if a.endpoint.Key != "" {
		auth.Set("Authorization", "Bearer "+a.endpoint.Key)
	}
	if !a.stream {
		return a.endpoint.Post(ctx, "/chat/completions", auth, body)
	}
	answer, said := &openai.ChatStream{}, false
	for piece, err := range llm.Text(a.endpoint.Stream(ctx, "/chat/completions", auth, body), answer) {
		if err != nil {
			return nil, err
		}
		fmt.Fprint(a.out, piece)
		said = true
	}
	if said {
		fmt.Fprintln(a.out)
	}
	return answer.Answer()
}

func text(message json.RawMessage) (string, error) {
	var m struct {
		Content string `json:"content"`
	}
	if err := json.Unmarshal(message, &m); err != nil {
		return "", fmt.Errorf("read the answer: %w", err)
	}
	return m.Content, nil
}
