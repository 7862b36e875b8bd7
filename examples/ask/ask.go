package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
)

// offers prints who the server is and what it has. The iterators fetch page after page as they go.
func offers(ctx context.Context, c *client.Client, out io.Writer) error {
	fmt.Fprintf(out, "%s %s speaks %s\n", c.ServerInfo().Name, c.ServerInfo().Version, c.ProtocolVersion())
	for tool, err := range c.Tools(ctx) {
		if err != nil {
			return fmt.Errorf("list the tools: %w", err)
		}
		fmt.Fprintf(out, "  tool %s: %s\n", tool.Name, tool.Description)
	}
	for resource, err := range c.Resources(ctx) {
		if err != nil {
			return fmt.Errorf("list the resources: %w", err)
		}
		fmt.Fprintf(out, "  resource %s: %s\n", resource.URI, resource.Description)
	}
	for template, err := range c.ResourceTemplates(ctx) {
		if err != nil {
			return fmt.Errorf("list the resource templates: %w", err)
		}
		fmt.Fprintf(out, "  template %s: %s\n", template.URITemplate, template.Description)
	}
	for prompt, err := range c.Prompts(ctx) {
		if err != nil {
			return fmt.Errorf("list the prompts: %w", err)
		}
		fmt.Fprintf(out, "  prompt %s: %s\n", prompt.Name, prompt.Description)
	}
	return nil
}

// call calls the tool and prints progress as it comes. A sign of life starts the wait anew.
func call(ctx context.Context, c *client.Client, w wish, out io.Writer) error {
	result, err := c.CallTool(ctx, w.tool, json.RawMessage(w.args), client.CallOptions{
		Timeout:         w.timeout,
		ResetOnProgress: true,
		OnProgress:      func(p mcp.ProgressParams) { fmt.Fprintf(out, "... %s\n", p.Message) },
	})
	if err != nil {
		return fmt.Errorf("call %s: %w", w.tool, err)
	}
	if result.IsError { // the tool has failed and says why, in words that a model can use to try again
		return fmt.Errorf("%s: %s", w.tool, result.Text())
	}
	if result.StructuredContent != nil {
		_, err = fmt.Fprintf(out, "%s\n", result.StructuredContent)
		return err
	}
	for _, block := range result.Content {
		fmt.Fprintln(out, show(block))
	}
	return nil
}

// show puts a content block into words. Blocks of a kind nobody knows yet come as *mcp.UnknownContent.
func show(block mcp.Content) string {
	switch block := block.(type) {
	case *mcp.TextContent:
		return block.Text
	case *mcp.ImageContent:
		return fmt.Sprintf("(a picture, %s, %d bytes)", block.MIMEType, len(block.Data))
	case *mcp.ResourceLink:
		return "see " + block.URI
	default:
		return "(" + block.ContentType() + ")"
	}
}

// read prints a resource: text as it is, of bytes how many there are.
func read(ctx context.Context, c *client.Client, uri string, out io.Writer) error {
	result, err := c.ReadResource(ctx, uri)
	if err != nil {
		return fmt.Errorf("read %s: %w", uri, err)
	}
	for _, part := range result.Contents {
		text := strings.TrimSuffix(part.Text, "\n")
		if part.Blob != nil {
			text = fmt.Sprintf("(%d bytes, %s)", len(part.Blob), part.MIMEType)
		}
		fmt.Fprintf(out, "%s\n", text)
	}
	return nil
}

// explain says what a failure means for the person at the keyboard.
func explain(err error) string {
	var answered *mcp.Error
	switch {
	case errors.Is(err, client.ErrUnauthorized):
		return "the server wants to know who you are, and this example has no way to tell"
	case errors.Is(err, mcp.CodeRequestTimeout):
		return err.Error() + "; wait longer with -timeout"
	case errors.Is(err, mcp.CodeResourceNotFound): // one code here, whatever number the era has for it
		return "there is no such resource"
	case errors.As(err, &answered) && answered.Remote:
		return "the server said no: " + err.Error()
	default:
		return err.Error()
	}
}
