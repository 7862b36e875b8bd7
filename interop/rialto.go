package interop

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"

	"github.com/rialto-mcp/rialto/auth/oauth"
	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
)

// rialto is a client of this project.
type rialto struct{ client *client.Client }

// rialtoModes are the modes of the client by the era of a plan.
var rialtoModes = map[string]client.Mode{"": client.Auto, "auto": client.Auto, "legacy": client.Legacy, "modern": client.Modern}

func dialRialto(ctx context.Context, target Target, plan Plan) (session, error) {
	options := client.Options{
		Info: mcp.Implementation{Name: "rialto", Version: "1.0.0"}, Mode: rialtoModes[plan.Era],
	}
	patient(&options)
	if plan.Token != "" {
		options.Headers = http.Header{"Authorization": {"Bearer " + plan.Token}}
	}
	if plan.Login {
		person, err := oauth.New(target.URL, oauth.Options{Flow: oauth.Browser{Open: agree}, ClientName: "interop"})
		if err != nil {
			return nil, err
		}
		context.AfterFunc(ctx, func() { _ = person.Close() }) // it keeps nothing beyond this run
		options.HTTPClient = person.Client()
	}
	plan.Answers.give(&options)
	var c *client.Client
	var err error
	switch {
	case target.SSE:
		c, err = client.DialSSE(ctx, target.URL, options)
	case target.URL != "":
		c, err = client.DialHTTP(ctx, target.URL, options)
	default:
		c, err = client.DialStdio(ctx, client.Command{Path: target.Command[0], Args: target.Command[1:]}, options)
	}
	if err != nil {
		return nil, err
	}
	return &rialto{c}, nil
}

// patient lets a server that is started on a busy machine take its time. A probe that ends before would find the legacy era.
func patient(options *client.Options) {
	options.ConnectTimeout, options.ProbeTimeout = driveLimit, driveLimit
}

// agree is the browser of a person who agrees to everything: it follows the page to where that sends it.
func agree(ctx context.Context, page string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, page, http.NoBody)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	return res.Body.Close()
}

// give makes our client answer as the plan says; nil gives nothing.
func (a *Answers) give(o *client.Options) {
	if a == nil {
		return
	}
	o.Elicit = func(context.Context, *client.ElicitRequest) (*mcp.ElicitResult, error) { return client.Accept(a.Form) }
	o.CreateMessage = func(context.Context, *client.SamplingRequest) (*mcp.CreateMessageResult, error) {
		return &mcp.CreateMessageResult{Role: mcp.RoleAssistant, Model: a.Model, Content: []mcp.Content{mcp.Text(a.Text)}}, nil
	}
	o.Roots = []mcp.Root{}
	for _, uri := range a.Roots {
		o.Roots = append(o.Roots, mcp.Root{URI: uri})
	}
}

func (s *rialto) about() (string, any, any) {
	return s.client.ProtocolVersion(), s.client.ServerInfo(), s.client.ServerCapabilities()
}

func (s *rialto) list(ctx context.Context, kind string) (items []any, names []string, err error) {
	switch kind {
	case "tools":
		return collect(s.client.Tools(ctx), func(t mcp.Tool) string { return t.Name })
	case "resources":
		return collect(s.client.Resources(ctx), func(r mcp.Resource) string { return r.URI })
	case "templates":
		return collect(s.client.ResourceTemplates(ctx), func(t mcp.ResourceTemplate) string { return t.URITemplate })
	case "prompts":
		return collect(s.client.Prompts(ctx), func(p mcp.Prompt) string { return p.Name })
	}
	return nil, nil, fmt.Errorf("cannot list %q", kind)
}

func collect[T any](all iter.Seq2[T, error], name func(T) string) (items []any, names []string, err error) {
	for item, err := range all {
		if err != nil {
			return nil, nil, err
		}
		items, names = append(items, item), append(names, name(item))
	}
	return items, names, nil
}

func (s *rialto) call(ctx context.Context, step Step, progress *progressLog) (any, error) {
	var options client.CallOptions
	if step.Progress > 0 {
		options.OnProgress = func(p mcp.ProgressParams) { progress.add(progressOf(p)) }
	}
	return s.client.CallTool(ctx, step.Name, step.Arguments, options)
}

func progressOf(p mcp.ProgressParams) Progress {
	out := Progress{Progress: p.Progress, Message: p.Message}
	if p.Total != nil {
		out.Total = *p.Total
	}
	return out
}

func (s *rialto) read(ctx context.Context, uri string) (any, error) {
	return s.client.ReadResource(ctx, uri)
}

func (s *rialto) prompt(ctx context.Context, name string, arguments map[string]string) (any, error) {
	return s.client.GetPrompt(ctx, name, arguments)
}

func (s *rialto) complete(ctx context.Context, ref Ref, argument Argument) (any, error) {
	params := mcp.CompleteParams{Ref: mcp.PromptRef(ref.Name), Argument: mcp.CompletionArgument{Name: argument.Name, Value: argument.Value}}
	if ref.Type == "ref/resource" {
		params.Ref = mcp.ResourceRef(ref.URI)
	}
	return s.client.Complete(ctx, params)
}

func (s *rialto) ping(ctx context.Context) error { return s.client.Ping(ctx) }

func (s *rialto) failure(err error) *Failure {
	if errors.Is(err, mcp.CodeResourceNotFound) { // the client reads two wire numbers as this one
		return &Failure{Code: -32002, Message: err.Error()}
	}
	var wire *mcp.Error
	if errors.As(err, &wire) && wire.Remote {
		return &Failure{Code: int(wire.Code), Message: wire.Message}
	}
	return &Failure{Message: err.Error()}
}

func (s *rialto) close() error { return s.client.Close() }
