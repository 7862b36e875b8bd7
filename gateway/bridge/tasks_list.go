package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/tasks"
)

// taskPage is the number of tasks of one page of a list.
const taskPage = 50

var errCursor = mcp.InvalidParams("unknown cursor; begin again without one")

// list serves tasks/list, where its senders can be told apart: the tasks of all servers that the sender has begun here, the
// oldest first. A server's own list is not asked for: over a connection that many share it is the list of all of them.
func (d *taskDesk) list(ctx context.Context, req *server.Request) (*server.RawResult, error) {
	owner := taskOwner(req)
	if owner == "" {
		return nil, mcp.MethodNotFound(req.Method())
	}
	raw, _ := jsonrpc.Member(req.Params(), "cursor")
	after, ok := jsonrpc.Text(raw)
	if raw != nil && (!ok || after == "") {
		return nil, errCursor
	}
	records, err := d.kept.List(ctx, owner, after, taskPage+1)
	switch {
	case errors.Is(err, tasks.ErrNotFound):
		return nil, errCursor
	case err != nil:
		return nil, err
	}
	more := len(records) > taskPage
	records = records[:min(len(records), taskPage)]
	page := []byte(`{"tasks":[`)
	for _, entry := range d.entries(ctx, req, records) {
		if entry == nil {
			continue
		}
		if page[len(page)-1] != '[' {
			page = append(page, ',')
		}
		page = append(page, entry...)
	}
	page = append(page, ']')
	if more {
		page = jsonrpc.AppendString(append(page, `,"nextCursor":`...), records[len(records)-1].ID)
	}
	return &server.RawResult{Result: append(page, '}')}, nil
}

// entries asks for the tasks of one page, some at once. Nil stands for one that is gone.
func (d *taskDesk) entries(ctx context.Context, req *server.Request, records []tasks.Record) []json.RawMessage {
	const atOnce = 8
	entries, place := make([]json.RawMessage, len(records)), make(chan struct{}, atOnce)
	var asking sync.WaitGroup
	for i := range records {
		place <- struct{}{}
		asking.Go(func() { // ends with its request
			defer func() { <-place }()
			defer d.b.guard("the list of tasks", nil)
			entries[i] = d.entry(ctx, req, &records[i])
		})
	}
	asking.Wait()
	return entries
}

// entry is one task of a list. Of a server that cannot be asked now it is what is known here.
func (d *taskDesk) entry(ctx context.Context, req *server.Request, r *tasks.Record) json.RawMessage {
	ref, v, err := d.open(ctx, req, r.ID)
	if err != nil {
		return nil
	}
	state, err := d.state(ctx, req, v, ref, r.ID)
	switch {
	case err == nil:
		return state
	case errors.Is(err, mcp.CodeInvalidParams):
		return nil
	}
	return held(r, false)
}
