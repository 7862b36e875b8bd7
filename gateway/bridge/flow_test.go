package bridge_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// TestOneAtATimeWithQuestions holds that a call that waits for its client and others that wait for their turn do not wait for
// each other, whatever the eras: the answer reaches its call, and then the others have theirs.
func TestOneAtATimeWithQuestions(t *testing.T) {
	pairings(t, func(t *testing.T, modern, upModern bool) {
		w := newWorld(t, route.Naming{}, backend{name: "a", modern: upModern, fill: func(s *server.Server) {
			server.AddTool(s, mcp.Tool{Name: "ask"}, func(ctx context.Context, req *server.Request, in textIn) (string, error) {
				answer, err := server.ElicitAs[textIn](ctx, req, "Which?")
				return in.Text + answer.Text, err
			})
		}})
		w.set.Tune(map[string]upstream.Tuning{"a": {Flow: upstream.FlowTuning{InFlight: 1, Wait: 10 * time.Second}}})
		c := w.dialHTTP(t, modern, client.Options{Elicit: func(context.Context, *client.ElicitRequest) (*mcp.ElicitResult, error) {
			return client.Accept(textIn{"!"})
		}})
		var group sync.WaitGroup
		for i := range 8 {
			group.Go(func() {
				text := fmt.Sprint(i)
				if r, err := c.CallTool(t.Context(), "ask", textIn{text}); err != nil || r.Text() != text+"!" {
					t.Errorf("call %d: %+v, %v", i, r, err)
				}
			})
		}
		group.Wait()
	})
}

// TestFullQueue holds what a client is told whose call has no place.
func TestFullQueue(t *testing.T) {
	pairings(t, func(t *testing.T, modern, upModern bool) {
		slow := make(chan error, 10)
		w := newWorld(t, route.Naming{}, backend{name: "a", modern: upModern, fill: everything(slow)})
		w.set.Tune(map[string]upstream.Tuning{"a": {Flow: upstream.FlowTuning{InFlight: 1, Queue: -1}}})
		c := w.dial(t, modern, client.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { // ends with cancel
			defer close(done)
			_, _ = c.CallTool(ctx, "wait", struct{}{})
		}()
		<-slow
		f := fault(t, c, mcp.MethodCallTool, `{"name":"echo","arguments":{"text":"x"}}`)
		if f.Code != mcp.CodeInternal || !strings.Contains(f.Message, `server "a": its calls are limited to 1 at once; try again later`) {
			t.Errorf("%v", f)
		}
		cancel()
		<-done
	})
}

// TestCancelWithoutAPlace holds that a task can be cancelled whose server is at work on as many calls as it gets at once.
func TestCancelWithoutAPlace(t *testing.T) {
	pairings(t, func(t *testing.T, modern, upModern bool) {
		slow, job := make(chan error, 10), jobs("a", upModern, false)
		fill := job.fill
		job.fill = func(s *server.Server) { fill(s); everything(slow)(s) }
		w := newWorld(t, route.Naming{}, job)
		c := w.dial(t, modern, able(t))
		task := begin(t, c, "forever")
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { // ends with cancel
			defer close(done)
			_, _ = c.CallTool(ctx, "wait", struct{}{})
		}()
		<-slow
		w.set.Tune(map[string]upstream.Tuning{"a": {Flow: upstream.FlowTuning{InFlight: 1, Queue: -1}}})
		if err := c.CancelTask(t.Context(), task.ID); err != nil {
			t.Error(err)
		}
		cancel()
		<-done
	})
}

// TestWaitWithoutAPlace holds that who waits in the gateway for the end of a task goes on waiting while the server gets as many calls
// as it may: the looks at the task take no places.
func TestWaitWithoutAPlace(t *testing.T) {
	for _, upModern := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			slow, job := make(chan error, 10), jobs("a", upModern, false)
			fill := job.fill
			job.fill = func(s *server.Server) { fill(s); everything(slow)(s) }
			w := newWorld(t, route.Naming{}, job)
			c := w.dial(t, false, able(t)) // tasks/result is a method of its era
			task := begin(t, c, "forever")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() { _, _ = c.CallTool(ctx, "wait", struct{}{}) }() // ends with cancel
			<-slow
			w.set.Tune(map[string]upstream.Tuning{"a": {Flow: upstream.FlowTuning{InFlight: 1, Queue: -1}}})
			ended := make(chan error, 1)
			go func() { // ends with the task
				_, err := c.Raw(t.Context(), mcp.MethodTaskResult, []byte(`{"taskId":"`+task.ID+`"}`), client.RawOptions{})
				ended <- err
			}()
			time.Sleep(30 * time.Second)
			select {
			case err := <-ended:
				t.Fatalf("it ended with %v", err)
			default:
			}
			if err := c.CancelTask(t.Context(), task.ID); err != nil {
				t.Error(err)
			}
			if err := <-ended; err == nil || !strings.Contains(err.Error(), "cancelled") {
				t.Errorf("it ended with %v", err)
			}
			cancel()
			synctest.Wait()
		})
	}
}
