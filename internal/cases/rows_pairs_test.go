package cases

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/server"
)

// draft is a call from which a request is written; a fault changes it. Its zero value with a tool's name is a good one.
type draft struct {
	method   string   // of HTTP
	head     []string // in place of what is derived, or beside it
	notJSON  bool
	jsonrpc  string
	bare     bool   // legacy: no claim, no headers that repeat it
	claim    string // the version
	version  string // the header; "-" for none
	request  string // the method of JSON-RPC
	repeated string // Mcp-Method; "" for the same, "-" for none
	meta     string // the capabilities; "" for none
	tool     string
	named    string // Mcp-Name; "" for the same
	city     string // Mcp-Param-City
	args     string
	state    string
	padding  int
}

func goodDraft() draft {
	return draft{
		jsonrpc: "2.0", claim: "2026-07-28", request: "tools/call", meta: `{"roots":{},"extensions":{"com.example/shelf":{}}}`,
		tool: "forecast", city: "Oslo", args: `{"city":"Oslo"}`,
	}
}

// frame writes the JSON out.
func (d draft) frame() string {
	params := fmt.Sprintf(`"name":%q,"shelf":%q,"arguments":%s`, d.tool, d.tool, d.args)
	if d.state != "" {
		params += fmt.Sprintf(`,"requestState":%q`, d.state)
	}
	if d.padding > 0 {
		params += fmt.Sprintf(`,"padding":%q`, strings.Repeat("x", d.padding))
	}
	if !d.bare {
		params += fmt.Sprintf(`,"_meta":{"io.modelcontextprotocol/protocolVersion":%q`, d.claim)
		if d.meta != "" {
			params += `,"io.modelcontextprotocol/clientCapabilities":` + d.meta
		}
		params += "}"
	}
	text := fmt.Sprintf(`{"jsonrpc":%q,"id":7,"method":%q,"params":{%s}}`, d.jsonrpc, d.request, params)
	if d.notJSON {
		return text[:len(text)-1] + ",}"
	}
	return text
}

// ask writes the request out.
func (d draft) ask() ask {
	a := ask{method: d.method, body: d.frame()}
	if !d.bare {
		header := func(name, value, own string) {
			if own == "" {
				own = value
			}
			if own != "-" {
				a = a.set(name + ": " + own)
			}
		}
		header("MCP-Protocol-Version", d.claim, d.version)
		header("Mcp-Method", d.request, d.repeated)
		header("Mcp-Name", d.tool, d.named)
		header("Mcp-Param-City", d.city, "")
	}
	return a.set(d.head...)
}

// fault is one row of the order in which a request is judged, with a way to break it.
type fault struct {
	row   string
	spoil func(d *draft)
	want  wanted
}

func spoilHead(line string) func(*draft) {
	return func(d *draft) { d.head = append(d.head, line) }
}

// entryFaults are what is judged before the era is known, in the order of the contract.
var entryFaults = []fault{
	{"HTTP method", func(d *draft) { d.method = "PUT" }, wanted{status: 405, allow: "POST, GET, DELETE"}},
	{"Host", spoilHead("Host: evil.example"), wanted{status: 403, text: "AllowedHosts"}},
	{"Origin", spoilHead("Origin: https://evil.example"), wanted{status: 403, text: "AllowedOrigins"}},
	{"the user's own check", spoilHead("X-Denied: 1"), wanted{status: 403, text: "X-Denied"}},
	{"Content-Type", spoilHead("Content-Type: text/plain"), wanted{status: 415, code: -32600, text: "Content-Type"}},
	{"Content-Encoding", spoilHead("Content-Encoding: gzip"), wanted{status: 415, code: -32600, text: "Content-Encoding"}},
	{"Accept", spoilHead("Accept: image/png"), wanted{status: 406, text: "Accept"}},
	{"size", func(d *draft) { d.padding = bodyLimit }, wanted{status: 413, code: -32600, text: "MaxBodyBytes"}},
	{"JSON", func(d *draft) { d.notJSON = true }, wanted{status: 400, code: -32700}},
	{"JSON-RPC", func(d *draft) { d.jsonrpc = "1.0" }, wanted{status: 400, code: -32600, id: "7", text: "2.0"}},
}

// claimFaults are those of a modern request that a pipe has too.
var (
	unservedFault   = fault{"version", func(d *draft) { d.claim = "2027-01-01" }, wanted{status: 400, code: -32022, id: "7", data: unservedData("2027-01-01")}}
	methodFault     = fault{"method", func(d *draft) { d.request = "tools/none" }, wanted{status: 404, code: -32601, id: "7"}}
	metaFault       = fault{"_meta", func(d *draft) { d.meta = "" }, wanted{status: 400, code: -32602, id: "7", data: envelopeData("clientCapabilities", "missing")}}
	extensionFault  = fault{"extension", func(d *draft) { d.request, d.meta = "shelf/sort", "{}" }, wanted{status: 400, code: -32021, id: "7", data: `{"requiredCapabilities":{"extensions":{"com.example/shelf":{}}}}`}}
	targetFault     = fault{"tool", func(d *draft) { d.tool = "none" }, wanted{status: 200, code: -32602, id: "7", text: "unknown tool"}}
	stateFault      = fault{"state", func(d *draft) { d.state = "forged" }, wanted{status: 200, code: -32602, id: "7", data: `{"reason":"invalid_request_state"}`}}
	argumentFault   = fault{"arguments", func(d *draft) { d.args = `{"city":"Oslo","unit":1}` }, wanted{status: 200, text: `"isError":true`}}
	capabilityFault = fault{"capability", func(d *draft) { d.meta = `{}` }, wanted{status: 400, code: -32021, id: "7", data: `{"requiredCapabilities":{"roots":{}}}`}}
)

// pairs calls each with every pair of faults of which the first is the earlier one, and with every fault alone. Faults that
// exclude one another are left out: those after the method want another method than an unknown one or an extension's has.
func pairs(faults []fault, each func(first, second fault)) int {
	n := 0
	for i, first := range faults {
		each(first, first)
		for _, second := range faults[i+1:] {
			if first.row == "_meta" && (second.row == "extension" || second.row == "capability") {
				continue // both say what the capabilities are
			}
			if second.row == "extension" && first.row == "method" {
				continue // both say what the method is
			}
			each(first, second)
			n++
		}
	}
	return n
}

// spoiled is a draft with both faults; the later one is made first, so that what the earlier says stands.
func spoiled(d draft, first, second fault) draft {
	second.spoil(&d)
	first.spoil(&d)
	return d
}

func pairName(first, second fault) string { return first.row + " before " + second.row }

func guardedLibrary(t *testing.T) *world {
	return library(t, server.Options{HTTP: server.HTTPOptions{SecurityValidator: func(r *http.Request) error {
		if r.Header.Get("X-Denied") != "" {
			return errors.New("the header X-Denied is not wanted here")
		}
		return nil
	}}})
}

// TestPairsOfModernFaults breaks every two rows of the order of refusals in one request: the earlier one is answered. What a
// handler needs of its client shows only when it asks, so that this row stands behind state and arguments here.
func TestPairsOfModernFaults(t *testing.T) {
	w := guardedLibrary(t)
	faults := append(append([]fault(nil), entryFaults...),
		fault{"header", func(d *draft) { d.version = "2025-11-25" }, wanted{status: 400, code: -32020, id: "7", data: "*", text: `"header":"2025-11-25"`}},
		unservedFault,
		fault{"Mcp-Method", func(d *draft) { d.repeated = "-" }, wanted{status: 400, code: -32020, id: "7", data: "*", text: "Mcp-Method"}},
		methodFault, metaFault, extensionFault,
		fault{"Mcp-Name", func(d *draft) { d.named = "other" }, wanted{status: 400, code: -32020, id: "7", data: "*", text: "Mcp-Name"}},
		targetFault,
		fault{"Mcp-Param", func(d *draft) { d.city = "Bergen" }, wanted{status: 400, code: -32020, id: "7", text: "Mcp-Param-City"}},
		stateFault, argumentFault, capabilityFault,
	)
	wanted{status: 200, text: `"input_required"`}.of(t, w.do(t, goodDraft().ask()))
	n := pairs(faults, func(first, second fault) {
		t.Run(pairName(first, second), func(t *testing.T) {
			first.want.of(t, w.do(t, spoiled(goodDraft(), first, second).ask()))
		})
	})
	if n < 200 {
		t.Errorf("only %d pairs", n)
	}
}

// TestPairsOfLegacyFaults does the same in a legacy session.
func TestPairsOfLegacyFaults(t *testing.T) {
	w := guardedLibrary(t)
	session := sessionHeader + ": " + w.sessionOf(t, "2025-11-25")
	good := goodDraft()
	good.bare, good.head = true, []string{session}
	faults := append(append([]fault(nil), entryFaults...),
		fault{"session", spoilHead(sessionHeader + ": nope"), wanted{status: 404, code: -32600, text: "no such session"}},
		fault{"header", spoilHead("MCP-Protocol-Version: 2025-06-18"), wanted{status: 400, code: -32600, id: "7", text: "this session speaks"}},
		fault{"method", func(d *draft) { d.request = "tools/none" }, wanted{status: 200, code: -32601, id: "7"}},
		targetFault, argumentFault,
	)
	wanted{status: 200, text: `"isError":true`}.of(t, w.do(t, good.ask())) // it has no capability to be asked with
	pairs(faults, func(first, second fault) {
		t.Run(pairName(first, second), func(t *testing.T) {
			first.want.of(t, w.do(t, spoiled(good, first, second).ask()))
		})
	})
	without := goodDraft()
	without.bare = true
	missing := wanted{status: 400, code: -32600, id: "7", text: sessionHeader}
	for _, second := range faults[len(entryFaults)+1:] {
		t.Run("no session before "+second.row, func(t *testing.T) {
			missing.of(t, w.do(t, spoiled(without, fault{spoil: func(*draft) {}}, second).ask()))
		})
	}
	for _, first := range entryFaults {
		t.Run(first.row+" before no session", func(t *testing.T) { first.want.of(t, w.do(t, spoiled(without, first, first).ask())) })
	}
}
