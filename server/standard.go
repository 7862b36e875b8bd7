package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/rialto-mcp/rialto/mcp"
)

// Logging writes one record for each request, when it has been answered: at Info when it went well, at Warn when it did
// not, at Error when its handler has panicked. It holds method, name, revision, how long it took and what kind of failure it
// was, under the names of the OpenTelemetry conventions for MCP; never arguments or results. A subscription is written down
// when it has begun.
func Logging(logger *slog.Logger) Middleware {
	return func(next Call) Call {
		return func(ctx context.Context, req *Request) (*Result, error) {
			began := time.Now()
			level, kind, code := slog.LevelError, "panic", "" // unless next returns
			defer func() {
				attrs := append(describeCall(req), slog.Duration("duration", time.Since(began)))
				if kind != "" {
					attrs = append(attrs, slog.String("error.type", kind))
				}
				if code != "" {
					attrs = append(attrs, slog.String("rpc.response.status_code", code))
				}
				logger.LogAttrs(ctx, level, "mcp: request", attrs...)
			}()
			result, err := next(ctx, req)
			level, kind, code = judge(result, err)
			return result, err
		}
	}
}

// judge says how a request went: the kind of its failure, and its code where it has one.
func judge(result *Result, err error) (level slog.Level, kind, code string) {
	var own *mcp.Error
	switch {
	case errors.As(err, &own):
		code = strconv.FormatInt(int64(own.Code), 10)
		return slog.LevelWarn, code, code
	case err != nil, result != nil && result.IsError():
		return slog.LevelWarn, "tool_error", ""
	}
	return slog.LevelInfo, "", ""
}

// describeCall says what a request is about.
func describeCall(req *Request) []slog.Attr {
	attrs := append(make([]slog.Attr, 0, 6), slog.String("mcp.method.name", req.Method()))
	key := ""
	switch req.Method() {
	case mcp.MethodCallTool:
		key = "gen_ai.tool.name"
	case mcp.MethodGetPrompt:
		key = "gen_ai.prompt.name"
	case mcp.MethodReadResource, mcp.MethodSubscribeResource, mcp.MethodUnsubscribeResource:
		key = "mcp.resource.uri"
	}
	if key != "" {
		attrs = append(attrs, slog.String(key, short(req.Name())))
	}
	return append(attrs, slog.String("mcp.protocol.version", req.ProtocolVersion()))
}

// declined is an error of a middleware in the form that says most to the client: text for the model where a tool was called,
// an error elsewhere.
func declined(req *Request, format string, args ...any) error {
	if req.Method() == mcp.MethodCallTool {
		return fmt.Errorf(format, args...)
	}
	return mcp.Errorf(mcp.CodeInternal, format, args...)
}

// Timeout bounds how long a request may run: its context ends then, questions to the client of a legacy revision included,
// and what fails from that on is answered with an error that says so. A handler that does not heed its context runs on, and
// is answered as it ends. Subscriptions have no limit. It panics when limit is not positive.
func Timeout(limit time.Duration) Middleware {
	if limit <= 0 {
		panic("server: Timeout needs a positive limit")
	}
	return func(next Call) Call {
		return func(ctx context.Context, req *Request) (*Result, error) {
			if req.Method() == mcp.MethodListen {
				return next(ctx, req)
			}
			late := declined(req, "the request took longer than %s and was stopped; ask for less, or try again", limit)
			ctx, cancel := context.WithTimeoutCause(ctx, limit, late)
			defer cancel()
			result, err := next(ctx, req)
			if context.Cause(ctx) == late && (err != nil || result != nil && result.IsError()) { //nolint:errorlint // this very one
				return nil, late
			}
			return result, err
		}
	}
}

// Concurrency bounds the requests that run at once for all clients together, beside the limits for each client in
// [Options]. One more waits for its turn for so long, zero meaning not at all, and is then refused with an error that says
// to try again. A request keeps its place while its client is asked something. Pings and subscriptions pass. It panics when
// most is not positive.
func Concurrency(most int, wait time.Duration) Middleware {
	if most <= 0 {
		panic("server: Concurrency needs a positive number of requests")
	}
	places := make(chan struct{}, most)
	return func(next Call) Call {
		return func(ctx context.Context, req *Request) (*Result, error) {
			if passes(req) || req.Method() == mcp.MethodListen {
				return next(ctx, req)
			}
			if err := take(ctx, places, wait); err != nil {
				return nil, err
			}
			defer func() { <-places }()
			return next(ctx, req)
		}
	}
}

// passes tells whether a request is one that only shows whether the server is there.
func passes(req *Request) bool { return req.Method() == mcp.MethodPing }

// take waits for a place.
func take(ctx context.Context, places chan<- struct{}, wait time.Duration) error {
	select {
	case places <- struct{}{}:
		return nil
	default:
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case places <- struct{}{}:
		return nil
	case <-timer.C:
		return mcp.Errorf(mcp.CodeInternal, "Too many requests are running at once; try again in a moment")
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// MaxResultBytes bounds the JSON of a result, questions to the client included: a larger one is not sent, and an error says
// how large it was. It panics when most is not positive.
func MaxResultBytes(most int) Middleware {
	if most <= 0 {
		panic("server: MaxResultBytes needs a positive number of bytes")
	}
	return func(next Call) Call {
		return func(ctx context.Context, req *Request) (*Result, error) {
			result, err := next(ctx, req)
			if err == nil && result != nil && result.Size() > most {
				return nil, declined(req, "the result has %d bytes, and this server sends at most %d; ask for less", result.Size(), most)
			}
			return result, err
		}
	}
}
