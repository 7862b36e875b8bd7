package state_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/rialto-mcp/rialto/state"
)

func ExampleChange() {
	ctx := context.Background()
	store := state.NewMemorySessions(state.SessionLimits{})
	defer store.Close()
	if _, err := store.Create(ctx, state.Session{ID: "R7XK", Revision: "2025-11-25"}); err != nil {
		fmt.Println(err)
	}
	s, err := state.Change(ctx, store, "R7XK", func(s *state.Session) error {
		s.Subscriptions = append(s.Subscriptions, "book:1")
		return nil
	})
	fmt.Println(s.Subscriptions, s.Version, err)
	_, err = store.Get(ctx, "guessed")
	fmt.Println(err, errors.Is(err, state.ErrNotFound))
	// Output:
	// [book:1] 2 <nil>
	// get session: not found true
}

// A stream is cut after its first event; another replica that shares the log goes on with it.
func ExampleEventLog() {
	ctx := context.Background()
	log := state.NewMemoryLog(state.LogLimits{})
	defer log.Close()
	var last string // what the client names in Last-Event-ID
	for i, event := range []string{"25 %", "50 %", "75 %"} {
		id, err := log.Append(ctx, "R7XK", "call-1", []byte(event))
		if err != nil {
			fmt.Println(err)
		}
		if i == 0 {
			last = id
		}
	}
	stream, later, err := log.Replay(ctx, "R7XK", last)
	if err != nil {
		fmt.Println(err) // nothing was written yet: it can still be a status
		return
	}
	for event, err := range later {
		fmt.Printf("%s: %s %v\n", stream, event.Data, err)
		last = event.ID
	}
	live, err := log.Follow(ctx, "R7XK", stream, last)
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := log.Append(ctx, "R7XK", "call-1", []byte("done")); err != nil {
		fmt.Println(err)
	}
	for event, err := range live {
		fmt.Printf("%s: %s %v\n", stream, event.Data, err)
		break
	}
	// Output:
	// call-1: 50 % <nil>
	// call-1: 75 % <nil>
	// call-1: done <nil>
}

// A reader that is too slow misses the oldest messages, and is told.
func ExampleBus() {
	ctx := context.Background()
	bus := state.NewMemoryBus(state.BusLimits{MaxQueued: 2})
	defer bus.Close()
	sub, err := bus.Subscribe(ctx, "changes")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer sub.Close()
	for _, list := range []string{"tools", "prompts", "resources", "tools"} {
		if _, err := bus.Publish(ctx, "changes", []byte(list)); err != nil {
			fmt.Println(err)
		}
	}
	for range 2 {
		m, err := sub.Next(ctx)
		fmt.Printf("%s (%d lost) %v\n", m.Data, m.Lost, err)
	}
	// Output:
	// resources (2 lost) <nil>
	// tools (0 lost) <nil>
}

// The replica that owns a session answers for it.
func ExampleAsk() {
	ctx, cancel := context.WithCancel(context.Background())
	bus := state.NewMemoryBus(state.BusLimits{})
	defer bus.Close()
	started, ended := make(chan struct{}), make(chan error)
	go func() {
		ended <- state.Answer(ctx, bus, "node/b", func(_ context.Context, question []byte) ([]byte, bool) {
			return fmt.Appendf(nil, "%s: yes", question), true
		}, state.AnswerOptions{Started: func() { close(started) }})
	}()
	<-started
	answer, err := state.Ask(ctx, bus, "node/b", []byte("is a call waiting for s1?"))
	fmt.Printf("%s %v\n", answer, err)
	_, err = state.Ask(ctx, bus, "node/c", nil)
	fmt.Println(errors.Is(err, state.ErrNobody))
	cancel()
	fmt.Println(errors.Is(<-ended, context.Canceled))
	// Output:
	// is a call waiting for s1?: yes <nil>
	// true
	// true
}
