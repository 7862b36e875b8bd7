// Command server-notes keeps notes for a model, over standard input and output. Its tools are the methods of a value, and
// each note is a resource: what the tools do, clients see in the list and hear of.
//
// Usage: go run ./examples/server-notes
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"os/signal"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	logger := slog.New(slog.NewTextHandler(os.Stderr, nil)) // standard output belongs to the protocol
	if err := newServer(server.Options{Logger: logger}).RunStdio(ctx); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "server-notes:", err)
		os.Exit(1)
	}
}

func newServer(opts server.Options) *server.Server {
	opts.Instructions = "Keep what is worth keeping as a note; read notes as resources."
	opts.Capabilities.Resources = &mcp.ResourcesCapability{ListChanged: true, Subscribe: true} // though there is no note yet
	s := server.New(mcp.Implementation{Name: "notes", Version: "1.0.0"}, opts)
	server.RegisterTools(s, notes{s})
	return s
}

// notes are kept where they are served: in the resources of the server.
type notes struct{ server *server.Server }

// DescribeTools implements server.ToolDescriber.
func (notes) DescribeTools() map[string]mcp.Tool {
	harmless := false
	return map[string]mcp.Tool{
		"WriteNote": {Description: "Keeps a note, or replaces the one of that title", Annotations: &mcp.ToolAnnotations{DestructiveHint: &harmless}},
		"DropNote":  {Description: "Throws a note away"},
	}
}

// Note is what the model writes.
type Note struct {
	Title string `json:"title" jsonschema:"min=1,max=80"`
	Text  string `json:"text"`
}

// WriteNote is the tool write_note.
func (n notes) WriteNote(_ context.Context, _ *server.Request, in Note) (mcp.Content, error) {
	uri := address(in.Title)
	entry := mcp.Resource{URI: uri, Name: in.Title, MIMEType: "text/plain"}
	n.server.AddResource(entry, func(context.Context, *server.Request) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{mcp.TextResource(uri, "text/plain", in.Text)}}, nil
	})
	n.server.ResourceUpdated(uri) // who has subscribed to an earlier note of that title reads it again
	return &mcp.ResourceLink{URI: uri, Name: in.Title}, nil
}

// Which names a note.
type Which struct {
	Title string `json:"title"`
}

// DropNote is the tool drop_note.
func (n notes) DropNote(_ context.Context, _ *server.Request, in Which) (string, error) {
	if n.server.RemoveResource(address(in.Title)) == 0 {
		return "", fmt.Errorf("there is no note %q", in.Title) // the model reads this
	}
	return "dropped", nil
}

func address(title string) string { return "note:" + url.PathEscape(title) }
