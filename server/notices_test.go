package server_test

import (
	"bytes"
	"context"
	"log/slog"
	"math"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

func TestProgress(t *testing.T) {
	s := newServer(server.Options{})
	rawTool(t, s, "work", func(ctx context.Context, r *server.Request) (*mcp.CallToolResult, error) {
		r.Progress(ctx, 1, 4, "")
		r.Progress(ctx, 1, 4, "the same")
		r.Progress(ctx, 0.5, 4, "back")
		r.Progress(ctx, 2.5, 0, "half \"way\"")
		r.Progress(ctx, math.NaN(), 4, "")
		r.Progress(ctx, math.Inf(1), 4, "")
		r.Progress(ctx, 4, 4, "done")
		return nil, nil
	})
	want := []string{
		`{"progressToken":12345678901234567890,"progress":1,"total":4}`,
		`{"progressToken":12345678901234567890,"progress":2.5,"message":"half \"way\""}`,
		`{"progressToken":12345678901234567890,"progress":4,"total":4,"message":"done"}`,
	}
	for _, revision := range bothEras {
		w := dial(t, s, revision)
		members := `"name":"work"`
		if revision == modern {
			w.meta = `,"progressToken":12345678901234567890`
		} else {
			members += `,"_meta":{"progressToken":12345678901234567890}`
		}
		w.call("tools/call", members)
		if len(w.notices) != len(want) {
			t.Fatalf("%s: want %d notices, got %s", revision, len(want), w.notices)
		}
		for i, notice := range w.notices {
			if !strings.Contains(notice, `"method":"notifications/progress"`) || !strings.Contains(notice, want[i]) {
				t.Errorf("%s: want %s, got %s", revision, want[i], notice)
			}
		}
		w.meta = ""
		w.call("tools/call", `"name":"work"`)
		if len(w.notices) != 0 {
			t.Errorf("%s: progress nobody asked for: %s", revision, w.notices)
		}
	}
}

// Progress and logs that a handler sends after it has returned go nowhere.
func TestNothingFollowsTheAnswer(t *testing.T) {
	s := newServer(server.Options{})
	var kept *server.Request
	rawTool(t, s, "x", func(_ context.Context, r *server.Request) (*mcp.CallToolResult, error) { kept = r; return nil, nil })
	w := dial(t, s, legacy)
	w.call("tools/call", `"name":"x","_meta":{"progressToken":1}`)
	kept.Progress(context.Background(), 1, 1, "late")
	kept.Log(context.Background(), mcp.LevelError, "", "late")
	if err := kept.Notify(context.Background(), "notifications/message", nil); err == nil {
		t.Error("a notification for a finished request was taken")
	}
	w.call("ping", "")
	if len(w.notices) != 0 {
		t.Errorf("came late: %s", w.notices)
	}
}

// speaking is a server with a tool that logs at two levels.
func speaking(t *testing.T) *server.Server {
	s := newServer(server.Options{})
	rawTool(t, s, "talk", func(ctx context.Context, r *server.Request) (*mcp.CallToolResult, error) {
		r.Log(ctx, mcp.LevelDebug, "", "small")
		r.Log(ctx, mcp.LevelError, "db", map[string]any{"b": 1, "a": "<"})
		r.Log(ctx, mcp.LevelError, "db", func() {}) // has no JSON form
		r.Log(ctx, "loud", "", "unknown level")
		return nil, nil
	})
	return s
}

func (w *wire) wantLogs(want ...string) {
	w.t.Helper()
	w.call("tools/call", `"name":"talk"`)
	if len(w.notices) != len(want) {
		w.t.Fatalf("want %d messages, got %s", len(want), w.notices)
	}
	for i, notice := range w.notices {
		if !strings.Contains(notice, `"method":"notifications/message"`) || !strings.Contains(notice, want[i]) {
			w.t.Errorf("want %s, got %s", want[i], notice)
		}
	}
}

const (
	smallTalk = `"params":{"level":"debug","data":"small"}`
	bigTalk   = `"params":{"level":"error","logger":"db","data":{"a":"<","b":1}}`
)

// A legacy client that has set no level gets all, and afterwards what it has asked for.
func TestLogLevelLegacy(t *testing.T) {
	s := speaking(t)
	w, other := dial(t, s, legacy), dial(t, s, legacy)
	w.wantLogs(smallTalk, bigTalk)
	w.want("logging/setLevel", `"level":"error"`, `{}`)
	w.wantLogs(bigTalk)
	w.want("logging/setLevel", `"level":"emergency"`, `{}`)
	w.wantLogs()
	other.wantLogs(smallTalk, bigTalk) // each session has its own
}

// A modern client gets what the request asks for, and nothing when it asks for nothing.
func TestLogLevelModern(t *testing.T) {
	w := dial(t, speaking(t), modern)
	w.wantLogs()
	w.meta = `,"io.modelcontextprotocol/logLevel":"debug"`
	w.wantLogs(smallTalk, bigTalk)
	w.meta = `,"io.modelcontextprotocol/logLevel":"warning"`
	w.wantLogs(bigTalk)
	w.meta = ``
	w.wantLogs()
	w.meta = `,"io.modelcontextprotocol/logLevel":"loud"`
	w.want("tools/call", `"name":"talk"`, `error -32602 {"envelope":{"key":"io.modelcontextprotocol/logLevel","problem":"not a log level"}}`)
}

// A notification that the client's revision does not have is not sent, and its sender is told.
func TestNotify(t *testing.T) {
	s := newServer(server.Options{})
	var errs []error
	rawTool(t, s, "x", func(ctx context.Context, r *server.Request) (*mcp.CallToolResult, error) {
		errs = []error{
			r.Notify(ctx, "notifications/example", []byte(`{"n":1.0}`)),
			r.Notify(ctx, "notifications/elicitation/complete", []byte(`{"elicitationId":"1"}`)),
			r.Notify(ctx, "notifications/example", []byte(`[1]`)),
		}
		return nil, nil
	})
	for revision, taken := range map[string]int{legacy: 2, modern: 1, mcp.Version20241105: 1} {
		w := dial(t, s, revision)
		w.call("tools/call", `"name":"x"`)
		if len(w.notices) != taken || !strings.Contains(w.notices[0], `"params":{"n":1.0}`) {
			t.Errorf("%s: got %s", revision, w.notices)
		}
		if errs[0] != nil || (errs[1] == nil) != (taken == 2) || errs[2] == nil {
			t.Errorf("%s: the sender was told %v", revision, errs)
		}
	}
}

// Stray frames belong to no handler: OnError hears of them, the log too, and the connection lives on.
func TestStrayFrames(t *testing.T) {
	for _, frame := range []string{
		`{"jsonrpc":"2.0","id":"s1","result":{}}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`,
	} {
		var log bytes.Buffer
		faults := make(chan error, 10)
		s := newServer(server.Options{OnError: func(err error) { faults <- err }, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		w := dial(t, s, legacy)
		w.Send(frame)
		if err := <-faults; err == nil {
			t.Errorf("%s: a fault without a text", frame)
		}
		w.want("ping", "", `{}`)
		if !strings.Contains(log.String(), "fault outside any call") {
			t.Errorf("%s: nothing in the log: %q", frame, log.String())
		}
	}
}

// A name outside the rule is taken and warned of, since most clients can do with it.
func TestOddToolNames(t *testing.T) {
	var log bytes.Buffer
	s := newServer(server.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	rawTool(t, s, "two words", nothing)
	if !strings.Contains(log.String(), "two words") {
		t.Errorf("want a warning, got %q", log.String())
	}
	dial(t, s, modern).want("tools/call", `"name":"two words"`, `{"content":[]}`)
	if err := newServer(server.Options{StrictNames: true}).AddRawTool(mcp.Tool{Name: "two words"}, nothing); err == nil {
		t.Error("StrictNames let it pass")
	}
}
