package app

import (
	"log/slog"
	"strings"

	"github.com/rialto-mcp/rialto/gateway/bridge"
	"github.com/rialto-mcp/rialto/gateway/config"
	"github.com/rialto-mcp/rialto/gateway/observe"
	"github.com/rialto-mcp/rialto/server"
)

// Log says how log records look. The zero value writes warnings and worse as text.
type Log struct {
	Level slog.Leveler // the least that is written; nil means slog.LevelWarn
	JSON  bool         // every line on standard error is a JSON object, those for people included
}

// observe opens the audit log and puts the observer in front of all.
func (g *gateway) observe(o *server.Options) (err error) {
	g.audit, err = observe.OpenAudit(auditOf(g.begun), func(text string) { g.say.line("rialto: %s", text) })
	if err != nil {
		return err
	}
	g.seen = observe.New(g.audit, o.Logger)
	o.Middleware = append([]server.Middleware{g.seen.Middleware()}, o.Middleware...)
	return nil
}

// observed are the steps that come before all others.
func (g *gateway) observed() []bridge.Step { return []bridge.Step{g.seen.Step, observe.Trace} }

func auditOf(c *config.Config) observe.AuditOptions {
	a := c.Audit
	if a == nil {
		return observe.AuditOptions{}
	}
	return observe.AuditOptions{
		File: a.File, Arguments: observe.Detail(a.Arguments), Results: observe.Detail(a.Results),
		MaxSize: a.MaxSize, Keep: a.Keep, OnFailure: observe.OnFailure(a.OnFailure),
	}
}

// handler takes log records.
func (t *teller) handler() slog.Handler {
	o := &slog.HandlerOptions{Level: slog.LevelWarn}
	if t.log.Level != nil {
		o.Level = t.log.Level
	}
	if t.log.JSON {
		return slog.NewJSONHandler(lineWriter{t}, o)
	}
	o.ReplaceAttr = func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}
	return slog.NewTextHandler(lineWriter{t}, o)
}

// jsonLine writes a line for people as a record. t.mu is held.
func (t *teller) jsonLine(text string) {
	slog.New(slog.NewJSONHandler(t.w, nil)).Info(strings.TrimSpace(text))
}

// lineWriter lets a log handler write through the teller's lock.
type lineWriter struct{ t *teller }

func (l lineWriter) Write(p []byte) (int, error) {
	l.t.mu.Lock()
	defer l.t.mu.Unlock()
	return l.t.w.Write(p)
}
