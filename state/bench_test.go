package state_test

import (
	"fmt"
	"testing"

	"github.com/rialto-mcp/rialto/state"
)

// BenchmarkSessionUse is what a request in a session costs: look the session up and note the use.
func BenchmarkSessionUse(b *testing.B) {
	m := state.NewMemorySessions(state.SessionLimits{})
	defer m.Close()
	for i := range 1000 {
		if _, err := m.Create(b.Context(), state.Session{ID: fmt.Sprint(i), Subscriptions: []string{"book:1"}}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Get(b.Context(), "500"); err != nil {
			b.Fatal(err)
		}
		if err := m.Touch(b.Context(), "500"); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAppend is what an event costs in a log that is full.
func BenchmarkAppend(b *testing.B) {
	m := state.NewMemoryLog(state.LogLimits{})
	defer m.Close()
	data := make([]byte, 200)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Append(b.Context(), "session", "stream", data); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPublish is what a message to one subscription costs when nobody reads it.
func BenchmarkPublish(b *testing.B) {
	m := state.NewMemoryBus(state.BusLimits{})
	defer m.Close()
	sub, err := m.Subscribe(b.Context(), "topic")
	if err != nil {
		b.Fatal(err)
	}
	defer sub.Close()
	data := make([]byte, 200)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Publish(b.Context(), "topic", data); err != nil {
			b.Fatal(err)
		}
	}
}
