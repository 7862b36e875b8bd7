package server_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/internal/seal"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// A step is done once in all runs of a call, with one idempotency key; another call has another one.
func TestOnce(t *testing.T) {
	var keys []string
	fail := 0
	pay := func(_ context.Context, key string) (int, error) {
		keys = append(keys, key)
		if fail > 0 {
			fail--
			return 0, errors.New("the bank is closed")
		}
		return 9007199254740993, nil
	}
	for name, c := range map[string]struct {
		fail  int
		h     func(ctx context.Context, req *server.Request) (string, error)
		want  string
		times int
	}{
		"between questions": {0, func(ctx context.Context, req *server.Request) (string, error) {
			if _, err := req.Elicit(ctx, form("a")); err != nil {
				return "", err
			}
			n, err := server.Once(ctx, req, "pay", pay)
			if err != nil {
				return "", err
			}
			_, err = req.ListRoots(ctx)
			return fmt.Sprint(n), err
		}, "9007199254740993", 1},
		"tried again in one run": {2, func(ctx context.Context, req *server.Request) (string, error) {
			n, err := 0, errors.New("")
			for range 3 {
				if n, err = server.Once(ctx, req, "pay", pay); err == nil {
					break
				}
			}
			if err != nil {
				return "", err
			}
			_, err = req.ListRoots(ctx)
			return fmt.Sprint(n), err
		}, "9007199254740993", 3},
		"tried again after a question": {1, func(ctx context.Context, req *server.Request) (string, error) {
			n, err := server.Once(ctx, req, "pay", pay)
			if err != nil {
				if _, err := req.Elicit(ctx, form("again?")); err != nil {
					return "", err
				}
				n, err = server.Once(ctx, req, "pay", pay)
			}
			return fmt.Sprint(n), err
		}, "9007199254740993", 2},
		"an error is the handler's": {9, func(ctx context.Context, req *server.Request) (string, error) {
			_, err := server.Once(ctx, req, "pay", pay)
			return "", err
		}, "the bank is closed", 1},
		"one key twice": {0, func(ctx context.Context, req *server.Request) (string, error) {
			if _, err := server.Once(ctx, req, "pay", pay); err != nil {
				return "", err
			}
			_, err := server.Once(ctx, req, "pay", pay)
			return "", err
		}, `the step \"pay\" is done twice in one run`, 1},
		"a result that is no JSON": {0, func(ctx context.Context, req *server.Request) (string, error) {
			_, err := server.Once(ctx, req, "pay", func(ctx context.Context, key string) (any, error) {
				_, err := pay(ctx, key)
				return func() {}, err
			})
			return "", err
		}, `the step \"pay\" is done, and its result cannot be kept`, 1},
		"before a question returned": {0, func(ctx context.Context, req *server.Request) (string, error) {
			n, err := server.Once(ctx, req, "pay", pay)
			if err != nil {
				return "", err
			}
			if a, _ := req.InputResponses().Elicit("who"); a != nil {
				return fmt.Sprint(n, " ", req.State()), nil
			}
			return "", askName("who").WithState("kept")
		}, "9007199254740993 kept", 1},
	} {
		t.Run(name, func(t *testing.T) {
			add := func(s *server.Server) {
				server.AddTool(s, mcp.Tool{Name: "x"}, func(ctx context.Context, req *server.Request, _ struct{}) (string, error) { return c.h(ctx, req) })
			}
			bothTalk(t, server.Options{}, add, func(t *testing.T, k *talk) {
				var before string
				for range 2 {
					keys, fail = nil, c.fail
					got := k.call("x", "{}")
					if !strings.Contains(got, c.want) || len(keys) != c.times {
						t.Errorf("%s, done with %q", got, keys)
					}
					if len(slices.Compact(slices.Clone(keys))) != 1 || !strings.HasSuffix(keys[0], ".pay") || keys[0] == before {
						t.Errorf("idempotency keys %q after %q", keys, before)
					}
					before = keys[0]
				}
			})
		})
	}
}

// The result of OnceLocal stays here: only a reference travels, and without a store nothing is done.
func TestOnceLocal(t *testing.T) {
	done := 0
	add := func(s *server.Server) {
		done = 0
		server.AddTool(s, mcp.Tool{Name: "x"}, func(ctx context.Context, req *server.Request, _ struct{}) (string, error) {
			made, err := server.OnceLocal(ctx, req, "draw", func(context.Context, string) (string, error) {
				done++
				return strings.Repeat("secret", 20_000), nil
			})
			if err != nil {
				return "", err
			}
			_, err = req.ListRoots(ctx)
			return fmt.Sprint(len(made)), err
		})
	}
	bothTalk(t, server.Options{StateStore: server.MemoryStates(0, 0)}, add, func(t *testing.T, k *talk) {
		if got := k.call("x", "{}"); got != saying("120000") || done != 1 {
			t.Errorf("%s, done %d times", got, done)
		}
		for _, token := range k.tokens {
			if len(token) > 1000 {
				t.Errorf("the state takes %d bytes", len(token))
			}
		}
	})
	bothTalk(t, server.Options{}, add, func(t *testing.T, k *talk) {
		if got := k.call("x", "{}"); !strings.Contains(got, "OnceLocal needs Options.StateStore") || done != 0 || len(k.asked) > 0 {
			t.Errorf("%s, done %d times, asked %q", got, done, k.asked)
		}
	})
}

// A state sent twice does its steps twice, with one idempotency key; where states are good for one use, the second retry is
// refused.
func TestStateSentTwice(t *testing.T) {
	for name, c := range map[string]struct {
		consume server.Consumer
		second  string
		times   int
	}{
		"as it is":  {nil, saying("done"), 2},
		"used once": {server.MemoryNonces(0), `error -32602 {"reason":"invalid_request_state"}`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var keys []string
			s := newServer(server.Options{Consume: c.consume})
			server.AddTool(s, mcp.Tool{Name: "x"}, func(ctx context.Context, req *server.Request, _ struct{}) (string, error) {
				if _, err := req.Elicit(ctx, form("a")); err != nil {
					return "", err
				}
				_, err := server.Once(ctx, req, "pay", func(_ context.Context, key string) (bool, error) {
					keys = append(keys, key)
					return true, nil
				})
				return "done", err
			})
			w := dialWith(t, s, modern, everything)
			first := w.call("tools/call", `"name":"x"`)
			retry := `"name":"x","inputResponses":{"question-1":{"action":"accept","content":{"name":"Ada"}}},"requestState":` + member(t, first.Result, "requestState")
			w.want("tools/call", retry, saying("done"))
			w.want("tools/call", retry, c.second)
			if len(keys) != c.times || len(slices.Compact(slices.Clone(keys))) != 1 {
				t.Errorf("done with %q", keys)
			}
		})
	}
}

// A state that a release with another form of record has made is refused like any other that cannot be used.
func TestStatesOfAnOlderRelease(t *testing.T) {
	key := []byte("not a secret, but thirty-two long")[:32]
	s := newServer(server.Options{StateKeys: [][]byte{key}})
	server.AddTool(s, mcp.Tool{Name: "x"}, func(ctx context.Context, req *server.Request, _ struct{}) (string, error) {
		_, err := req.Elicit(ctx, form("a"))
		return "done", err
	})
	ring, err := seal.NewRing(key)
	if err != nil {
		t.Fatal(err)
	}
	sealer, err := seal.New(seal.Options{Ring: ring, Server: "test"})
	if err != nil {
		t.Fatal(err)
	}
	digest, err := seal.DigestCall(mcp.MethodCallTool, []byte(`{"name":"x"}`))
	if err != nil {
		t.Fatal(err)
	}
	record := seal.Record{Link: seal.Link{Round: 1, Chain: seal.NewChain()}}
	payload, err := record.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	w := dialWith(t, s, modern, everything)
	for version, want := range map[byte]string{payload[0]: "asks", payload[0] - 1: "error", payload[0] + 1: "error"} {
		payload[0] = version
		token, err := sealer.Seal(t.Context(), seal.Binding{Method: mcp.MethodCallTool, Arguments: digest}, record.Link, payload, time.Now(), time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		got := w.call("tools/call", `"name":"x","requestState":`+string(jsonrpc.AppendString(nil, token)))
		if want == "error" && plain(got) != `error -32602 {"reason":"invalid_request_state"}` || want == "asks" && member(t, got.Result, "inputRequests") == "" {
			t.Errorf("version %d: %s", version, got.Frame())
		}
	}
}
