package client

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// rawQuestion is a request of the server that waits for its answer.
type rawQuestion struct {
	key    string
	req    *IncomingRequest
	answer chan rawAnswer // of one place
}

type rawAnswer struct {
	result json.RawMessage
	err    error
}

// Bounds of the questions of a RawTask.
const (
	questionWait = 2 * time.Second // for the question of a task that wants input, once it is asked for
	answerWait   = time.Hour       // for the answer
)

// Refuse answers a question of the task with an error. It answers false where the revision has no such answer, or nobody waits
// for one.
func (t *RawTask) Refuse(key string, err error) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, q := range t.open {
		if q.key == key {
			return q.settle(rawAnswer{err: err})
		}
	}
	return false
}

// Ask puts a request of the server that belongs to the task among its questions, and waits for the answer: for Options.OnRequest.
func (t *RawTask) Ask(ctx context.Context, req *IncomingRequest) (json.RawMessage, error) {
	q, err := t.put(req)
	if err != nil {
		return nil, err
	}
	defer t.drop(q)
	timer := time.NewTimer(answerWait)
	defer timer.Stop()
	select {
	case a := <-q.answer:
		return a.result, a.err
	case <-timer.C:
		return nil, mcp.Errorf(mcp.CodeInternal, "nobody has answered this within %s", answerWait)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// put opens a question.
func (t *RawTask) put(req *IncomingRequest) (*rawQuestion, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.open) >= mostQuestions {
		return nil, mcp.Errorf(mcp.CodeInternal, "%d questions of this task wait for their answers, which is the limit", mostQuestions)
	}
	t.asked++
	q := &rawQuestion{key: t.prefix + strconv.Itoa(t.asked), req: req, answer: make(chan rawAnswer, 1)}
	t.open = append(t.open, q)
	close(t.came)
	t.came = make(chan struct{})
	return q, nil
}

func (t *RawTask) drop(q *rawQuestion) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, other := range t.open {
		if other == q {
			t.open = append(t.open[:i:i], t.open[i+1:]...)
			return
		}
	}
}

// settle gives a question its answer; false when it has one. The lock of the task is held.
func (q *rawQuestion) settle(a rawAnswer) bool {
	select {
	case q.answer <- a:
		return true
	default:
		return false
	}
}

// await waits a moment for a question, where none is open.
func (t *RawTask) await(ctx context.Context) {
	t.mu.Lock()
	came, some := t.came, len(t.open) > 0
	t.mu.Unlock()
	if some {
		return
	}
	timer := time.NewTimer(questionWait)
	defer timer.Stop()
	select {
	case <-came:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// questions are those without an answer, as inputRequests; nil for none. Which task they belong to goes without saying.
func (t *RawTask) questions() json.RawMessage {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []byte
	for _, q := range t.open {
		if len(q.answer) > 0 {
			continue
		}
		sep := byte(',')
		if out == nil {
			sep = '{'
		}
		out = append(jsonrpc.AppendString(append(out, sep), q.key), `:{"method":`...)
		out = jsonrpc.AppendString(out, q.req.Method)
		if q.req.Params != nil {
			out = append(append(out, `,"params":`...), withoutRelated(q.req.Params)...)
		}
		out = append(out, '}')
	}
	if out == nil {
		return nil
	}
	return append(out, '}')
}
