package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// called shows the result of a tool. One with isError is a failure: with JSON the result still goes to standard output.
func (e *environment) called(result json.RawMessage, asJSON bool) error {
	var r mcp.CallToolResult
	if err := json.Unmarshal(result, &r); err != nil {
		return &failure{exit: exitTool, step: mcp.MethodCallTool, kind: "result", seen: "the result cannot be read: " + clean(err.Error())}
	}
	shown := blocks(r.Content)
	if shown == "" && r.StructuredContent != nil {
		shown = string(r.StructuredContent)
	}
	if asJSON {
		if err := e.raw(result); err != nil {
			return err
		}
	} else if !r.IsError && shown != "" {
		return e.print(shown)
	}
	if r.IsError {
		return &failure{exit: exitTool, step: "the tool says that it failed", kind: "tool", seen: shown}
	}
	return nil
}

// blocks shows content for people: texts as they are, the rest by a line each.
func blocks(content []mcp.Content) string {
	var out []string
	for _, c := range content {
		out = append(out, block(c))
	}
	return strings.Join(out, "\n")
}

func block(c mcp.Content) string {
	switch c := c.(type) {
	case *mcp.TextContent:
		return clean(c.Text)
	case *mcp.ImageContent:
		return fmt.Sprintf("[image %s, %d bytes]", clean(c.MIMEType), len(c.Data))
	case *mcp.AudioContent:
		return fmt.Sprintf("[audio %s, %d bytes]", clean(c.MIMEType), len(c.Data))
	case *mcp.ResourceLink:
		return fmt.Sprintf("[link %s]", clean(c.URI))
	case *mcp.EmbeddedResource:
		return resource(c.Resource)
	}
	return fmt.Sprintf("[%s]", clean(c.ContentType()))
}

func resource(r mcp.ResourceContents) string {
	if r.Blob != nil {
		return fmt.Sprintf("[%s %s, %d bytes]", clean(r.URI), clean(r.MIMEType), len(r.Blob))
	}
	return clean(r.Text)
}

// contents shows what a read has brought.
func (e *environment) contents(result json.RawMessage) error {
	var r mcp.ReadResourceResult
	if err := json.Unmarshal(result, &r); err != nil {
		return &failure{exit: exitTool, step: mcp.MethodReadResource, kind: "result", seen: "the result cannot be read: " + clean(err.Error())}
	}
	var out []string
	for _, c := range r.Contents {
		out = append(out, resource(c))
	}
	return e.print(strings.Join(out, "\n"))
}

// messages shows a prompt.
func (e *environment) messages(result json.RawMessage) error {
	var r mcp.GetPromptResult
	if err := json.Unmarshal(result, &r); err != nil {
		return &failure{exit: exitTool, step: mcp.MethodGetPrompt, kind: "result", seen: "the result cannot be read: " + clean(err.Error())}
	}
	var out []string
	for _, m := range r.Messages {
		out = append(out, clean(string(m.Role))+": "+block(m.Content))
	}
	return e.print(strings.Join(out, "\n"))
}

// progress shows one notification as a line on the terminal.
func (e *environment) progress(params json.RawMessage) {
	value, _ := jsonrpc.Member(params, "progress")
	total, bounded := jsonrpc.Member(params, "total")
	line := string(value)
	if bounded {
		line += " of " + string(total)
	}
	if message := text(params, "message"); message != "" {
		line += ": " + brief(message)
	}
	_, _ = fmt.Fprintln(e.stderr, "  "+clean(line)) // a terminal that has gone is no reason to stop the call
}
