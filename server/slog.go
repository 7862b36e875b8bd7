package server

import (
	"context"
	"log/slog"
	"slices"

	"github.com/rialto-mcp/rialto/mcp"
)

// LogHandler is a slog.Handler that sends records to the client of the request they belong to: the one whose context they
// were logged with, as in logger.InfoContext(ctx, ...). The client gets those it wants, as [Request.Log] says. Records
// without such a context, or logged after the request was answered, go to the next handler alone.
//
// The data of a message is an object: the text of the record as "msg", then its attributes in their order, groups as
// objects, each value by the rules of slog. Durations are text such as "1.5s", errors their text. What must not reach the
// client has to be kept out of the record, by a slog.LogValuer say.
type LogHandler struct {
	next   slog.Handler // nil for none
	name   string
	within []scope
}

var _ slog.Handler = (*LogHandler)(nil)

// scope is what one WithAttrs or WithGroup has added.
type scope struct {
	group string // "" for attributes
	attrs []slog.Attr
}

// NewLogHandler makes a handler. name stands as the logger in each message, and may be empty. next gets every record it
// wants, whether the client does or not; nil means that the client alone gets them.
func NewLogHandler(next slog.Handler, name string) *LogHandler {
	return &LogHandler{next: next, name: name}
}

// Enabled implements slog.Handler.
func (h *LogHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next != nil && h.next.Enabled(ctx, level) || wanted(RequestFrom(ctx), level)
}

// Handle implements slog.Handler. The client's share cannot fail; the error is that of the next handler.
func (h *LogHandler) Handle(ctx context.Context, record slog.Record) error {
	if r := RequestFrom(ctx); wanted(r, record.Level) {
		r.Log(ctx, LevelOf(record.Level), h.name, h.data(record))
	}
	if h.next != nil && h.next.Enabled(ctx, record.Level) {
		return h.next.Handle(ctx, record)
	}
	return nil
}

// WithAttrs implements slog.Handler.
func (h *LogHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	if len(attrs) == 0 {
		return h
	}
	inner := h.in(scope{attrs: attrs})
	if h.next != nil {
		inner.next = h.next.WithAttrs(attrs)
	}
	return inner
}

// WithGroup implements slog.Handler.
func (h *LogHandler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	inner := h.in(scope{group: name})
	if h.next != nil {
		inner.next = h.next.WithGroup(name)
	}
	return inner
}

func (h *LogHandler) in(s scope) *LogHandler {
	return &LogHandler{next: h.next, name: h.name, within: append(slices.Clip(h.within), s)}
}

// wanted tells whether the client of a request takes a level.
func wanted(r *Request, level slog.Level) bool {
	if r == nil {
		return false
	}
	threshold, ok := r.LogLevel()
	return ok && LevelOf(level).Enabled(threshold)
}

// grades are the levels of slog that those of the protocol begin at, the gravest first. Those that slog has no name for
// stand between and above.
var grades = []struct {
	from  slog.Level
	level mcp.Level
}{
	{slog.LevelError + 12, mcp.LevelEmergency},
	{slog.LevelError + 8, mcp.LevelAlert},
	{slog.LevelError + 4, mcp.LevelCritical},
	{slog.LevelError, mcp.LevelError},
	{slog.LevelWarn, mcp.LevelWarning},
	{slog.LevelInfo + 2, mcp.LevelNotice},
	{slog.LevelInfo, mcp.LevelInfo},
}

// LevelOf is the level of the protocol for one of slog: debug below Info, info, notice from Info+2, warning, error,
// critical from Error+4, alert from Error+8, emergency from Error+12.
func LevelOf(level slog.Level) mcp.Level {
	for _, g := range grades {
		if level >= g.from {
			return g.level
		}
	}
	return mcp.LevelDebug
}

// SlogLevel is the least level of slog that [LevelOf] makes a level of the protocol from; an unknown one counts as debug.
func SlogLevel(level mcp.Level) slog.Level {
	for _, g := range grades {
		if level == g.level {
			return g.from
		}
	}
	return slog.LevelDebug
}
