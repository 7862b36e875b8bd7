package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// grants acknowledges a listen with a filter; "" with the one that was asked for.
func grants(filter string) func(*peer, *jsonrpc.Message) {
	return func(p *peer, m *jsonrpc.Message) {
		granted := filter
		if granted == "" {
			raw, _ := jsonrpc.Member(m.Params, "notifications")
			granted = string(raw)
		}
		p.write(m, `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":`+granted+`,"_meta":{"io.modelcontextprotocol/subscriptionId":{id}}}}`)
	}
}

// subscribable is what a server of either era does with subscriptions.
func subscribable() script {
	return script{"subscriptions/listen": grants(""), "resources/subscribe": result(`{}`), "resources/unsubscribe": result(`{}`)}
}

// updated tells of a resource in the form of the era, on every open stream.
func updated(era string, p *peer, uri string) {
	if era == "legacy" {
		p.write(&jsonrpc.Message{}, fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":%q}}`, uri))
		return
	}
	closed := map[string]bool{}
	for _, m := range p.sent("notifications/cancelled") {
		id, _ := jsonrpc.Member(m.Params, "requestId")
		closed[string(id)] = true
	}
	for _, m := range p.sent("subscriptions/listen") {
		if !closed[m.ID.String()] {
			p.write(m, fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":%q,"_meta":{"io.modelcontextprotocol/subscriptionId":{id}}}}`, uri))
		}
	}
}

// news takes what has come so far.
func news(t *testing.T, s *client.Subscription) string {
	t.Helper()
	synctest.Wait()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var all []string
	for {
		e, err := s.Next(ctx)
		if err != nil {
			return strings.Join(all, ", ")
		}
		all = append(all, strings.TrimSpace(e.Kind.String()+" "+e.URI))
	}
}

func subscribe(t *testing.T, c *client.Client, f client.Filter, o ...client.SubscribeOptions) *client.Subscription {
	t.Helper()
	s, err := c.Subscribe(t.Context(), f, o...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func uris(uris ...string) client.Filter { return client.Filter{ResourceSubscriptions: uris} }

// Several subscribers share what goes over the wire, each gets what it has asked for, once, and the last one gives it back.
func TestSubscribersShare(t *testing.T) {
	eras(t, subscribable(), func(t *testing.T, era string, conn transport.Conn, p *peer) {
		c := connect(t, conn, client.Options{})
		one := subscribe(t, c, uris("a:1"))
		both := subscribe(t, c, client.Filter{ResourceSubscriptions: []string{"a:2", "a:1", "a:2"}, ToolsListChanged: true, ResourcesListChanged: true})
		if h := both.Honoured(); !h.ToolsListChanged || h.ResourcesListChanged || strings.Join(h.ResourceSubscriptions, " ") != "a:1 a:2" {
			t.Errorf("honoured %+v", h)
		}
		for range 3 {
			updated(era, p, "a:1")
		}
		updated(era, p, "a:2")
		updated(era, p, "a:1/part")
		updated(era, p, "a:11")
		announce(t, era, p, "notifications/tools/list_changed")
		announce(t, era, p, "notifications/prompts/list_changed")
		if got := news(t, one); got != "resource updated a:1, resource updated a:1/part" {
			t.Errorf("one got %s", got)
		}
		if got := news(t, both); got != "resource updated a:1, resource updated a:2, resource updated a:1/part, tools changed" {
			t.Errorf("both got %s", got)
		}
		wantWire := func(when, modern, legacy string) {
			synctest.Wait()
			var got []string
			for _, m := range append(append(p.sent("subscriptions/listen"), p.sent("resources/subscribe")...), p.sent("resources/unsubscribe")...) {
				filter, _ := jsonrpc.Member(m.Params, "notifications")
				uri, _ := jsonrpc.Member(m.Params, "uri")
				got = append(got, strings.TrimPrefix(m.Method, "resources/")+string(uri)+string(filter))
			}
			if want := map[string]string{"modern": modern, "legacy": legacy}[era]; strings.Join(got, " ") != want {
				t.Errorf("%s: sent %s", when, strings.Join(got, " "))
			}
		}
		const first, second = `subscriptions/listen{"resourceSubscriptions":["a:1"]}`, `subscriptions/listen{"toolsListChanged":true,"resourceSubscriptions":["a:1","a:2"]}`
		wantWire("both open", first+" "+second, `subscribe"a:1" subscribe"a:2"`)
		for range 2 {
			if err := one.Close(); err != nil {
				t.Error(err)
			}
		}
		wantWire("one closed", first+" "+second, `subscribe"a:1" subscribe"a:2"`)
		updated(era, p, "a:1")
		if got := news(t, both); got != "resource updated a:1" || news(t, one) != "" {
			t.Errorf("after one was closed: %s", got)
		}
		if err := both.Close(); err != nil {
			t.Error(err)
		}
		wantWire("all closed", first+" "+second, `subscribe"a:1" subscribe"a:2" unsubscribe"a:1" unsubscribe"a:2"`)
		if opened, closed := strings.Count(p.methods(), "listen"), strings.Count(p.methods(), "cancelled"); opened != closed {
			t.Errorf("%d streams opened, %d closed", opened, closed)
		}
		if _, err := both.Next(t.Context()); !errors.Is(err, io.EOF) || both.Err() != nil {
			t.Errorf("after Close: %v", err)
		}
	})
}

// What the server does not grant is not honoured; what it does not declare is not asked for.
func TestSubscribeHonoured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, p := play(modern(script{"subscriptions/listen": grants(`{"toolsListChanged":true,"resourceSubscriptions":["a:2","a:3"]}`)}))
		defer p.conn.Close()
		c := connect(t, conn, client.Options{})
		s := subscribe(t, c, client.Filter{ToolsListChanged: true, PromptsListChanged: true, ResourceSubscriptions: []string{"a:1", "a:2"}})
		if h := s.Honoured(); !h.ToolsListChanged || h.PromptsListChanged || strings.Join(h.ResourceSubscriptions, " ") != "a:2" {
			t.Errorf("honoured %+v", h)
		}
	})
	eras(t, nil, func(t *testing.T, era string, conn transport.Conn, p *peer) {
		c := connect(t, conn, client.Options{})
		if _, err := c.Subscribe(t.Context(), client.Filter{ResourcesListChanged: true}); !errors.Is(err, mcp.CodeCapabilityNotSupported) {
			t.Errorf("got %v", err)
		}
		if _, err := c.Subscribe(t.Context(), client.Filter{Extra: []byte(`{"x/tasks":[1]}`)}); err == nil {
			t.Error("a member of an extension was taken")
		}
		if strings.Contains(p.methods(), "subscri") {
			t.Errorf("sent %s", p.methods())
		}
	})
}

// A server that refuses fails the one who asks, and leaves the others what they have.
func TestSubscribeRefused(t *testing.T) {
	refusing := func(ok func(*peer, *jsonrpc.Message)) func(*peer, *jsonrpc.Message) {
		return func(p *peer, m *jsonrpc.Message) {
			if strings.Contains(string(m.Params), "a:bad") {
				fails(-32602, "no such thing", "")(p, m)
				return
			}
			ok(p, m)
		}
	}
	rest := subscribable()
	for method, ok := range rest {
		rest[method] = refusing(ok)
	}
	eras(t, rest, func(t *testing.T, era string, conn transport.Conn, p *peer) {
		c := connect(t, conn, client.Options{})
		good := subscribe(t, c, uris("a:1"))
		if _, err := c.Subscribe(t.Context(), uris("a:0", "a:1", "a:bad")); !errors.Is(err, mcp.CodeInvalidParams) {
			t.Errorf("got %v", err)
		}
		time.Sleep(time.Minute)
		updated(era, p, "a:1")
		if got := news(t, good); got != "resource updated a:1" {
			t.Errorf("the other got %q", got)
		}
		if era == "legacy" {
			if sub, un := len(p.sent("resources/subscribe")), len(p.sent("resources/unsubscribe")); sub != 3 || un != 1 {
				t.Errorf("%d subscribed, %d given back", sub, un)
			}
		}
	})
	synctest.Test(t, func(t *testing.T) {
		conn, p := play(modern(script{"subscriptions/listen": nil}))
		defer p.conn.Close()
		c := connect(t, conn, client.Options{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := c.Subscribe(ctx, uris("a:1")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if _, err := c.Subscribe(t.Context(), uris("a:1")); err == nil || !strings.Contains(err.Error(), "did not acknowledge") {
			t.Errorf("got %v", err)
		}
		synctest.Wait()
		if opened, closed := strings.Count(p.methods(), "listen"), strings.Count(p.methods(), "cancelled"); opened != 2 || closed != 2 {
			t.Errorf("sent %s", p.methods())
		}
	})
}

// How a stream of news may end: without having begun, out of order, cut, and in order after an hour.
func TestC015SubscriptionEnds(t *testing.T) {
	const change = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":{id}}}}`
	open := func(t *testing.T, listen func(*peer, *jsonrpc.Message), o client.SubscribeOptions) (*client.Subscription, *peer, *[]string, error) {
		conn, p := play(modern(script{"subscriptions/listen": listen}))
		t.Cleanup(func() { p.conn.Close() })
		reported := &[]string{}
		c := connect(t, conn, client.Options{OnError: func(err error) { *reported = append(*reported, err.Error()) }})
		s, err := c.Subscribe(t.Context(), client.Filter{ToolsListChanged: true}, o)
		return s, p, reported, err
	}
	t.Run("bare result", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			_, p, _, err := open(t, result(`{}`), client.SubscribeOptions{Reconnect: true})
			if err == nil || !strings.Contains(err.Error(), "closed the subscription without acknowledging") {
				t.Errorf("got %v", err)
			}
			time.Sleep(time.Hour)
			if n := len(p.sent("subscriptions/listen")); n != 1 {
				t.Errorf("asked %d times", n)
			}
		})
	})
	t.Run("change before the acknowledgement", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, _, reported, err := open(t, func(p *peer, m *jsonrpc.Message) { p.write(m, change); grants("")(p, m) }, client.SubscribeOptions{})
			if err != nil || news(t, s) != "" || !strings.Contains(fmt.Sprint(*reported), "before the acknowledgement") {
				t.Errorf("%v, reported %q", err, *reported)
			}
		})
	})
	for name, tc := range map[string]struct {
		reconnect bool
		end       string
		want      string // what is heard after the stream was opened anew, or how it ends
	}{
		"cut, to reconnect":      {true, `{"jsonrpc":"2.0","id":{id},"error":{"code":-32603,"message":"gone"}}`, "gap, tools changed"},
		"cut":                    {false, `{"jsonrpc":"2.0","id":{id},"error":{"code":-32603,"message":"gone"}}`, "gone"},
		"in order, to reconnect": {true, `{"jsonrpc":"2.0","id":{id},"result":{}}`, "gap, tools changed"},
		"in order":               {false, `{"jsonrpc":"2.0","id":{id},"result":{}}`, "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, p, _, err := open(t, grants(""), client.SubscribeOptions{Reconnect: tc.reconnect})
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Hour)
				p.write(p.last(t, "subscriptions/listen"), tc.end)
				time.Sleep(10 * time.Second)
				if tc.reconnect {
					p.write(p.last(t, "subscriptions/listen"), change)
					if got := news(t, s); got != tc.want || len(p.sent("subscriptions/listen")) != 2 {
						t.Errorf("got %s after %d streams", got, len(p.sent("subscriptions/listen")))
					}
					return
				}
				if _, err := s.Next(t.Context()); err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("got %v", err)
				}
				<-s.Done()
				time.Sleep(time.Hour)
				if n := len(p.sent("subscriptions/listen")); n != 1 {
					t.Errorf("asked %d times", n)
				}
			})
		})
	}
}

// A server that is down for long is asked at growing intervals, and found again.
func TestSubscriptionBacksOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var down atomic.Bool
		conn, p := play(modern(script{"subscriptions/listen": func(p *peer, m *jsonrpc.Message) {
			if down.Load() {
				fails(-32603, "down", "")(p, m)
				return
			}
			grants("")(p, m)
		}}))
		defer p.conn.Close()
		c := connect(t, conn, client.Options{})
		s := subscribe(t, c, client.Filter{ToolsListChanged: true}, client.SubscribeOptions{Reconnect: true})
		down.Store(true)
		fails(-32603, "down", "")(p, p.last(t, "subscriptions/listen"))
		time.Sleep(10 * time.Minute)
		if n := len(p.sent("subscriptions/listen")); n < 15 || n > 30 {
			t.Errorf("asked %d times", n)
		}
		down.Store(false)
		time.Sleep(time.Minute)
		if got := news(t, s); got != "gap" {
			t.Errorf("got %s", got)
		}
	})
}

// A reader that does not come loses nothing it could not find out: repeated news is told once, too much becomes a gap.
func TestSlowSubscriber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, p := play(legacy(subscribable()))
		defer p.conn.Close()
		s := subscribe(t, connect(t, conn, client.Options{}), uris("a:"))
		for i := range 1500 {
			updated("legacy", p, fmt.Sprintf("a:/%d", i))
		}
		got := news(t, s)
		if !strings.HasPrefix(got, "gap, resource updated a:/1001, ") || !strings.HasSuffix(got, "a:/1499") {
			t.Errorf("got %.60s ... %s", got, got[max(0, len(got)-30):])
		}
	})
}

// Closing the client ends subscriptions in order; a server that goes away does not.
func TestSubscriptionsEndWithTheClient(t *testing.T) {
	eras(t, subscribable(), func(t *testing.T, era string, conn transport.Conn, p *peer) {
		c := connect(t, conn, client.Options{})
		s := subscribe(t, c, uris("a:1"))
		c.Close()
		for range s.Events(t.Context()) {
			t.Error("news")
		}
		if err := s.Close(); err != nil || s.Err() != nil {
			t.Errorf("%v, %v", err, s.Err())
		}
		if _, err := c.Subscribe(t.Context(), uris("a:1")); !errors.Is(err, mcp.CodeNotConnected) {
			t.Errorf("got %v", err)
		}
	})
	eras(t, subscribable(), func(t *testing.T, era string, conn transport.Conn, p *peer) {
		s := subscribe(t, connect(t, conn, client.Options{}), uris("a:1"))
		p.conn.Close()
		if _, err := s.Next(t.Context()); err == nil || errors.Is(err, io.EOF) || s.Err() == nil {
			t.Errorf("got %v", err)
		}
	})
}
