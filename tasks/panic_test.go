package tasks_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/mcptest"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/tasks"
)

// bomb is a result that cannot be encoded.
type bomb struct{}

func (bomb) MarshalJSON() ([]byte, error) { panic("boom") }

// TestPanicWhileEncoding returns a value whose own encoding panics: the task has failed, and the process goes on.
func TestPanicWhileEncoding(t *testing.T) {
	reported := make(chan string, 10)
	s := server.New(mcp.Implementation{Name: "jobs", Version: "1"}, server.Options{
		Tasks: tasks.New(tasks.Options{}), OnError: func(err error) { reported <- err.Error() },
	})
	server.AddTool(s, mcp.Tool{Name: "bomb", Execution: tasks.May()}, tasks.Whole(func(context.Context, *server.Request, none) (any, error) { return bomb{}, nil }, every))
	c := mcptest.Pair(t, s, client.Options{Tasks: true})
	task := start(t, c, "bomb")
	if _, err := c.AwaitTask(t.Context(), task.ID); !errors.Is(err, mcp.CodeInternal) || strings.Contains(err.Error(), "boom") {
		t.Errorf("got %v", err)
	}
	if why := <-reported; !strings.Contains(why, "boom") {
		t.Errorf("reported: %s", why)
	}
}
