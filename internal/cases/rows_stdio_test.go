package cases

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// call is a tools/call in one line, of the modern era or, bare, without a claim.
func callLine(id, tool, args string, bare bool) string {
	end := "," + claimOf("2026-07-28")
	if bare {
		end = ""
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s%s}}`, id, tool, args, end)
}

// TestRowsOfPipes holds how each frame is judged that comes over a pipe, before and after a handshake. A row without an
// answer is one to which the server says nothing.
func TestRowsOfPipes(t *testing.T) {
	list := claims("2026-07-28", "tools/list").body
	claimed := func(method string) string { return claims("2026-07-28", method).body }
	notify := func(method, version string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":{%s}}`, method, claimOf(version))
	}
	ping := `{"jsonrpc":"2.0","id":7,"method":"ping"}`
	parse, shape := wanted{code: -32700}, wanted{code: -32600}
	under := func(code int64, data string) *wanted { return &wanted{code: code, id: "7", data: data} }
	result := func(part string) *wanted { return &wanted{text: part} }
	many := strings.TrimSuffix(strings.Repeat(ping+",", batchLimit+1), ",")
	rows := []struct {
		name, role, revision, line string // revision "" is before a handshake
		want                       *wanted
		says                       string // on standard error
	}{
		{"no JSON", "", "", `{"jsonrpc":`, &parse, ""},
		{"not UTF-8", "", "", "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"\xff\"}", &parse, ""},
		{"a name twice", "", "", `{"jsonrpc":"2.0","id":7,"id":8,"method":"ping"}`, &parse, ""},
		{"too deep", "", "", nested(129), &parse, ""},
		{"two values", "", "", ping + ping, &parse, ""},
		{"no JSON after a handshake", "", "2025-11-25", `{"jsonrpc":`, &parse, ""},
		{"longer than may be", "small", "", `"` + strings.Repeat("x", frameLimit) + `"`, &shape, ""},
		{"as long as may be", "small", "", `"` + strings.Repeat("x", frameLimit-2) + `"`, &shape, ""},
		{"a blank line", "", "", "", nil, ""},
		{"a byte order mark", "", "", "\xef\xbb\xbf" + ping, result(`"id":7,"result":{}`), ""},
		{"a byte order mark later", "", "2025-11-25", "\xef\xbb\xbf" + ping, &parse, ""},
		{"a carriage return", "", "", ping + "\r", result(`"id":7,"result":{}`), ""},

		{"a number", "", "", `7`, &shape, ""},
		{"no method", "", "", `{"jsonrpc":"2.0","id":7}`, under(-32600, ""), ""},
		{"another jsonrpc", "", "", `{"jsonrpc":"1.0","id":7,"method":"ping"}`, under(-32600, ""), ""},
		{"id null", "", "", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, &shape, ""},
		{"id with a fraction", "", "", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, &shape, ""},

		{"array before a handshake", "", "", `[` + ping + `]`, &shape, ""},
		{"array of 2025-03-26", "", "2025-03-26", `[` + ping + `,` + notice + `]`, result(`[{"jsonrpc":"2.0","id":7,"result":{}}]`), ""},
		{"array of 2024-11-05", "", "2024-11-05", `[` + ping + `]`, result(`[{"jsonrpc":"2.0","id":7,"result":{}}]`), ""},
		{"array of notifications", "", "2025-03-26", `[` + notice + `]`, nil, ""},
		{"array of 2025-06-18", "", "2025-06-18", `[` + ping + `]`, &shape, ""},
		{"array of 2025-11-25", "", "2025-11-25", `[` + ping + `]`, &shape, ""},
		{"empty array", "", "2025-03-26", `[]`, &shape, ""},
		{"array with initialize", "", "2025-03-26", `[` + initialize("2025-03-26").body + `]`, &shape, ""},
		{"array with a claim", "", "2025-03-26", `[` + ping + `,` + list + `]`, &shape, ""},
		{"array with a number", "", "2025-03-26", `[` + ping + `,1]`, &shape, ""},
		{"array of more than may be", "", "2025-03-26", `[` + many + `]`, &shape, ""},

		{"answer to nothing", "", "", postedAnswer, nil, "stray:"},
		{"answer to nothing after a handshake", "", "2025-11-25", postedAnswer, nil, "stray:"},
		{"error without id", "", "2025-11-25", `{"jsonrpc":"2.0","error":{"code":1,"message":"no"}}`, nil, "stray:"},

		{"claim", "", "", list, result(`"resultType":"complete"`), ""},
		{"claim after a handshake", "", "2025-11-25", list, result(`"resultType":"complete"`), ""},
		{"claim of a later version", "", "", claims("2027-01-01", "tools/list").body, under(-32022, unservedData("2027-01-01")), ""},
		{"claim of a later version, unknown method", "", "", claims("2027-01-01", "tools/none").body, under(-32022, unservedData("2027-01-01")), ""},
		{"claim of a legacy version", "", "2025-11-25", claims("2025-11-25", "tools/list").body, under(-32022, unservedData("2025-11-25")), ""},
		{"initialize with a claim", "", "", claimed("initialize"), under(-32601, ""), ""},
		{"claim, unknown method", "", "", claimed("tools/none"), under(-32601, ""), ""},
		{"claim, ping", "", "2025-11-25", claimed("ping"), under(-32601, ""), ""},
		{"claim that is no string", "", "", ask{body: list}.withMeta("1", "{}", "").body, under(-32602, envelopeData("protocolVersion", "not a string")), ""},
		{"claim without capabilities", "", "", ask{body: list}.withMeta(version, "", "").body, under(-32602, envelopeData("clientCapabilities", "missing")), ""},
		{"claim, extension not declared", "", "", claimed("shelf/sort"), under(-32021, `{"requiredCapabilities":{"extensions":{"com.example/shelf":{}}}}`), ""},
		{"claim, unknown tool", "", "", callLine("7", "none", "{}", false), under(-32602, ""), ""},
		{"claim, unknown resource", "", "", modernAsk("resources/read", "", `"uri":"book:0",`).body, under(-32602, `{"uri":"book:0"}`), ""},
		{"claim, capability not declared", "", "", callLine("7", "forecast", `{"city":"Oslo"}`, false), under(-32021, `{"requiredCapabilities":{"roots":{}}}`), ""},
		{"claim, a state of nobody", "", "", ask{body: callLine("7", "forecast", `{"city":"Oslo"}`, false)}.more(`"requestState":"a",`).body, under(-32602, `{"reason":"invalid_request_state"}`), ""},
		{"claim, an argument that breaks the schema", "", "", callLine("7", "forecast", `{}`, false), result(`"isError":true`), ""},

		{"notification of a later version", "", "", notify("notifications/progress", "2027-01-01"), nil, "stray:"},
		{"notification with a claim, unknown method", "", "", notify("notifications/none", "2026-07-28"), nil, ""},
		{"notification before a handshake", "", "", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, nil, "stray:"},
		{"notification of nobody", "", "2025-11-25", `{"jsonrpc":"2.0","method":"notifications/none"}`, nil, ""},
		{"cancellation of nothing", "", "", notice, nil, ""},
		{"cancellation without id", "", "2025-11-25", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}`, nil, ""},

		{"initialize", "", "", ask{body: initialize("2025-06-18").body}.withSeven().body, result(`"protocolVersion":"2025-06-18"`), ""},
		{"initialize for a modern revision", "", "", initialize("2026-07-28").body, result(`"protocolVersion":"2025-11-25"`), ""},
		{"initialize without version", "", "", `{"jsonrpc":"2.0","id":7,"method":"initialize","params":{}}`, under(-32602, "*"), ""},
		{"initialize again", "", "2025-11-25", ask{body: initialize("2025-11-25").body}.withSeven().body, under(-32600, ""), ""},
		{"request before a handshake", "", "", unclaimed, &wanted{code: -32600, id: "7", text: "open a session with initialize"}, ""},
		{"the same names the other way in", "", "", unclaimed, &wanted{code: -32600, id: "7", text: "io.modelcontextprotocol/protocolVersion"}, ""},
		{"discover without a claim", "", "", `{"jsonrpc":"2.0","id":7,"method":"server/discover"}`, under(-32600, ""), ""},
		{"ping before a handshake", "", "", ping, result(`"id":7,"result":{}`), ""},
		{"request after a handshake", "", "2024-11-05", unclaimed, result(`"tools":[`), ""},
		{"unknown method after a handshake", "", "2025-11-25", `{"jsonrpc":"2.0","id":7,"method":"tools/none"}`, under(-32601, ""), ""},
		{"discover after a handshake", "", "2025-11-25", `{"jsonrpc":"2.0","id":7,"method":"server/discover"}`, under(-32601, ""), ""},
		{"unknown tool after a handshake", "", "2025-11-25", callLine("7", "none", "{}", true), under(-32602, ""), ""},
		{"unknown resource after a handshake", "", "2025-11-25", `{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"book:0"}}`, under(-32002, `{"uri":"book:0"}`), ""},

		{"modern only: request", "modern", "", unclaimed, under(-32022, served), ""},
		{"modern only: ping", "modern", "", ping, under(-32022, served), ""},
		{"modern only: initialize", "modern", "", ask{body: initialize("2025-11-25").body}.withSeven().body, under(-32022, unservedData("2025-11-25")), ""},
		{"modern only: notification", "modern", "", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, nil, "stray:"},
		{"modern only: array", "modern", "", `[` + ping + `]`, &shape, ""},
		{"modern only: claim", "modern", "", list, result(`"resultType":"complete"`), ""},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			c := spawn(t, orLibrary(r.role))
			if r.revision != "" {
				c.greet(t, r.revision)
			}
			c.send(t, r.line)
			if r.want != nil {
				r.want.in(t, c.next(t))
			}
			c.silent(t)
			if r.says != "" {
				c.hears(t, r.says, 1)
			}
		})
	}
}

func orLibrary(role string) string {
	if role == "" {
		return "library"
	}
	return role
}

// TestPairsOfPipeFaults breaks every two rows of the order of refusals in one frame of a pipe.
func TestPairsOfPipeFaults(t *testing.T) {
	c := spawn(t, "library")
	faults := []fault{
		{"JSON", func(d *draft) { d.notJSON = true }, wanted{code: -32700}},
		{"JSON-RPC", func(d *draft) { d.jsonrpc = "1.0" }, wanted{code: -32600, id: "7"}},
		unservedFault, methodFault, metaFault, extensionFault, targetFault, stateFault, argumentFault, capabilityFault,
	}
	check := func(d draft, first, second fault) {
		t.Run(pairName(first, second), func(t *testing.T) {
			c.send(t, spoiled(d, first, second).frame())
			first.want.in(t, c.next(t))
		})
	}
	pairs(faults, func(first, second fault) { check(goodDraft(), first, second) })
	bare := goodDraft()
	bare.bare = true
	opening := fault{"no handshake", func(*draft) {}, wanted{code: -32600, id: "7", text: "initialize"}}
	called := []fault{methodFault, targetFault, argumentFault}
	for _, first := range append(append([]fault(nil), faults[:2]...), opening) { // nothing else is seen before a handshake
		for _, second := range append([]fault{opening}, called...) {
			check(bare, first, second)
		}
	}
	c.greet(t, "2025-11-25")
	pairs(append(append([]fault(nil), faults[:2]...), called...), func(first, second fault) { check(bare, first, second) })
}

// TestPipeCancellation holds that a cancellation finds its request whatever the era of either, a listen included.
func TestPipeCancellation(t *testing.T) {
	listen := modernAsk("subscriptions/listen", "", `"notifications":{"toolsListChanged":true},`).body
	cancel := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`
	claimedCancel := strings.Replace(cancel, `"requestId":7`, `"requestId":7,`+claimOf("2026-07-28"), 1)
	for _, r := range []struct{ name, revision, request, cancel string }{
		{"modern, without a claim", "", callLine("7", "wait", "{}", false), cancel},
		{"modern, with a claim", "", callLine("7", "wait", "{}", false), claimedCancel},
		{"legacy, without a claim", "2025-11-25", callLine("7", "wait", "{}", true), cancel},
		{"legacy, with a claim", "2025-11-25", callLine("7", "wait", "{}", true), claimedCancel},
		{"modern beside a handshake", "2025-11-25", callLine("7", "wait", "{}", false), cancel},
		{"listen", "", listen, cancel},
		{"listen, with a claim", "", listen, claimedCancel},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			c := spawn(t, "library")
			if r.revision != "" {
				c.greet(t, r.revision)
			}
			c.send(t, r.request)
			if r.request == listen {
				if line := c.next(t); !strings.Contains(line, "notifications/subscriptions/acknowledged") {
					t.Fatalf("listen: %s", line)
				}
				c.send(t, r.cancel)
				c.silent(t)
				c.send(t, callLine("8", "grow", "{}", false)) // of which the listen would have told
				if line := c.next(t); idOf(line) != "8" {
					t.Errorf("after the cancellation: %s", line)
				}
				c.silent(t)
				return
			}
			c.hears(t, "waiting", 1)
			c.send(t, r.cancel)
			c.hears(t, "ended", 1)
			c.silent(t)
		})
	}
}

// TestPipeIDs holds that both eras share the ids of what is in flight, and that 1 and "1" are two.
func TestPipeIDs(t *testing.T) {
	c := spawn(t, "library")
	c.greet(t, "2025-11-25")
	c.send(t, callLine("1", "wait", "{}", true))
	c.hears(t, "waiting", 1)
	c.send(t, callLine("1", "echo", `{"text":"a"}`, false))
	wanted{code: -32600, id: "1"}.in(t, c.next(t))
	c.send(t, callLine(`"1"`, "echo", `{"text":"b"}`, false))
	if line := c.next(t); idOf(line) != `"1"` || !strings.Contains(line, `"text":"b"`) {
		t.Errorf("the other id: %s", line)
	}
	c.silent(t)
}

// TestPipeUnasked holds that what nobody asked for goes out only once a handshake is complete.
func TestPipeUnasked(t *testing.T) {
	c := spawn(t, "library")
	c.send(t, callLine("1", "grow", "{}", false))
	if line := c.next(t); idOf(line) != "1" {
		t.Errorf("before a handshake: %s", line)
	}
	c.silent(t)
	c.send(t, initialize("2025-11-25").body)
	c.next(t)
	c.send(t, callLine("2", "grow", "{}", false))
	if line := c.next(t); idOf(line) != "2" {
		t.Errorf("before the handshake is complete: %s", line)
	}
	c.silent(t)
	c.send(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	c.send(t, callLine("3", "grow", "{}", true))
	lines := c.next(t) + c.next(t)
	if !strings.Contains(lines, `"id":3`) || !strings.Contains(lines, "notifications/tools/list_changed") {
		t.Errorf("after the handshake: %s", lines)
	}
}

// TestPipeEnds holds how a server on a pipe ends: with its input once what runs is answered and listens have ended, and
// when nobody reads what it says.
func TestPipeEnds(t *testing.T) {
	t.Run("input", func(t *testing.T) {
		c := spawn(t, "library")
		c.send(t, modernAsk("subscriptions/listen", "", `"notifications":{"toolsListChanged":true},`).body)
		c.next(t)
		c.send(t, callLine("1", "slow", "{}", false))
		if err := c.in.Close(); err != nil {
			t.Fatal(err)
		}
		ended := map[string]bool{}
		for line := range c.lines {
			ended[idOf(line)] = true
		}
		if !ended["1"] || !ended["7"] {
			t.Errorf("answered before the end: %v", ended)
		}
		c.leaves(t, patience)
	})
	t.Run("output", func(t *testing.T) {
		c := spawnDeaf(t, "library")
		if err := c.out.Close(); err != nil {
			t.Fatal(err)
		}
		for range 3 { // input stays open: only the answer that finds nobody can end the process
			if _, err := c.in.Write([]byte(unclaimed + "\n")); err != nil {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		c.leaves(t, patience)
	})
}
