package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/rialto-mcp/rialto/mcp"
)

// TaskNews brings the states of tasks as the server tells them. Next is for one goroutine; Close may be called concurrently.
type TaskNews struct {
	c      *Client
	stream *Stream
	ids    []string
	fresh  []string        // whose state has not been asked for yet
	going  map[string]bool // those that have not been seen to end
}

// FollowTasks asks for news of tasks by a stream of subscriptions/listen, instead of asking for the tasks again and again. It is
// for servers of the modern era with tasks; on the legacy one those that a session has started are told of without asking, to
// Options.OnNotification, and this fails with mcp.CodeMethodNotSupported. It takes Options.Tasks.
//
// It returns when the server has agreed. Tasks that it does not know, or that are somebody else's, are left out: see
// [TaskNews.IDs]; it fails with mcp.CodeInvalidParams when none is left. The news end with ctx, by Close, and with the client;
// what they show is not answered: that is up to [Client.AwaitTask] or [Client.UpdateTask].
func (c *Client) FollowTasks(ctx context.Context, ids ...string) (*TaskNews, error) {
	n, err := c.followTasks(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("follow tasks: %w", err)
	}
	return n, nil
}

func (c *Client) followTasks(ctx context.Context, ids []string) (*TaskNews, error) {
	if !c.traits().Listen {
		return nil, mcp.Errorf(mcp.CodeMethodNotSupported, "this revision has no news of tasks to ask for; a session hears of the tasks that it has started, by Options.OnNotification")
	}
	filter := Filter{}.WithTaskIDs(distinct(ids))
	params, err := jsonv2.Marshal(mcp.ListenParams{Notifications: filter})
	if err != nil {
		return nil, err
	}
	stream, err := c.Start(ctx, mcp.MethodListen, params, RawOptions{})
	if err != nil {
		return nil, err
	}
	n := &TaskNews{c: c, stream: stream, going: map[string]bool{}}
	if err := n.agree(ctx); err != nil {
		stream.Close()
		return nil, err
	}
	return n, nil
}

// agree waits for the acknowledgement of the server.
func (n *TaskNews) agree(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, ackTime, errNoAck)
	defer cancel()
	m, err := n.next(ctx)
	switch {
	case errors.Is(err, io.EOF):
		return errBare
	case err != nil:
		return err
	case m.Method != mcp.NotifySubscriptionsAcknowledged:
		return errEarly
	}
	var ack mcp.SubscriptionsAcknowledgedParams
	if err := jsonv2.Unmarshal(m.Params, &ack); err != nil {
		return mcp.Errorf(mcp.CodeInvalidResult, "the acknowledgement of the server cannot be read: %v", err)
	}
	n.ids, _ = ack.Notifications.TaskIDs()
	if len(n.ids) == 0 {
		return mcp.InvalidParams("the server knows none of these tasks")
	}
	n.fresh = n.ids
	for _, id := range n.ids {
		n.going[id] = true
	}
	return nil
}

// next takes a message, and makes an error of a stream that has not ended in order.
func (n *TaskNews) next(ctx context.Context) (*Message, error) {
	m, err := n.stream.Next(ctx)
	if errors.Is(err, io.EOF) {
		if _, failed := n.stream.Result(); failed != nil {
			return nil, failed
		}
	}
	return m, err
}

// IDs returns the tasks that the server tells of.
func (n *TaskNews) IDs() []string { return n.ids }

// Next returns the next state of one of the tasks: first that of each as it is now, then each change; those that come quickly
// one after the other may be one. A task that has ended brings its result or error along. It fails with io.EOF when all tasks
// have ended, or the server has ended the stream in order; with the reason when it breaks; and with the cause of ctx.
func (n *TaskNews) Next(ctx context.Context) (*mcp.Task, error) {
	for len(n.going) > 0 {
		task, err := n.look(ctx)
		switch {
		case err != nil:
			return nil, err
		case task == nil || !n.going[task.ID]:
			continue // told once more
		case task.Status.Final():
			delete(n.going, task.ID)
		}
		return task, nil
	}
	n.Close()
	return nil, io.EOF
}

// look asks for a task that has not been looked at yet, or else waits for news. Nil stands for a message that is none.
func (n *TaskNews) look(ctx context.Context) (*mcp.Task, error) {
	if len(n.fresh) > 0 {
		task, err := n.c.GetTask(ctx, n.fresh[0])
		if err == nil {
			n.fresh = n.fresh[1:]
		}
		return task, err
	}
	m, err := n.next(ctx)
	if err != nil || m.Method != mcp.NotifyTask {
		return nil, err
	}
	task := &mcp.Task{}
	if err := json.Unmarshal(m.Params, task); err != nil {
		return nil, mcp.Errorf(mcp.CodeInvalidResult, "news of a task cannot be read: %v", err)
	}
	return task, nil
}

// Close ends the news. It may be called twice.
func (n *TaskNews) Close() { n.stream.Close() }
