package tasks_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/mcptest"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/tasks"
)

// jobs builds a server with one tool that runs as a task, and a client of it, inside a bubble.
func jobs(t *testing.T, opts tasks.Options, clientOpts client.Options, fn func(context.Context, *server.Request, none) (string, error)) (*tasks.Host, *server.Server, *client.Client) {
	t.Helper()
	host := tasks.New(opts)
	s := server.New(mcp.Implementation{Name: "jobs", Version: "1"}, server.Options{Tasks: host})
	server.AddTool(s, mcp.Tool{Name: "job", Execution: tasks.May()}, tasks.Whole(fn, every))
	return host, s, mcptest.Pair(t, s, clientOpts)
}

// TestGuessedIDs asks for tasks that nobody was given. All get one answer, whatever the id looks like.
func TestGuessedIDs(t *testing.T) {
	modes(t, func(t *testing.T, opts client.Options) {
		_, _, c := jobs(t, tasks.Options{}, opts, func(context.Context, *server.Request, none) (string, error) { return "done", nil })
		task := start(t, c, "job")
		for _, id := range []string{
			`""`, `"x"`, `"` + strings.ToLower(task.ID) + `"`, `"` + task.ID + ` "`, `"` + task.ID + `\u0000"`, `"` + task.ID[1:] + `"`,
			`"../` + task.ID + `"`, `"` + strings.Repeat("A", 100_000) + `"`, `null`, `7`, `{}`, `["` + task.ID + `"]`, `true`,
		} {
			for _, method := range []string{mcp.MethodGetTask, mcp.MethodCancelTask} {
				_, err := c.Raw(t.Context(), method, fmt.Appendf(nil, `{"taskId":%s}`, id), client.RawOptions{})
				if !errors.Is(err, mcp.CodeInvalidParams) || strings.Contains(err.Error(), "AAAA") {
					t.Errorf("%s of %.40s: %v", method, id, err)
				}
			}
		}
		if _, err := c.Raw(t.Context(), mcp.MethodGetTask, nil, client.RawOptions{}); !errors.Is(err, mcp.CodeInvalidParams) {
			t.Errorf("without an id: %v", err)
		}
	})
}

// TestLivesAskedFor asks for lives that are none. What can be read counts, up to the limit of the server.
func TestLivesAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := able(t)
		opts.Mode = client.Legacy
		_, _, c := jobs(t, tasks.Options{TTL: time.Minute, MaxTTL: time.Hour}, opts, func(context.Context, *server.Request, none) (string, error) { return "done", nil })
		const fallback, least, most = 60_000, 1000, 3_600_000
		for ttl, want := range map[string]int64{
			`90000`: 90_000, `90000.9`: 90_000, `9e4`: 90_000, `1`: least, `0`: fallback, `-1`: fallback, `-9e99`: fallback,
			`1e15`: most, `1e300`: most, `9223372036854775807`: most, `1e999`: fallback, `null`: fallback, `"90000"`: fallback, `{}`: fallback,
		} {
			raw, err := c.Raw(t.Context(), mcp.MethodCallTool, fmt.Appendf(nil, `{"name":"job","arguments":{},"task":{"ttl":%s}}`, ttl), client.RawOptions{})
			if err != nil {
				t.Errorf("%s: %v", ttl, err)
				continue
			}
			var task mcp.Task
			if err := json.Unmarshal(raw.Result, &task); err != nil || task.TTLMs == nil || *task.TTLMs != want {
				t.Errorf("a life of %s: %s, %v; want %d", ttl, raw.Result, err, want)
			}
		}
	})
}

// TestPollStorm asks for one task by many requests at once, while it goes on and when it ends; all get answers, and those that wait
// for its result the same one.
func TestPollStorm(t *testing.T) {
	modes(t, func(t *testing.T, opts client.Options) {
		release := make(chan struct{})
		_, _, c := jobs(t, tasks.Options{}, opts, func(context.Context, *server.Request, none) (string, error) {
			<-release
			return "done", nil
		})
		task := start(t, c, "job")
		var storm sync.WaitGroup
		for range 200 {
			storm.Go(func() {
				if result, err := c.AwaitTask(t.Context(), task.ID); err != nil || result.Text() != "done" {
					t.Errorf("got %v, %v", result, err)
				}
			})
			for range 10 {
				if _, err := c.GetTask(t.Context(), task.ID); err != nil {
					t.Error(err)
				}
			}
		}
		close(release)
		storm.Wait()
	})
}

// TestResultTwiceAndTooLate fetches a result again and again, and after the time of the task; who waits for it then is told.
func TestResultTwiceAndTooLate(t *testing.T) {
	modes(t, func(t *testing.T, opts client.Options) {
		block := make(chan struct{})
		_, s, c := jobs(t, tasks.Options{TTL: time.Minute}, opts, func(ctx context.Context, req *server.Request, _ none) (string, error) {
			select {
			case <-block:
			case <-time.After(time.Second):
			}
			return "done", nil
		})
		task := start(t, c, "job")
		for range 3 {
			if result, err := c.AwaitTask(t.Context(), task.ID); err != nil || result.Text() != "done" {
				t.Errorf("got %v, %v", result, err)
			}
		}
		time.Sleep(time.Minute)
		_, get := c.GetTask(t.Context(), task.ID)
		_, await := c.AwaitTask(t.Context(), task.ID)
		if cancel := c.CancelTask(t.Context(), task.ID); !errors.Is(get, mcp.CodeInvalidParams) || !errors.Is(await, mcp.CodeInvalidParams) || !errors.Is(cancel, mcp.CodeInvalidParams) {
			t.Errorf("after its time: %v, %v, %v", get, await, cancel)
		}
		close(block)
		if err := s.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestCancelRacesTheEnd cancels tasks in the moment in which they end. Each ends once, one way or the other, and stays so.
func TestCancelRacesTheEnd(t *testing.T) {
	modes(t, func(t *testing.T, opts client.Options) {
		store := tasks.NewMemory(tasks.MemoryLimits{})
		end := make(chan struct{})
		host, _, c := jobs(t, tasks.Options{Store: store}, opts, func(context.Context, *server.Request, none) (string, error) {
			<-end
			return "done", nil
		})
		var all []*mcp.Task
		for range 100 {
			all = append(all, start(t, c, "job"))
		}
		close(end)
		var race sync.WaitGroup
		for _, task := range all {
			race.Go(func() { _ = c.CancelTask(t.Context(), task.ID) }) // refused on the legacy era, when it comes too late
		}
		race.Wait()
		synctest.Wait()
		for _, task := range all {
			r, err := store.Get(t.Context(), task.ID)
			cancelled := r.Status == mcp.TaskCancelled && r.Outcome.Result == nil
			if completed := r.Status == mcp.TaskCompleted && r.Outcome.Result != nil; err != nil || cancelled == completed {
				t.Fatalf("ended as %+v, %v", r, err)
			}
			_, err = c.AwaitTask(t.Context(), task.ID)
			if cancelled != errors.Is(err, client.ErrTaskCancelled) {
				t.Errorf("%s is told as %v", r.Status, err)
			}
		}
		if host.Running() != 0 {
			t.Errorf("%d still run", host.Running())
		}
	})
}

// TestWorkThatNeverEnds runs work that takes no notice of its context. Its task ends all the same, its place is taken until it has
// ended, and Shutdown says that it has not.
func TestWorkThatNeverEnds(t *testing.T) {
	modes(t, func(t *testing.T, opts client.Options) {
		leave := make(chan struct{})
		var told atomic.Int32
		opts.OnNotification = func(context.Context, string, json.RawMessage) { told.Add(1) }
		host, s, c := jobs(t, tasks.Options{MaxRunning: 1, TTL: time.Minute}, opts, func(ctx context.Context, req *server.Request, _ none) (string, error) {
			<-leave
			req.Progress(ctx, 1, 1, "still here")
			_, err := req.ListRoots(ctx)
			if err == nil {
				t.Error("a question after the end was answered")
			}
			return "done", nil
		})
		task := start(t, c, "job")
		if err := c.CancelTask(t.Context(), task.ID); err != nil {
			t.Error(err)
		}
		if task, err := c.GetTask(t.Context(), task.ID); err != nil || task.Status != mcp.TaskCancelled {
			t.Errorf("got %+v, %v", task, err)
		}
		if _, err := c.StartTool(t.Context(), "job", nil); err == nil || host.Running() != 1 {
			t.Errorf("a second one: %v, and %d run", err, host.Running())
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := host.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "still runs") {
			t.Errorf("shut down: %v", err)
		}
		synctest.Wait()
		before := told.Load()
		close(leave)
		synctest.Wait()
		if task, err := c.GetTask(t.Context(), task.ID); err != nil || task.Status != mcp.TaskCancelled || task.StatusMessage == "still here" {
			t.Errorf("afterwards %+v, %v", task, err)
		}
		if told.Load() != before || host.Running() != 0 {
			t.Errorf("%d notices after the end, and %d run", told.Load()-before, host.Running())
		}
		if err := s.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestAnswersThatAreNone sends answers that fit no question: those to none are passed over, and one that is wrong is asked for
// again under a new key, as often as a call may ask.
func TestAnswersThatAreNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := able(t)
		opts.Mode = client.Modern
		_, _, c := jobs(t, tasks.Options{}, opts, func(ctx context.Context, req *server.Request, _ none) (string, error) {
			who, err := server.ElicitAs[name](ctx, req, "who?")
			return who.Name, err
		})
		task := start(t, c, "job")
		keys := map[string]bool{}
		for round, answer := range []string{`null`, `7`, `"x"`, `[]`, `{}`, `{"action":"maybe"}`, `{"action":"accept","content":{"name":7}}`, `{"action":"accept"}`, `{"result":{"action":"decline"}}`, `{"method":"x"}`} {
			synctest.Wait()
			now, err := c.GetTask(t.Context(), task.ID)
			if err != nil || len(now.InputRequests) != 1 {
				t.Fatalf("round %d: %+v, %v", round, now, err)
			}
			answers := mcp.InputResponses{"nobody asked": []byte(`{"action":"accept"}`)}
			for key := range now.InputRequests {
				if keys[key] {
					t.Errorf("the key %s comes twice", key)
				}
				keys[key] = true
				answers[key] = json.RawMessage(answer)
			}
			for range 2 { // the second one comes too late
				if err := c.UpdateTask(t.Context(), task.ID, answers); err != nil {
					t.Error(err)
				}
			}
		}
		if result, err := c.AwaitTask(t.Context(), task.ID); err != nil || !result.IsError || !strings.Contains(result.Text(), "asked 10 times") {
			t.Errorf("got %v, %v", result, err)
		}
	})
}

// TestManyTasks fills a store without bounds: with the time of the tasks all of it goes, and a list costs what its owner has.
func TestManyTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const many, owners = 200_000, 1000
		store := tasks.NewMemory(tasks.MemoryLimits{Tasks: -1, Bytes: -1})
		for i := range many {
			r := tasks.Record{ID: fmt.Sprint(i), Owner: fmt.Sprint("o", i%owners), Status: mcp.TaskWorking, Created: time.Now(), TTL: time.Duration(1+i%3600) * time.Second}
			if err := store.Create(t.Context(), r, many/owners); err != nil {
				t.Fatal(err)
			}
		}
		for range 1000 {
			if page, err := store.List(t.Context(), "o7", "", 50); err != nil || len(page) != 50 || page[1].ID != "1007" {
				t.Fatalf("got %d, %v", len(page), err)
			}
		}
		time.Sleep(time.Hour)
		if page, err := store.List(t.Context(), "o7", "", 50); err != nil || len(page) != 0 {
			t.Errorf("left over: %v, %v", page, err)
		}
		if err := store.Create(t.Context(), tasks.Record{ID: "new", Owner: "o7", Created: time.Now(), TTL: time.Second}, 1); err != nil {
			t.Error(err)
		}
	})
}

// TestAnonymousLeaveRoom lets senders that nobody knows begin as many tasks as they may: who is known still can.
func TestAnonymousLeaveRoom(t *testing.T) {
	s := server.New(mcp.Implementation{Name: "jobs", Version: "1"}, server.Options{
		Tasks: tasks.New(tasks.Options{MaxAnonymous: 2}),
		HTTP: server.HTTPOptions{Principal: func(r *http.Request) *mcp.Principal {
			if user := r.Header.Get("X-User"); user != "" {
				return &mcp.Principal{Subject: user}
			}
			return nil
		}},
	})
	server.AddTool(s, mcp.Tool{Name: "job", Execution: tasks.May()}, tasks.Whole(func(context.Context, *server.Request, none) (string, error) { return "done", nil }))
	url := mcptest.Serve(t, s)
	dial := func(user string) *client.Client {
		opts := able(t)
		opts.Mode, opts.Headers = client.Modern, http.Header{}
		if user != "" {
			opts.Headers.Set("X-User", user)
		}
		c, err := client.DialHTTP(t.Context(), url, opts)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	for range 2 {
		start(t, dial(""), "job")
	}
	if _, err := dial("").StartTool(t.Context(), "job", nil); err == nil || !strings.Contains(err.Error(), "Too many tasks") {
		t.Errorf("one too many: %v", err)
	}
	start(t, dial("ann"), "job")
}

// TestQuestionOfTwoWaiting lets two clients of one sender wait for a task. Its question goes to one of them, and when that one
// hangs up without an answer, to the other.
func TestQuestionOfTwoWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := able(t)
		opts.Mode = client.Legacy
		_, s, starter := jobs(t, tasks.Options{}, opts, func(ctx context.Context, req *server.Request, _ none) (string, error) {
			who, err := server.ElicitAs[name](ctx, req, "who?")
			return who.Name, err
		})
		var asked atomic.Int32
		silent := opts
		silent.Elicit = func(ctx context.Context, _ *client.ElicitRequest) (*mcp.ElicitResult, error) {
			asked.Add(1)
			<-ctx.Done()
			return nil, ctx.Err()
		}
		answer := opts.Elicit
		opts.Elicit = func(ctx context.Context, req *client.ElicitRequest) (*mcp.ElicitResult, error) {
			asked.Add(1)
			return answer(ctx, req)
		}
		first, second := mcptest.Pair(t, s, silent), mcptest.Pair(t, s, opts)
		task := start(t, starter, "job")
		gone, got := make(chan error, 1), make(chan string, 1)
		go func() { // ends when its client is closed
			_, err := first.AwaitTask(t.Context(), task.ID)
			gone <- err
		}()
		synctest.Wait()
		time.Sleep(time.Second)
		go func() { // ends with the task
			result, err := second.AwaitTask(t.Context(), task.ID)
			if err != nil {
				t.Error(err)
			}
			got <- result.Text()
		}()
		time.Sleep(time.Minute)
		if asked.Load() != 1 {
			t.Errorf("asked %d times", asked.Load())
		}
		if err := first.Close(); err != nil {
			t.Error(err)
		}
		if text := <-got; text != "who" || asked.Load() != 2 || <-gone == nil {
			t.Errorf("got %q, asked %d times", text, asked.Load())
		}
	})
}
