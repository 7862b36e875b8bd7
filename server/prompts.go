package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// PromptHandler fills a prompt. args holds the arguments that were sent; the required ones are among them.
type PromptHandler func(ctx context.Context, req *Request, args map[string]string) (*mcp.GetPromptResult, error)

type prompt struct {
	prompt mcp.Prompt
	raw    json.RawMessage
	fill   PromptHandler
}

func (p *prompt) key() string           { return p.prompt.Name }
func (p *prompt) wire() json.RawMessage { return p.raw }

// AddPrompt adds a prompt, or replaces the one of the same name. It panics when the prompt has no name or no handler,
// which only a programmer can cause.
func (s *Server) AddPrompt(p mcp.Prompt, h PromptHandler) {
	raw, err := p.AppendJSON(nil)
	if p.Name == "" || h == nil {
		err = errors.New("a prompt needs a name and a handler")
	}
	if err != nil {
		panic(fmt.Sprintf("server: prompt %q: %v", p.Name, err))
	}
	s.reg.prompts.put(&prompt{p, raw, h})
}

// RemovePrompt removes prompts and returns how many there were.
func (s *Server) RemovePrompt(names ...string) int { return s.reg.prompts.remove(names...) }

// HasPrompt tells whether a prompt is registered.
func (s *Server) HasPrompt(name string) bool { return s.reg.prompts.has(name) }

// PromptNames lists the registered prompts in their order.
func (s *Server) PromptNames() []string { return s.reg.prompts.keys() }

// getPrompt serves prompts/get.
func (s *Server) getPrompt(ctx context.Context, r *Request) *era.Outcome {
	raw, ok := r.in.Param(era.LiftName)
	if !ok || !jsonrpc.IsString(raw) {
		return invalid(mcp.InvalidParams("prompts/get needs the name of a prompt"))
	}
	name := text(raw)
	p, ok := s.reg.prompts.get(name)
	hidden := !s.shows(ctx, r, Prompts, name)
	if !ok || hidden {
		return s.fallback(ctx, r, hidden, func() *era.Outcome {
			return unknown(mcp.InvalidParams("unknown prompt: %s", short(name)))
		})
	}
	if refusal := s.openRetry(ctx, r); refusal != nil {
		return refusal
	}
	args, refusal := promptArguments(r, p)
	if refusal != nil {
		return invalid(refusal)
	}
	result, err := p.fill(ctx, r, args)
	if err != nil {
		return s.failure(r, err)
	}
	if result == nil {
		result = &mcp.GetPromptResult{}
	}
	return s.result(r, result)
}

// promptArguments reads the arguments: an object of strings in which the required ones are.
func promptArguments(r *Request, p *prompt) (map[string]string, *mcp.Error) {
	args := map[string]string{}
	raw, ok := r.in.Param(era.LiftArguments)
	if ok && string(raw) != "null" {
		var sent map[string]*string // so that null is told from ""
		if err := json.Unmarshal(raw, &sent); err != nil {
			return nil, mcp.InvalidParams("the arguments of prompt %s must be an object of strings", p.prompt.Name)
		}
		for name, value := range sent {
			if value == nil {
				return nil, mcp.InvalidParams("argument %q of prompt %s is null; send a string or leave it out", short(name), p.prompt.Name)
			}
			args[name] = *value
		}
	}
	for _, a := range p.prompt.Arguments {
		if _, ok := args[a.Name]; a.Required && !ok {
			return nil, mcp.InvalidParams("prompt %s needs the argument %q", p.prompt.Name, a.Name)
		}
	}
	return args, nil
}
