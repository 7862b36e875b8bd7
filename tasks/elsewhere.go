package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/state"
)

// A task that runs in another process of the server is read from the store that they share, and reached over the bus that the
// server has for its replicas: each host serves a topic of its own there, which the record of a task names.

// word is what one host says to another about a task that runs there. Beside its members stands "answers", an object of answers
// by the key of their question, which passes through no writer of JSON.
type word struct {
	Task    string   `json:"task"`
	Refused string   `json:"refused,omitempty"` // why there will be no answers to Keys
	Keys    []string `json:"keys,omitempty"`
	End     bool     `json:"end,omitempty"` // it was cancelled
}

func topicOf(host string) string { return "rialto/tasks/" + host }

// reachTime bounds how long a request waits for another process.
const reachTime = 5 * time.Second

// reach says a word to the process that runs a task, with answers or nil. The errors are for the client.
func (h *Host) reach(ctx context.Context, r *Record, w word, answers json.RawMessage) error {
	bus := h.server.Bus()
	if bus == nil {
		h.opts.OnError(errors.New("a request for a task came to a process that does not run it and cannot reach the one that does: " +
			"set server.Options.Bus on all, or send the requests for a task where it runs, by their header Mcp-Name"))
		return mcp.Errorf(mcp.CodeInternal, "The task runs in another process of this server, and there is no way to it from here; tasks/get works everywhere")
	}
	raw, err := json.Marshal(w)
	if err != nil {
		return err
	}
	if answers != nil {
		raw = jsonrpc.With(nil, raw, "answers", answers)
	}
	ctx, cancel := context.WithTimeout(ctx, reachTime)
	defer cancel()
	if _, err := state.Ask(ctx, bus, topicOf(r.Host), raw); err != nil {
		h.opts.OnError(fmt.Errorf("reach the process that runs a task: %w", err))
		return mcp.Errorf(mcp.CodeInternal, "The task runs in another process of this server, which cannot be reached; try again in a moment")
	}
	return nil
}

// ear is what listens to the other hosts.
type ear struct {
	end  context.CancelFunc
	task sync.WaitGroup
}

// listen begins to hear the other hosts, where there is a bus. Shutdown ends it.
func (h *Host) listen() {
	bus := h.server.Bus()
	if bus == nil {
		return
	}
	ctx, end := context.WithCancel(context.Background())
	h.ear.end = end
	h.ear.task.Go(func() { // ends with stop, which waits
		for ctx.Err() == nil {
			err := state.Answer(ctx, bus, topicOf(h.name), h.heard, state.AnswerOptions{OnError: h.opts.OnError})
			if ctx.Err() == nil {
				h.opts.OnError(fmt.Errorf("hear of tasks from other processes: %w", err))
				_ = sleep(ctx, time.Second) // its end is that of the loop
			}
		}
	})
}

// stop may be called twice, and before listen.
func (e *ear) stop() {
	if e.end != nil {
		e.end()
	}
	e.task.Wait()
}

// heard does what another host says. A task that has ended meanwhile needs no word any more.
func (h *Host) heard(_ context.Context, raw []byte) ([]byte, bool) {
	var w word
	if err := json.Unmarshal(raw, &w); err != nil {
		h.opts.OnError(fmt.Errorf("read what another process says of a task: %w", err))
		return nil, false
	}
	h.mu.Lock()
	l := h.live[w.Task]
	h.mu.Unlock()
	if l == nil {
		return []byte("ended"), true
	}
	if answers, ok := jsonrpc.Member(raw, "answers"); ok {
		l.answer(answersIn(answers))
	}
	if w.Refused != "" {
		claimed := mcp.InputRequests{}
		for _, key := range w.Keys {
			claimed[key] = mcp.InputRequest{}
		}
		l.release(claimed, errors.New(w.Refused))
	}
	if w.End {
		l.end(errCancelled)
		l.detached.Changed()
	}
	return []byte("done"), true
}

// pass puts the questions of a task that runs elsewhere to the client of this request, as far as they are not in sent, and hands
// the answers on. It answers false when there is no way to the client on this request, or to the task.
func (h *Host) pass(ctx context.Context, req *server.Request, r *Record, sent map[string]bool) bool {
	var questions mcp.InputRequests
	if r.Questions == nil || json.Unmarshal(r.Questions, &questions) != nil {
		return true
	}
	marked, w := mcp.InputRequests{}, word{Task: r.ID}
	for _, key := range questions.Keys() {
		if q := questions[key]; !sent[key] {
			sent[key] = true
			q.Params = withRelated(q.Params, r.ID)
			marked[key] = q
			w.Keys = append(w.Keys, key)
		}
	}
	if len(marked) == 0 {
		return true
	}
	answers, err := req.SendInput(ctx, marked)
	var refused *mcp.Error
	switch {
	case err == nil:
		raw := json.RawMessage("{}")
		for _, key := range answers.Keys() {
			raw = jsonrpc.With(nil, raw, key, answers[key])
		}
		return h.reach(ctx, r, w, raw) == nil
	case errors.As(err, &refused) && refused.Remote:
		w.Refused = err.Error()
		return h.reach(ctx, r, w, nil) == nil
	}
	return false
}
