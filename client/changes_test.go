package client_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/transport"
)

const acknowledged = `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":{id}}}}`

// announce tells of a change in the form of the era.
func announce(t *testing.T, era string, p *peer, method string) {
	t.Helper()
	if era == "legacy" {
		p.write(&jsonrpc.Message{}, `{"jsonrpc":"2.0","method":"`+method+`"}`)
		return
	}
	p.write(p.last(t, "subscriptions/listen"), `{"jsonrpc":"2.0","method":"`+method+`","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":{id}}}}`)
}

// A storm of changes makes one call at a time and no more than one waits, and the last change is never lost.
func TestChangesCoalesce(t *testing.T) {
	eras(t, script{"subscriptions/listen": says(acknowledged)}, func(t *testing.T, era string, conn transport.Conn, p *peer) {
		c := connect(t, conn, client.Options{})
		var version, seen, calls, running atomic.Int32
		stop := c.OnToolsChange(func() {
			if running.Add(1) > 1 {
				t.Error("two calls at once")
			}
			calls.Add(1)
			got := version.Load()
			time.Sleep(2 * time.Second)
			seen.Store(got)
			running.Add(-1)
		})
		defer stop()
		var other atomic.Int32
		defer c.OnToolsChange(func() { other.Add(1) })()
		synctest.Wait()
		for range 200 {
			version.Add(1)
			announce(t, era, p, "notifications/tools/list_changed")
		}
		time.Sleep(time.Second)
		version.Add(1)
		announce(t, era, p, "notifications/tools/list_changed")
		time.Sleep(time.Minute)
		if calls.Load() != 2 || seen.Load() != 201 || other.Load() != 2 {
			t.Errorf("%d calls, saw %d, the other %d calls", calls.Load(), seen.Load(), other.Load())
		}
	})
}

func TestChangesKinds(t *testing.T) {
	eras(t, script{"subscriptions/listen": says(acknowledged)}, func(t *testing.T, era string, conn transport.Conn, p *peer) {
		c := connect(t, conn, client.Options{})
		synctest.Wait()
		if strings.Contains(p.methods(), "listen") {
			t.Error("a stream was opened that nobody waits for")
		}
		var tools, prompts, resources atomic.Int32
		stopTools := c.OnToolsChange(func() { tools.Add(1) })
		stopPrompts := c.OnPromptsChange(func() { prompts.Add(1) })
		stopResources := c.OnResourcesChange(func() { resources.Add(1) }) // the server declares no listChanged for them
		synctest.Wait()
		announce(t, era, p, "notifications/prompts/list_changed")
		time.Sleep(time.Second)
		stopPrompts()
		synctest.Wait()
		if era == "modern" {
			filter, _ := jsonrpc.Member(p.last(t, "subscriptions/listen").Params, "notifications")
			if string(filter) != `{"toolsListChanged":true}` {
				t.Errorf("filter %s", filter)
			}
		}
		announce(t, era, p, "notifications/prompts/list_changed")
		time.Sleep(time.Second)
		stopTools()
		stopResources()
		stopTools()
		synctest.Wait()
		if tools.Load() != 0 || prompts.Load() != 1 || resources.Load() != 0 {
			t.Errorf("%d tools, %d prompts, %d resources", tools.Load(), prompts.Load(), resources.Load())
		}
		if opened, closed := strings.Count(p.methods(), "listen"), strings.Count(p.methods(), "cancelled"); opened != closed {
			t.Errorf("%d streams opened, %d closed", opened, closed)
		}
	})
}

// A stream that breaks is opened anew, and everybody is told once, since changes may have been missed.
func TestChangesReopen(t *testing.T) {
	for name, end := range map[string][]string{
		"result":            {`{"jsonrpc":"2.0","id":{id},"result":{}}`},
		"notice and result": {`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{id}}}`, `{"jsonrpc":"2.0","id":{id},"result":{}}`},
		"notice alone":      {`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{id}}}`},
		"error":             {`{"jsonrpc":"2.0","id":{id},"error":{"code":-32603,"message":"Subscription limit reached"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conn, p := play(modern(script{"subscriptions/listen": says(acknowledged)}))
				defer p.conn.Close()
				c := connect(t, conn, client.Options{})
				var calls atomic.Int32
				defer c.OnToolsChange(func() { calls.Add(1) })()
				synctest.Wait()
				p.write(p.last(t, "subscriptions/listen"), end...)
				time.Sleep(10 * time.Second)
				if n := strings.Count(p.methods(), "listen"); n != 2 || calls.Load() != 1 {
					t.Errorf("%d streams, %d calls", n, calls.Load())
				}
			})
		})
	}
}

func TestChangesGiveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, p := play(modern(script{"subscriptions/listen": fails(-32601, "Method not found", "")}))
		defer p.conn.Close()
		var reported atomic.Int32
		c := connect(t, conn, client.Options{OnError: func(error) { reported.Add(1) }})
		defer c.OnToolsChange(func() {})()
		time.Sleep(time.Hour)
		if n := strings.Count(p.methods(), "listen"); n != 1 || reported.Load() != 1 {
			t.Errorf("asked %d times, reported %d", n, reported.Load())
		}
	})
}

func TestChangesCallbackCloses(t *testing.T) {
	eras(t, script{"subscriptions/listen": says(acknowledged)}, func(t *testing.T, era string, conn transport.Conn, p *peer) {
		c := connect(t, conn, client.Options{})
		c.OnToolsChange(func() { c.Close() })
		synctest.Wait()
		announce(t, era, p, "notifications/tools/list_changed")
		select {
		case <-c.Done():
		case <-time.After(time.Minute):
			t.Error("not closed")
		}
	})
}

// What changes between the answer of a list and the beginning of the stream is told nobody, so that a function is called when the
// stream begins, where its list was read before, and what is kept of that list is forgotten.
func TestChangesBeforeTheStream(t *testing.T) {
	tools := says(`{"jsonrpc":"2.0","id":{id},"result":{"resultType":"complete","tools":[],"ttlMs":3600000,"cacheScope":"public"}}`)
	for name, read := range map[string]int{"never read": 0, "read before": 1, "read while it opens": 2} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conn, p := play(modern(script{"tools/list": tools, "subscriptions/listen": says()}))
				defer p.conn.Close()
				c := connect(t, conn, client.Options{})
				list := func() {
					for _, err := range c.Tools(t.Context()) {
						if err != nil {
							t.Error(err)
						}
					}
				}
				if read == 1 {
					list()
				}
				var tools, prompts atomic.Int32
				defer c.OnToolsChange(func() { tools.Add(1) })()
				defer c.OnPromptsChange(func() { prompts.Add(1) })()
				if read == 2 {
					list()
				}
				time.Sleep(time.Second)
				if n := tools.Load(); n != 0 {
					t.Errorf("%d calls before the stream has begun", n)
				}
				p.write(p.last(t, "subscriptions/listen"), acknowledged)
				time.Sleep(time.Second)
				if got := int(tools.Load()); got != min(read, 1) || prompts.Load() != 0 {
					t.Errorf("%d calls for tools, %d for prompts", got, prompts.Load())
				}
				list()
				list()
				if n := strings.Count(p.methods(), "tools/list"); n != min(read, 1)+1 {
					t.Errorf("the list was asked for %d times", n)
				}
			})
		})
	}
}
