package interop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// mcpGo is a client of mcp-go.
type mcpGo struct {
	client   *client.Client
	hello    *mcp.InitializeResult
	progress progressBook
}

func dialMCPGo(ctx context.Context, target Target, plan Plan) (session, error) {
	wire, err := mcpGoTransport(target)
	if err != nil {
		return nil, err
	}
	s := &mcpGo{}
	options := []client.ClientOption{client.WithDiscoverTimeout(driveLimit)} // a slow start is no sign of the legacy era
	if plan.Answers != nil {
		a := mcpGoAnswers{plan.Answers}
		options = append(options, client.WithElicitationHandler(a), client.WithSamplingHandler(a), client.WithRootsHandler(a))
	}
	switch plan.Era {
	case "legacy":
		options = append(options, client.WithLegacyProtocolOnly())
	case "modern":
		options = append(options, client.WithProtocolVersion(modernVersion))
	}
	s.client = client.NewClient(wire, options...)
	s.client.OnNotification(s.onNotification)
	if err := s.client.Start(ctx); err != nil {
		return nil, err
	}
	var request mcp.InitializeRequest
	request.Params.ClientInfo = mcp.Implementation{Name: "mcp-go", Version: "1.0.0"}
	if s.hello, err = s.client.Initialize(ctx, request); err != nil {
		return nil, errors.Join(err, s.client.Close())
	}
	return s, nil
}

// mcpGoAnswers answers a server.
type mcpGoAnswers struct{ *Answers }

func (a mcpGoAnswers) Elicit(context.Context, mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	return &mcp.ElicitationResult{ElicitationResponse: mcp.ElicitationResponse{Action: mcp.ElicitationResponseActionAccept, Content: a.Form}}, nil
}

func (a mcpGoAnswers) CreateMessage(context.Context, mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	return &mcp.CreateMessageResult{SamplingMessage: mcp.SamplingMessage{Role: mcp.RoleAssistant, Content: mcp.NewTextContent(a.Text)}, Model: a.Model}, nil
}

func (a mcpGoAnswers) ListRoots(context.Context, mcp.ListRootsRequest) (*mcp.ListRootsResult, error) {
	result := &mcp.ListRootsResult{}
	for _, uri := range a.Roots {
		result.Roots = append(result.Roots, mcp.Root{URI: uri})
	}
	return result, nil
}

func mcpGoTransport(target Target) (transport.Interface, error) {
	if target.SSE {
		return transport.NewSSE(target.URL)
	}
	if target.URL != "" {
		return transport.NewStreamableHTTP(target.URL)
	}
	return transport.NewStdio(target.Command[0], nil, target.Command[1:]...), nil
}

func (s *mcpGo) about() (string, any, any) {
	return s.client.ProtocolVersion(), s.hello.ServerInfo, s.hello.Capabilities
}

func (s *mcpGo) list(ctx context.Context, kind string) (items []any, names []string, err error) {
	switch kind {
	case "tools":
		for tool, err := range s.client.IterTools(ctx, mcp.ListToolsRequest{}) {
			if err != nil {
				return nil, nil, err
			}
			items, names = append(items, tool), append(names, tool.Name)
		}
	case "resources":
		for resource, err := range s.client.IterResources(ctx, mcp.ListResourcesRequest{}) {
			if err != nil {
				return nil, nil, err
			}
			items, names = append(items, resource), append(names, resource.URI)
		}
	case "templates":
		for template, err := range s.client.IterResourceTemplates(ctx, mcp.ListResourceTemplatesRequest{}) {
			if err != nil {
				return nil, nil, err
			}
			items, names = append(items, template), append(names, template.URITemplate.Raw())
		}
	case "prompts":
		for prompt, err := range s.client.IterPrompts(ctx, mcp.ListPromptsRequest{}) {
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

func (s *mcpGo) call(ctx context.Context, step Step, progress *progressLog) (any, error) {
	var request mcp.CallToolRequest
	request.Params.Name = step.Name
	if step.Arguments != nil {
		request.Params.Arguments = step.Arguments
	}
	if step.Progress > 0 {
		request.Params.Meta = &mcp.Meta{ProgressToken: s.progress.expect(progress)}
	}
	return s.client.CallTool(ctx, request)
}

func (s *mcpGo) onNotification(notification mcp.JSONRPCNotification) {
	if notification.Method != "notifications/progress" {
		return
	}
	var params struct {
		Token string `json:"progressToken"`
		Progress
	}
	// The library keeps the parameters as a loose map; a round through JSON gives them types again.
	data, err := json.Marshal(notification.Params)
	if err != nil || json.Unmarshal(data, &params) != nil {
		return // not the shape of a progress notification: it is missing in the report, which the check tells
	}
	s.progress.add(params.Token, params.Progress)
}

func (s *mcpGo) read(ctx context.Context, uri string) (any, error) {
	var request mcp.ReadResourceRequest
	request.Params.URI = uri
	return s.client.ReadResource(ctx, request)
}

func (s *mcpGo) prompt(ctx context.Context, name string, arguments map[string]string) (any, error) {
	var request mcp.GetPromptRequest
	request.Params.Name = name
	request.Params.Arguments = arguments
	return s.client.GetPrompt(ctx, request)
}

func (s *mcpGo) complete(ctx context.Context, ref Ref, argument Argument) (any, error) {
	var request mcp.CompleteRequest
	request.Params.Ref = ref
	request.Params.Argument = mcp.CompleteArgument{Name: argument.Name, Value: argument.Value}
	return s.client.Complete(ctx, request)
}

func (s *mcpGo) ping(ctx context.Context) error { return s.client.Ping(ctx) }

// mcpGoCodes are the codes that mcp-go turns into errors of its own; it drops all others.
var mcpGoCodes = map[error]int{
	mcp.ErrParseError:       mcp.PARSE_ERROR,
	mcp.ErrInvalidRequest:   mcp.INVALID_REQUEST,
	mcp.ErrMethodNotFound:   mcp.METHOD_NOT_FOUND,
	mcp.ErrInvalidParams:    mcp.INVALID_PARAMS,
	mcp.ErrInternalError:    mcp.INTERNAL_ERROR,
	mcp.ErrResourceNotFound: mcp.RESOURCE_NOT_FOUND,
}

func (s *mcpGo) failure(err error) *Failure {
	for known, code := range mcpGoCodes {
		if errors.Is(err, known) {
			return &Failure{Code: code, Message: err.Error()}
		}
	}
	return &Failure{Message: err.Error()}
}

func (s *mcpGo) close() error { return s.client.Close() }
