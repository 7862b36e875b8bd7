package bridge_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/bridge"
	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/transport"
	"github.com/rialto-mcp/rialto/transport/stdio"
)

// failing is servers whose calls fail in one way.
type failing struct {
	bridge.Upstreams
	err error
}

func (f *failing) Call(context.Context, string, upstream.Call) (*upstream.Answer, error) {
	return nil, f.err
}

// lines is a log that is written to by several at once.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// TestFailuresInWords holds what a client is told of a call that has failed on the way: which server, and what that means, and
// nothing of where the server is, or of what the system has said. That is in the log, but for what is told there once, with the
// state of the server.
func TestFailuresInWords(t *testing.T) {
	const place = "ten.internal"
	reach := &transport.ReachError{Where: "http://" + place + ":80", Err: io.ErrUnexpectedEOF}
	for _, tc := range []struct {
		name string
		err  error
		want string // after the name of the server
	}{
		{"down", &manager.DownError{Server: "a", State: manager.Failed, Reason: "dial tcp " + place}, "cannot be reached at the moment; it is tried again by itself"},
		{"down for good", &manager.DownError{Server: "a", State: manager.Failed, Reason: "no scheme at " + place, Final: true}, "cannot be reached"},
		{"no credentials", &manager.DownError{Server: "a", State: manager.NeedsAuthorization, Reason: "authorization for http://" + place}, "wants authorization that the gateway does not have"},
		{"down after a try", fmt.Errorf("%w (before: %w)", &manager.DownError{Server: "a", Reason: place}, reach), "cannot be reached at the moment; it is tried again by itself"},
		{"an answer that is lost", &manager.UnknownOutcomeError{Server: "a", What: "tools/call", Reason: "Post http://" + place, Tries: 2},
			": tools/call got no answer; whether it was done is not known, after 2 tries"},
		{"an answer over HTTP", &transport.StatusError{Status: 500, Body: []byte("at " + place)}, " failed: HTTP status 500"},
		{"a connection over HTTP", reach, " failed: its connection does not work"},
		{"a connection that has ended", mcp.Errorf(mcp.CodeConnectionClosed, "the connection broke: %w", reach), " failed: its connection was lost"},
		{"a program", mcp.Errorf(mcp.CodeConnectionClosed, "%w", &stdio.ExitError{Command: "/opt/" + place, StderrTail: "at " + place}), " failed: its connection was lost"},
		{"a result of a strange kind", mcp.Errorf(mcp.CodeUnsupportedResultType, "it answers strangely"), " failed: it answers strangely"},
		{"gone", fmt.Errorf("%w: %q (%w)", manager.ErrUnknownServer, "a", manager.ErrNotRun), " failed: it is not configured any more"},
		{"something else", errors.New("at " + place), " failed: its connection does not work"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			log := &lines{}
			o := bridge.Options{Server: server.Options{Logger: slog.New(slog.NewTextHandler(log, nil))}}
			w := newWorldOver(t, o, func(ups bridge.Upstreams) bridge.Upstreams { return &failing{ups, tc.err} }, backend{name: "a", modern: true, fill: everything(nil)})
			for _, modern := range []bool{false, true} {
				f := fault(t, w.dial(t, modern, client.Options{}), "tools/call", `{"name":"echo","arguments":{"text":"hi"}}`)
				_, got, _ := strings.Cut(f.Message, `server "a"`)
				if f.Code != mcp.CodeInternal || strings.TrimPrefix(got, " ") != strings.TrimPrefix(tc.want, " ") {
					t.Errorf("a client is told %v", f)
				}
			}
			var down *manager.DownError
			if told := strings.Contains(log.String(), place); told != (strings.Contains(tc.err.Error(), place) && !errors.As(tc.err, &down)) {
				t.Errorf("the log has %s", log)
			}
		})
	}
}
