package server_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

type span struct {
	From int           `json:"from"`
	Wait time.Duration `json:"wait,omitempty"`
}

type total struct {
	Sum  int    `json:"sum"`
	Wait string `json:"wait,omitempty"`
}

func ExampleAddMethod() {
	s := server.New(mcp.Implementation{Name: "vendor", Version: "1"}, server.Options{})

	server.AddMethod(s, "example.com/sum", func(_ context.Context, _ *server.Request, in span) (total, error) {
		return total{Sum: in.From * 2}, nil
	})

	ask(s, "example.com/sum", `{"from":21}`)
	ask(s, "example.com/sum", `{"from":"x"}`)
	// Output:
	// {"sum":42}
	// error {"code":-32602,"message":"Invalid params for example.com/sum: /from: must be an integer, got a string"}
}

func TestAddMethod(t *testing.T) {
	s := newServer(server.Options{})
	server.AddMethod(s, "example/sum", func(_ context.Context, r *server.Request, in *span) (*total, error) {
		switch in.From {
		case 1:
			return nil, mcp.Errorf(-32099, "no ones")
		case 2:
			return nil, fmt.Errorf("secret")
		case 3:
			return nil, nil
		}
		return &total{Sum: in.From, Wait: in.Wait.String()}, nil
	})
	server.AddMethod(s, "example/free", func(context.Context, *server.Request, struct{}) (map[string]int, error) { return nil, nil })
	for _, revision := range bothEras {
		w := dial(t, s, revision)
		w.want("example/sum", `"from":1e1,"wait":"90s"`, `{"sum":10,"wait":"1m30s"}`)
		w.want("example/sum", `"from":1`, "error -32099")
		w.want("example/sum", `"from":2`, "error -32603")
		w.want("example/sum", `"from":3`, "error -32603") // nothing is no object
		w.want("example/sum", ``, "error -32602")
		w.want("example/sum", `"from":5,"more":1`, "error -32602")
		w.want("example/free", ``, `{}`)
	}
	w := dial(t, s, legacy)
	w.Send(`{"jsonrpc":"2.0","id":"a","method":"example/free"}`)
	w.Expect(`{"id":"a","result":{}}`)
	w.want("example/sum", `"from":5,"_meta":{"progressToken":1}`, `{"sum":5,"wait":"0s"}`)
}

func TestAddMethodRefuses(t *testing.T) {
	s := newServer(server.Options{})
	for name, register := range map[string]func(){
		"params no object": func() {
			server.AddMethod(s, "a/b", func(context.Context, *server.Request, int) (total, error) { return total{}, nil })
		},
		"result no object": func() {
			server.AddMethod(s, "a/b", func(context.Context, *server.Request, span) (string, error) { return "", nil })
		},
		"nil": func() { server.AddMethod[span, total](s, "a/b", nil) },
		"method of the specification": func() {
			server.AddMethod(s, "ping", func(context.Context, *server.Request, span) (total, error) { return total{}, nil })
		},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if text, ok := recover().(string); !ok || !strings.HasPrefix(text, "server: ") {
					t.Errorf("want a panic that begins with the package, got %q", text)
				}
			}()
			register()
		})
	}
}
