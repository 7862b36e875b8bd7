package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/mcptest"
	rialto "github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/transport"
)

type order struct {
	Item  string   `json:"item"`
	Count int      `json:"count"`
	Tags  []string `json:"tags"`
}

type receipt struct {
	Total float64 `json:"total"`
}

// A method of a vendor is the same in both eras, but for the envelope that each modern request has.
func TestRequestVendor(t *testing.T) {
	eras(t, script{"acme/buy": result(`{"total":7.5,"odd":{}}`)}, func(t *testing.T, era string, conn transport.Conn, p *peer) {
		c := connect(t, conn, client.Options{})
		got, err := client.Request[receipt](t.Context(), c, "acme/buy", order{Item: "pear", Count: 2})
		if err != nil || got.Total != 7.5 {
			t.Errorf("got %+v, %v", got, err)
		}
		params := string(p.last(t, "acme/buy").Params)
		if !strings.HasPrefix(params, `{"item":"pear","count":2,"tags":[]`) {
			t.Errorf("sent %s", params)
		}
		if enveloped := strings.Contains(params, mcp.MetaClientCapabilities); enveloped != (era == "modern") {
			t.Errorf("sent %s", params)
		}
		raw, err := client.Request[json.RawMessage](t.Context(), c, "acme/buy", json.RawMessage(`{"n":1.0}`))
		if err != nil || string(raw) != `{"total":7.5,"odd":{}}` || !strings.HasPrefix(string(p.last(t, "acme/buy").Params), `{"n":1.0`) {
			t.Errorf("got %s, %v; sent %s", raw, err, p.last(t, "acme/buy").Params)
		}
		if _, err := client.Request[[]int](t.Context(), c, "acme/buy", nil); !errors.Is(err, mcp.CodeInvalidResult) || !strings.Contains(err.Error(), "acme/buy") {
			t.Errorf("another shape: %v", err)
		}
		sent := p.asked("acme/buy")
		for _, params := range []any{7, []int{1}, json.RawMessage("{"), func() {}} {
			if _, err := client.Request[receipt](t.Context(), c, "acme/buy", params); err == nil {
				t.Errorf("params %v: no error", params)
			}
		}
		absent := map[string]string{"modern": "logging/setLevel", "legacy": "server/discover"}[era]
		before := p.asked(absent)
		if _, err := client.Request[receipt](t.Context(), c, absent, nil); !errors.Is(err, mcp.CodeMethodNotSupported) {
			t.Errorf("%s: %v", absent, err)
		}
		synctest.Wait()
		if p.asked("acme/buy") != sent || p.asked(absent) != before {
			t.Errorf("sent were %s", p.methods())
		}
	})
}

// Notifications of this side go by the same rule.
func TestNotifyVendor(t *testing.T) {
	eras(t, nil, func(t *testing.T, era string, conn transport.Conn, p *peer) {
		c := connect(t, conn, client.Options{})
		must(t, c.Notify(t.Context(), "acme/seen", json.RawMessage(`{"n":1.0}`)))
		if era == "modern" {
			if err := c.Notify(t.Context(), mcp.NotifyRootsChanged, nil); !errors.Is(err, mcp.CodeMethodNotSupported) {
				t.Errorf("got %v", err)
			}
		}
		synctest.Wait()
		if params := string(p.last(t, "acme/seen").Params); !strings.HasPrefix(params, `{"n":1.0`) || p.asked(mcp.NotifyRootsChanged) != 0 {
			t.Errorf("sent %s", params)
		}
	})
}

// What a legacy server asks by a method of its own is answered by its handler, and what has none by OnRequest or not at all.
func TestHandleRequest(t *testing.T) {
	confirm := client.HandleRequest("acme/confirm", func(_ context.Context, req *client.IncomingRequest, in order) (receipt, error) {
		switch in.Item {
		case "coded":
			return receipt{}, mcp.Errorf(-7, "sold out")
		case "plain":
			return receipt{}, errors.New("secret")
		}
		return receipt{Total: float64(in.Count)}, nil
	})
	list := client.HandleRequest("acme/list", func(context.Context, *client.IncomingRequest, json.RawMessage) ([]int, error) { return nil, nil })
	rest := func(context.Context, *client.IncomingRequest) (json.RawMessage, error) {
		return json.RawMessage(`{"rest":true}`), nil
	}
	cases := []struct {
		name, method, params string
		onRequest            bool
		want                 string
	}{
		{"answers", "acme/confirm", `{"item":"pear","count":2}`, false, `{"total":2}`},
		{"nothing is {}", "acme/confirm", ``, false, `{"total":0}`},
		{"wrong parameters", "acme/confirm", `{"count":"two"}`, false, "-32602 the parameters of acme/confirm cannot be read"},
		{"an error with a code", "acme/confirm", `{"item":"coded"}`, false, "-7 sold out"},
		{"an error without", "acme/confirm", `{"item":"plain"}`, false, "-32603 Internal error"},
		{"an answer that is none", "acme/list", `{}`, false, "-32603 This client's answer to acme/list cannot be sent"},
		{"no handler", "acme/other", `{}`, false, "-32601"},
		{"the rest", "acme/other", `{}`, true, `{"rest":true}`},
		{"not the rest", "acme/confirm", `{"count":3}`, true, `{"total":3}`},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				opts := client.Options{Vendor: []client.VendorHandler{confirm, list}, OnError: func(error) {}}
				if tc.onRequest {
					opts.OnRequest = rest
				}
				answer, err := asked(t, "legacy", opts, tc.method, tc.params)
				var fault *mcp.Error
				if errors.As(err, &fault) {
					answer = fmt.Sprint(int64(fault.Code), " ", fault.Message)
				}
				if !strings.HasPrefix(answer, tc.want) {
					t.Errorf("got %s, want %s", answer, tc.want)
				}
			})
		})
	}
}

func TestOnNotificationTyped(t *testing.T) {
	eras(t, nil, func(t *testing.T, era string, conn transport.Conn, p *peer) {
		var mu sync.Mutex
		var seen, faults []string
		note := func(to *[]string, format string, args ...any) {
			mu.Lock()
			defer mu.Unlock()
			*to = append(*to, fmt.Sprintf(format, args...))
		}
		connect(t, conn, client.Options{
			Vendor: []client.VendorHandler{
				client.OnNotification("acme/tick", func(_ context.Context, in order) { note(&seen, "tick %d", in.Count) }),
				client.HandleRequest("acme/tick", func(context.Context, *client.IncomingRequest, order) (order, error) { return order{}, nil }),
			},
			OnNotification: func(_ context.Context, method string, params json.RawMessage) { note(&seen, "%s", method) },
			OnError:        func(err error) { note(&faults, "%v", err) },
		})
		for _, params := range []string{`,"params":{"count":7}`, ``, `,"params":{"count":"x"}`} {
			p.write(&jsonrpc.Message{}, `{"jsonrpc":"2.0","method":"acme/tick"`+params+`}`)
		}
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		if got := strings.Join(seen, ", "); got != "acme/tick, tick 7, acme/tick, tick 0, acme/tick" {
			t.Errorf("seen is %s", got)
		}
		if len(faults) != 1 || !strings.Contains(faults[0], "a notification acme/tick that cannot be read") {
			t.Errorf("faults are %q", faults)
		}
	})
}

// Handlers that cannot be are refused before anything is sent.
func TestVendorRefused(t *testing.T) {
	tick := client.OnNotification("acme/tick", func(context.Context, order) {})
	for name, handlers := range map[string][]client.VendorHandler{
		"twice":                 {tick, tick},
		"no method":             {client.OnNotification("", func(context.Context, order) {})},
		"made by nobody":        {{}},
		"tools/list":            {client.OnNotification("tools/list", func(context.Context, order) {})},
		"roots/list":            {client.HandleRequest("roots/list", func(context.Context, *client.IncomingRequest, order) (order, error) { return order{}, nil })},
		"notifications/message": {client.OnNotification("notifications/message", func(context.Context, order) {})},
	} {
		conn, p := play(modern(nil))
		c, err := client.Connect(t.Context(), conn, client.Options{Vendor: handlers})
		if err == nil {
			c.Close()
		}
		if err == nil || !strings.Contains(err.Error(), "Vendor") || p.methods() != "" {
			t.Errorf("%s: %v, sent %s", name, err, p.methods())
		}
	}
}

// A server of this module and its client have a method of their own on every wire.
func TestVendorOnEveryWire(t *testing.T) {
	for _, wire := range mcptest.Wires() {
		t.Run(wire.Name, func(t *testing.T) {
			s := rialto.New(mcp.Implementation{Name: "shop", Version: "1"}, rialto.Options{})
			s.Handle("acme/buy", func(_ context.Context, req *rialto.Request) (*rialto.RawResult, error) {
				return &rialto.RawResult{Result: req.Params()}, nil
			})
			c := wire.Dial(t, s)
			got, err := client.Request[order](t.Context(), c, "acme/buy", order{Item: "pear", Count: 2})
			if err != nil || got.Item != "pear" || got.Count != 2 {
				t.Errorf("got %+v, %v", got, err)
			}
			if _, err := client.Request[order](t.Context(), c, "acme/sell", nil); !errors.Is(err, mcp.CodeMethodNotFound) {
				t.Errorf("a method that nobody serves: %v", err)
			}
		})
	}
}
