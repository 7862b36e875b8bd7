package interop

import (
	"context"
	"errors"
	"fmt"
	"os/exec"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// goSDK is a client of the official Go SDK.
type goSDK struct {
	session  *mcp.ClientSession
	progress progressBook
}

func dialGoSDK(ctx context.Context, target Target, plan Plan) (session, error) {
	s := &goSDK{}
	can := &mcp.ClientOptions{ProgressNotificationHandler: s.onProgress, Capabilities: &mcp.ClientCapabilities{}}
	if plan.Answers != nil {
		can.Capabilities = nil // what the handlers say
		can.ElicitationHandler = func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: plan.Answers.Form}, nil
		}
		can.CreateMessageHandler = func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Role: "assistant", Model: plan.Answers.Model, Content: &mcp.TextContent{Text: plan.Answers.Text}}, nil
		}
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "go-sdk", Version: "1.0.0"}, can)
	if plan.Answers != nil {
		for _, uri := range plan.Answers.Roots {
			client.AddRoots(&mcp.Root{URI: uri})
		}
	}
	options := &mcp.ClientSessionOptions{}
	switch plan.Era {
	case "legacy":
		options.ProtocolVersion = legacyVersion
	case "modern":
		options.ProtocolVersion = modernVersion
	}
	var err error
	s.session, err = client.Connect(ctx, goSDKTransport(ctx, target), options)
	if err != nil {
		return nil, err
	}
	return s, nil
}

func goSDKTransport(ctx context.Context, target Target) mcp.Transport {
	if target.SSE {
		return &mcp.SSEClientTransport{Endpoint: target.URL}
	}
	if target.URL != "" {
		return &mcp.StreamableClientTransport{Endpoint: target.URL}
	}
	return &mcp.CommandTransport{Command: exec.CommandContext(ctx, target.Command[0], target.Command[1:]...)}
}

func (s *goSDK) about() (string, any, any) {
	result := s.session.InitializeResult()
	return result.ProtocolVersion, result.ServerInfo, result.Capabilities
}

func (s *goSDK) list(ctx context.Context, kind string) (items []any, names []string, err error) {
	switch kind {
	case "tools":
		for tool, err := range s.session.Tools(ctx, nil) {
			if err != nil {
				return nil, nil, err
			}
			items, names = append(items, tool), append(names, tool.Name)
		}
	case "resources":
		for resource, err := range s.session.Resources(ctx, nil) {
			if err != nil {
				return nil, nil, err
			}
			items, names = append(items, resource), append(names, resource.URI)
		}
	case "templates":
		for template, err := range s.session.ResourceTemplates(ctx, nil) {
			if err != nil {
				return nil, nil, err
			}
			items, names = append(items, template), append(names, template.URITemplate)
		}
	case "prompts":
		for prompt, err := range s.session.Prompts(ctx, nil) {
			if err != nil {
				return nil, nil, err
			}
			items, names = append(items, prompt), append(names, prompt.Name)
		}
	default:
		return nil, nil, fmt.Errorf("cannot list %q", kind)
	}
	return items, names, nil
}

func (s *goSDK) call(ctx context.Context, step Step, progress *progressLog) (any, error) {
	params := &mcp.CallToolParams{Name: step.Name, Arguments: step.Arguments}
	if step.Progress > 0 {
		params.SetProgressToken(s.progress.expect(progress))
	}
	return s.session.CallTool(ctx, params)
}

func (s *goSDK) onProgress(_ context.Context, req *mcp.ProgressNotificationClientRequest) {
	token, _ := req.Params.ProgressToken.(string)
	s.progress.add(token, Progress{Progress: req.Params.Progress, Total: req.Params.Total, Message: req.Params.Message})
}

func (s *goSDK) read(ctx context.Context, uri string) (any, error) {
	return s.session.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
}

func (s *goSDK) prompt(ctx context.Context, name string, arguments map[string]string) (any, error) {
	return s.session.GetPrompt(ctx, &mcp.GetPromptParams{Name: name, Arguments: arguments})
}

func (s *goSDK) complete(ctx context.Context, ref Ref, argument Argument) (any, error) {
	return s.session.Complete(ctx, &mcp.CompleteParams{
		Ref:      &mcp.CompleteReference{Type: ref.Type, Name: ref.Name, URI: ref.URI},
		Argument: mcp.CompleteParamsArgument{Name: argument.Name, Value: argument.Value},
	})
}

func (s *goSDK) ping(ctx context.Context) error { return s.session.Ping(ctx, nil) }

func (s *goSDK) failure(err error) *Failure {
	var wire *jsonrpc.Error
	if errors.As(err, &wire) {
		return &Failure{Code: int(wire.Code), Message: wire.Message}
	}
	return &Failure{Message: err.Error()}
}

func (s *goSDK) close() error { return s.session.Close() }
