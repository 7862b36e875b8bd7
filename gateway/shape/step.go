package shape

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rialto-mcp/rialto/gateway/bridge"
	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// Step turns the arguments that clients know into those that servers take. It is a [bridge.Step], for the end of all: what is
// taken before sees what the client has sent.
func (p *Plan) Step(ctx context.Context, pass *bridge.Passage, next func(context.Context) (*server.RawResult, error)) (*server.RawResult, error) {
	edit, ok := p.servers[pass.Server].Tools.Edit[pass.Name]
	if !ok || pass.Kind != route.Tool || len(edit.Arguments) == 0 {
		return next(ctx)
	}
	if pass.Task {
		return edit.explain(next(ctx))
	}
	params, fixed, err := edit.params(pass.Params)
	switch {
	case err == nil:
		pass.Params, pass.Fixed = params, append(slices.Clip(pass.Fixed), fixed...)
	case !pass.Resumed: // else the server has what it takes, whatever is said of its arguments by now
		return nil, err
	}
	return edit.explain(next(ctx))
}

// params are the parameters that the server gets, and the names of the arguments in them that the client has not said.
func (e Edit) params(of json.RawMessage) (json.RawMessage, []string, error) {
	args, _ := jsonrpc.Member(of, "arguments")
	switch {
	case len(args) == 0 || string(args) == "null":
		args = json.RawMessage("{}")
	case !jsonrpc.IsObject(args):
		return nil, nil, mcp.InvalidParams("the arguments of a tool are an object")
	}
	inward, fixed, err := e.inward(args)
	if err != nil {
		return nil, nil, err
	}
	return jsonrpc.With(nil, of, "arguments", inward), fixed, nil
}

// inward is what the server gets, and which of that the client has not said.
func (e Edit) inward(args json.RawMessage) (out json.RawMessage, fixed []string, err error) {
	own := make(map[string]string) // by the names that clients know
	for name, a := range e.Arguments {
		if !a.hidden() {
			own[a.shown(name)] = name
		}
	}
	var unknown error
	out = members(args, func(f jsonrpc.Field) ([]byte, []byte, bool) {
		shown, _ := jsonrpc.Text(f.Name)
		name, said := own[shown]
		_, other := e.Arguments[shown]
		switch {
		case said && name != shown:
			return jsonrpc.AppendString(nil, name), f.Value, true
		case !said && (other || e.hides(shown)): // a name that only the server knows
			unknown = mcp.InvalidParams("this tool takes no argument %q", shown)
		}
		return f.Name, f.Value, true
	})
	if unknown != nil {
		return nil, nil, unknown
	}
	for _, name := range slices.Sorted(maps.Keys(e.Arguments)) {
		switch a := e.Arguments[name]; {
		case a.Value != nil:
			out, fixed = jsonrpc.With(nil, out, name, a.Value), append(fixed, name)
		case a.Default != nil && !has(out, name):
			out, fixed = jsonrpc.With(nil, out, name, a.Default), append(fixed, name)
		}
	}
	return out, fixed, nil
}

// hides tells whether a hidden argument has a name, or one that some servers would take for it: those that do not tell capitals
// from small letters.
func (e Edit) hides(name string) bool {
	for own, a := range e.Arguments {
		if a.hidden() && strings.EqualFold(own, name) {
			return true
		}
	}
	return false
}

// explain adds to an error that speaks of arguments by names which the client does not know what they are called here, and
// takes secrets out of it.
func (e Edit) explain(result *server.RawResult, err error) (*server.RawResult, error) {
	var fault *mcp.Error
	if errors.As(err, &fault) {
		told := *fault
		told.Message = e.clean(fault.Message)
		if words := e.words(told.Message); words != "" {
			told.Message += " (" + words + ")"
		}
		if told.Message == fault.Message {
			return result, err
		}
		return result, &told
	}
	if err != nil || result == nil || result.Result == nil {
		return result, err
	}
	if failed, _ := jsonrpc.Member(result.Result, "isError"); string(failed) != "true" {
		return result, nil
	}
	content, _ := jsonrpc.Member(result.Result, "content")
	var said strings.Builder
	edited := list(content, func(block []byte) []byte {
		raw, _ := jsonrpc.Member(block, "text")
		text, ok := jsonrpc.Text(raw)
		if !ok {
			return block
		}
		said.WriteString(text + "\n")
		if clean := e.clean(text); clean != text {
			return jsonrpc.With(nil, block, "text", jsonrpc.AppendString(nil, clean))
		}
		return block
	})
	if words := e.words(said.String()); words != "" {
		edited = append(slices.Clip(edited[:len(edited)-1]), `,{"type":"text","text":`...)
		edited = append(jsonrpc.AppendString(edited, words), "}]"...)
	}
	out := *result
	out.Result = jsonrpc.With(nil, result.Result, "content", edited)
	return &out, nil
}

// words say what the arguments are called that a text speaks of.
func (e Edit) words(text string) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(e.Arguments)) {
		a := e.Arguments[name]
		switch {
		case !speaks(text, name):
		case a.Value != nil:
			out = append(out, fmt.Sprintf("the argument %q is set by the gateway", name))
		case a.Drop:
			out = append(out, fmt.Sprintf("the argument %q is not offered here", name))
		case a.Rename != "" && a.Rename != name:
			out = append(out, fmt.Sprintf("the argument %q is called %q here", name, a.Rename))
		}
	}
	return strings.Join(out, "; ")
}

// speaks tells whether a name stands in a text as a word.
func speaks(text, name string) bool {
	for from := 0; ; {
		at := strings.Index(text[from:], name)
		if at < 0 {
			return false
		}
		at += from
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[at+len(name):])
		if !inWord(before) && !inWord(after) {
			return true
		}
		from = at + 1
	}
}

func inWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

const mask = "***"

// clean takes the secrets out of a text.
func (e Edit) clean(text string) string {
	for _, a := range e.Arguments {
		for _, secret := range a.Secret {
			text = strings.ReplaceAll(text, secret, mask)
		}
	}
	return text
}
