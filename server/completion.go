package server

import (
	"context"
	"encoding/json"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/mcp"
)

// Completer suggests values for an argument. value is what stands there so far, settled the arguments that are filled in
// already. More values than one answer may carry are cut, and counted.
type Completer func(ctx context.Context, req *Request, value string, settled map[string]string) ([]string, error)

// completerKey names an argument of a prompt or a variable of a template.
type completerKey struct{ kind, owner, argument string }

// CompletePrompt sets the suggestions for an argument of a prompt; nil removes them.
func (s *Server) CompletePrompt(name, argument string, c Completer) {
	s.setCompleter(completerKey{mcp.RefPrompt, name, argument}, c)
}

// CompleteTemplate sets the suggestions for a variable of a resource template; nil removes them.
func (s *Server) CompleteTemplate(uriTemplate, variable string, c Completer) {
	s.setCompleter(completerKey{mcp.RefResource, uriTemplate, variable}, c)
}

func (s *Server) setCompleter(key completerKey, c Completer) {
	if c == nil {
		s.completers.Delete(key)
		return
	}
	s.completers.Store(key, c)
}

// completes tells whether completion is offered at all.
func (s *Server) completes() bool {
	some := false
	s.completers.Range(func(any, any) bool { some = true; return false })
	return some
}

// complete serves completion/complete.
func (s *Server) complete(ctx context.Context, r *Request) *era.Outcome {
	var params mcp.CompleteParams
	if err := json.Unmarshal(r.Params(), &params); err != nil {
		return invalid(mcp.InvalidParams("completion/complete needs a ref and an argument with name and value"))
	}
	if params.Argument.Name == "" {
		return invalid(mcp.InvalidParams("completion/complete needs an argument with a name"))
	}
	if err := params.Ref.Check(); err != nil {
		return invalid(mcp.InvalidParams("%v", err))
	}
	owner, known, hidden := s.completed(ctx, r, params.Ref)
	if !known || hidden {
		return s.fallback(ctx, r, hidden, func() *era.Outcome {
			return unknown(mcp.InvalidParams("completion for an unknown %s: %s", params.Ref.Type, short(owner)))
		})
	}
	var values []string
	if c, ok := s.completers.Load(completerKey{params.Ref.Type, owner, params.Argument.Name}); ok {
		var settled map[string]string
		if params.Context != nil {
			settled = params.Context.Arguments
		}
		var err error
		if values, err = c.(Completer)(ctx, r, params.Argument.Value, settled); err != nil {
			return s.failure(r, err)
		}
	}
	return s.result(r, mcp.CompleteResult{Completion: mcp.NewCompletion(values)})
}

// completed finds out what a completion is for.
func (s *Server) completed(ctx context.Context, r *Request, ref mcp.CompletionRef) (owner string, known, hidden bool) {
	if ref.Type != mcp.RefResource {
		return ref.Name, s.HasPrompt(ref.Name), !s.shows(ctx, r, Prompts, ref.Name)
	}
	if s.HasResource(ref.URI) {
		return ref.URI, true, !s.shows(ctx, r, Resources, ref.URI)
	}
	return ref.URI, s.HasResourceTemplate(ref.URI), !s.shows(ctx, r, ResourceTemplates, ref.URI)
}
