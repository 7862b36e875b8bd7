package examples

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// What the pages show of middleware, of filters and of logs that reach the client.

// dialAs connects over HTTP as a user.
func dialAs(url, user string) *client.Client {
	c, err := client.DialHTTP(context.Background(), url, client.Options{Headers: http.Header{"X-User": {user}}})
	if err != nil {
		panic(err)
	}
	return c
}

// Limits and logs stand around all requests.
func Example_middleware() {
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == "duration" {
			return slog.Attr{} // another one each time
		}
		return a
	}}))

	// [middleware]
	s := newShop(server.Options{Middleware: []server.Middleware{
		server.Logging(logger), // the outermost: sees what the others refuse
		server.RateLimit(server.RateLimitOptions{PerSecond: 10, Burst: 20}),
		server.Only(server.Concurrency(8, 5*time.Second), "tools/call"),
		server.Timeout(30 * time.Second),
		server.MaxResultBytes(1 << 10),
	}})
	// [end]

	server.AddTool(s, mcp.Tool{Name: "buy"}, buy)
	server.AddTool(s, mcp.Tool{Name: "poem"}, func(context.Context, *server.Request, struct{ Item string }) (string, error) {
		return strings.Repeat("O apple! ", 200), nil
	})
	c, done := connect(s, client.Options{Mode: client.Modern})
	defer done()
	for _, tool := range []string{"buy", "poem"} {
		result, err := c.CallTool(context.Background(), tool, map[string]string{"Item": "apple"})
		if err != nil {
			fmt.Println("error:", err)
			continue
		}
		fmt.Println(result.IsError, result.Text())
	}
	// Output:
	// level=INFO msg="mcp: request" mcp.method.name=server/discover mcp.protocol.version=2026-07-28
	// level=INFO msg="mcp: request" mcp.method.name=tools/call gen_ai.tool.name=buy mcp.protocol.version=2026-07-28
	// false here is your apple
	// level=WARN msg="mcp: request" mcp.method.name=tools/call gen_ai.tool.name=poem mcp.protocol.version=2026-07-28 error.type=tool_error
	// true the result has 1839 bytes, and this server sends at most 1024; ask for less
}

// audited is a middleware of your own: it writes down who bought what, and lets nobody buy at night.
func audited(open func() bool) server.Middleware {
	return func(next server.Call) server.Call {
		return func(ctx context.Context, req *server.Request) (*server.Result, error) {
			if req.Method() != "tools/call" {
				return next(ctx, req)
			}
			if !open() {
				return nil, fmt.Errorf("the shop is closed; come back at nine") // the model reads this
			}
			result, err := next(ctx, req)
			if err == nil && !result.IsError() {
				fmt.Println("sold:", string(req.Arguments()))
			}
			return result, err
		}
	}
}

// One of your own is a function.
func Example_middlewareOfYourOwn() {
	now := true
	s := newShop(server.Options{Middleware: []server.Middleware{audited(func() bool { return now })}})
	server.AddTool(s, mcp.Tool{Name: "buy"}, buy)
	c, done := connect(s, client.Options{})
	defer done()
	for _, now = range []bool{true, false} {
		result, err := c.CallTool(context.Background(), "buy", map[string]string{"Item": "apple"})
		if err != nil {
			panic(err)
		}
		fmt.Println(result.Text())
	}
	// Output:
	// sold: {"Item":"apple"}
	// here is your apple
	// the shop is closed; come back at nine
}

// Callers see what is for them, in lists and in calls alike.
func Example_visible() {
	// [visible]
	s := newShop(server.Options{
		Visible: func(_ context.Context, who server.Caller, kind server.ListKind, name string) bool {
			if kind == server.Tools && strings.HasPrefix(name, "admin_") {
				return who.Principal != nil && who.Principal.HasScope("admin")
			}
			return true
		},
		HTTP: server.HTTPOptions{Principal: whoIs}, // from a layer that has checked it
	})
	// [end]

	server.AddTool(s, mcp.Tool{Name: "buy"}, buy)
	server.AddTool(s, mcp.Tool{Name: "admin_refund"}, func(context.Context, *server.Request, struct{}) (string, error) {
		return "refunded", nil
	})
	web := httptest.NewServer(s.Handler())
	defer web.Close()
	for _, user := range []string{"ada", "root"} {
		c := dialAs(web.URL, user)
		page, err := c.ListTools(context.Background(), nil)
		if err != nil {
			panic(err)
		}
		_, err = c.CallTool(context.Background(), "admin_refund", nil)
		fmt.Println(user, len(page.Tools), err)
		if err := c.Close(); err != nil {
			panic(err)
		}
	}
	// Output:
	// ada 1 call tool "admin_refund": peer: invalid params: unknown tool: admin_refund
	// root 2 <nil>
}

// whoIs stands in for an authorization layer.
func whoIs(r *http.Request) *mcp.Principal {
	who := &mcp.Principal{Subject: r.Header.Get("X-User")}
	if who.Subject == "root" {
		who.Scopes = []string{"admin"}
	}
	return who
}

// The logger of a program can send to the client of the current call too.
func Example_slog() {
	s := newShop(server.Options{})
	own := slog.DiscardHandler

	// [slog]
	log := slog.New(server.NewLogHandler(own, "till"))
	server.AddTool(s, mcp.Tool{Name: "pay"}, func(ctx context.Context, _ *server.Request, _ struct{}) (string, error) {
		log.WarnContext(ctx, "paper is low", "sheets", 3) // to the client too: its call is in ctx
		return "paid", nil
	})
	// [end]

	told := make(chan string, 1)
	c, done := connect(s, client.Options{LogLevel: mcp.LevelInfo, OnLog: func(m mcp.LoggingMessageParams) {
		told <- fmt.Sprintf("%s %s %s", m.Level, m.Logger, m.Data)
	}})
	defer done()
	if _, err := c.CallTool(context.Background(), "pay", nil); err != nil {
		panic(err)
	}
	fmt.Println(<-told)
	// Output: warning till {"msg":"paper is low","sheets":3}
}

// Middleware of a client stands around what it sends.
func Example_outbound() {
	s := newShop(server.Options{})
	s.Handle("shop/ask", func(_ context.Context, req *server.Request) (*server.RawResult, error) {
		trace, _, _ := req.Trace()
		return &server.RawResult{Result: json.RawMessage(fmt.Sprintf(`{"trace":%q}`, trace))}, nil
	})
	current := func(context.Context) string { return "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" }

	// [outbound]
	traced := func(next client.Call) client.Call {
		return func(ctx context.Context, req *client.OutgoingRequest) (*client.RawResult, error) {
			meta, err := req.Meta.With("traceparent", current(ctx))
			if err != nil {
				return nil, err
			}
			req.Meta = meta
			return next(ctx, req)
		}
	}
	opts := client.Options{Middleware: []client.Middleware{traced}}
	// [end]

	c, done := connect(s, opts)
	defer done()
	answer, err := c.Raw(context.Background(), "shop/ask", nil, client.RawOptions{})
	if err != nil {
		panic(err)
	}
	trace, _ := mcp.Member(answer.Result, "trace")
	fmt.Println(string(trace))
	// Output: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
}
