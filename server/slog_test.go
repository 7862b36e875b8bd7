package server_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/slogtest"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/mcptest"
	"github.com/rialto-mcp/rialto/server"
)

// hidden is a secret that its own LogValue keeps out of logs.
type hidden string

func (hidden) LogValue() slog.Value { return slog.StringValue("***") }

// broken is a value whose own method panics.
type broken struct{}

func (broken) MarshalJSON() ([]byte, error) { panic("no") }

// What is logged with the context of a call reaches its client, on every wire.
func TestLogHandler(t *testing.T) {
	at := time.Date(2026, 7, 28, 12, 0, 0, 5, time.UTC)
	plain := slog.New(server.NewLogHandler(nil, "shop"))
	for _, tc := range []struct {
		name string
		log  func(ctx context.Context)
		want string // level and data
	}{
		{"text alone", func(ctx context.Context) { plain.InfoContext(ctx, "open \"now\"\n") }, `info {"msg":"open \"now\"\n"}`},
		{"order of attributes", func(ctx context.Context) { plain.WarnContext(ctx, "m", "z", 1, "a", "x", "m", true) }, `warning {"msg":"m","z":1,"a":"x","m":true}`},
		{"kinds", func(ctx context.Context) {
			plain.ErrorContext(ctx, "m", "u", uint64(math.MaxUint64), "f", 1.5, "d", 1500*time.Millisecond, "t", at, "nil", nil, "inf", math.Inf(1))
		}, `error {"msg":"m","u":18446744073709551615,"f":1.5,"d":"1.5s","t":"2026-07-28T12:00:00.000000005Z","nil":null,"inf":"+Inf"}`},
		{"values", func(ctx context.Context) {
			plain.InfoContext(ctx, "m", "err", errors.New("stuck"), "map", map[string]int{"b": 2, "a": 1}, "list", []string{"x"}, "level", mcp.LevelInfo)
		}, `info {"msg":"m","err":"stuck","map":{"a":1,"b":2},"list":["x"],"level":"info"}`},
		{"secrets", func(ctx context.Context) { plain.InfoContext(ctx, "m", "key", hidden("sesame")) }, `info {"msg":"m","key":"***"}`},
		{"no JSON", func(ctx context.Context) { plain.InfoContext(ctx, "m", "f", broken{}) }, `info {"msg":"m","f":"!ERROR:panic: no"}`},
		{"groups", func(ctx context.Context) {
			plain.With("a", 1).WithGroup("g").With("b", 2).InfoContext(ctx, "m", "c", 3, slog.Group("h", "d", 4), slog.Group("", "e", 5), slog.Group("empty"))
		}, `info {"msg":"m","a":1,"g":{"b":2,"c":3,"h":{"d":4},"e":5}}`},
		{"an empty group", func(ctx context.Context) { plain.WithGroup("g").InfoContext(ctx, "m") }, `info {"msg":"m"}`},
		{"the last of a name", func(ctx context.Context) { plain.With("a", 1, "msg", "no").InfoContext(ctx, "m", "b", 2, "a", 3) }, `info {"msg":"m","a":3,"b":2}`},
		{"a level between", func(ctx context.Context) { plain.Log(ctx, slog.LevelInfo+2, "m") }, `notice {"msg":"m"}`},
		{"below what is wanted", func(ctx context.Context) { plain.DebugContext(ctx, "m") }, ``},
		{"without the context", func(context.Context) { plain.Error("m") }, ``},
	} {
		for _, wire := range mcptest.Wires() {
			var mu sync.Mutex
			var got []string
			s := newServer(server.Options{})
			rawTool(t, s, "x", func(ctx context.Context, _ *server.Request) (*mcp.CallToolResult, error) {
				tc.log(ctx)
				return nil, nil
			})
			c := wire.Dial(t, s, client.Options{LogLevel: mcp.LevelInfo, OnLog: func(m mcp.LoggingMessageParams) {
				mu.Lock()
				defer mu.Unlock()
				got = append(got, string(m.Level)+" "+string(m.Data))
				if m.Logger != "shop" {
					t.Errorf("the logger is %q", m.Logger)
				}
			}})
			if !wire.Modern {
				if err := c.SetLevel(t.Context(), mcp.LevelInfo); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := c.CallTool(t.Context(), "x", nil); err != nil {
				t.Fatal(err)
			}
			mu.Lock()
			if all := strings.Join(got, "; "); all != tc.want {
				t.Errorf("%s, %s:\n got %s\nwant %s", wire.Name, tc.name, all, tc.want)
			}
			mu.Unlock()
		}
	}
}

// The next handler gets what it wants, whether the client does or not, and the other way round.
func TestLogHandlerPassesOn(t *testing.T) {
	var out bytes.Buffer
	next := slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelWarn, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})
	log := slog.New(server.NewLogHandler(next, "")).With("a", 1).WithGroup("g")
	log.Info("nobody")
	log.Warn("us alone", "b", 2)
	s := newServer(server.Options{})
	rawTool(t, s, "x", func(ctx context.Context, _ *server.Request) (*mcp.CallToolResult, error) {
		log.InfoContext(ctx, "the client alone")
		log.ErrorContext(ctx, "both", "b", 3)
		return nil, nil
	})
	w := dial(t, s, legacy)
	w.call("tools/call", `"name":"x"`)
	want := "level=WARN msg=\"us alone\" a=1 g.b=2\nlevel=ERROR msg=both a=1 g.b=3\n"
	if got := out.String(); got != want {
		t.Errorf("next got %s, want %s", got, want)
	}
	if got := strings.Join(w.notices, ""); len(w.notices) != 2 || !strings.Contains(got, "the client alone") || !strings.Contains(got, `"data":{"msg":"both","a":1,"g":{"b":3}}`) {
		t.Errorf("the client got %s", got)
	}
}

// The handler keeps the rules that slog has for handlers; the time of a record is no part of the data.
func TestLogHandlerRules(t *testing.T) {
	var results []map[string]any
	arrived := make(chan struct{})
	s := newServer(server.Options{})
	rawTool(t, s, "x", func(ctx context.Context, _ *server.Request) (*mcp.CallToolResult, error) {
		handler := within{server.NewLogHandler(nil, ""), ctx}
		err := slogtest.TestHandler(handler, func() []map[string]any {
			slog.New(handler).Info("end") // notifications arrive in order
			<-arrived
			return results
		})
		for line := range strings.Lines(errorText(err)) {
			if !strings.Contains(line, "missing key") || !strings.Contains(line, `"time"`) && !strings.Contains(line, `"level"`) {
				t.Errorf("slogtest: %s", line)
			}
		}
		return nil, nil
	})
	c := mcptest.Pair(t, s, client.Options{Mode: client.Legacy, OnLog: func(m mcp.LoggingMessageParams) {
		var data map[string]any
		if err := jsonv2.Unmarshal(m.Data, &data); err != nil {
			t.Error(err)
		}
		if data["msg"] == "end" {
			close(arrived)
			return
		}
		results = append(results, data)
	}})
	if _, err := c.CallTool(t.Context(), "x", nil); err != nil {
		t.Fatal(err)
	}
}

// errorText is the text of an error that may be nil.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// within logs everything under one context.
type within struct {
	slog.Handler
	ctx context.Context
}

func (w within) Enabled(_ context.Context, l slog.Level) bool  { return w.Handler.Enabled(w.ctx, l) }
func (w within) Handle(_ context.Context, r slog.Record) error { return w.Handler.Handle(w.ctx, r) }
func (w within) WithAttrs(a []slog.Attr) slog.Handler          { return within{w.Handler.WithAttrs(a), w.ctx} }
func (w within) WithGroup(name string) slog.Handler            { return within{w.Handler.WithGroup(name), w.ctx} }

// The levels of slog and of the protocol, both ways.
func TestLevels(t *testing.T) {
	for from, want := range map[slog.Level]mcp.Level{
		-8: mcp.LevelDebug, slog.LevelDebug: mcp.LevelDebug, -1: mcp.LevelDebug, slog.LevelInfo: mcp.LevelInfo, 1: mcp.LevelInfo,
		2: mcp.LevelNotice, slog.LevelWarn: mcp.LevelWarning, 7: mcp.LevelWarning, slog.LevelError: mcp.LevelError,
		12: mcp.LevelCritical, 16: mcp.LevelAlert, 20: mcp.LevelEmergency, 100: mcp.LevelEmergency,
	} {
		if got := server.LevelOf(from); got != want {
			t.Errorf("%d: %s, want %s", from, got, want)
		}
	}
	for _, level := range mcp.Levels() {
		if got := server.LevelOf(server.SlogLevel(level)); got != level {
			t.Errorf("%s comes back as %s", level, got)
		}
	}
}
