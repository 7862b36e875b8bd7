package negotiate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

const v = mcp.Version20260728

// headers play the HTTP headers of one request.
type headers map[string]string

func (h headers) Header(name string) (string, bool) {
	value, ok := h[name]
	return value, ok
}

func at(version string) headers { return headers{era.HeaderVersion: version} }

func both(version, method string) headers {
	return headers{era.HeaderVersion: version, era.HeaderMethod: method}
}

func serve(tb testing.TB, revisions ...string) *Set {
	tb.Helper()
	s, err := New(era.Config{Side: era.ServerSide, Served: revisions, Info: mcp.Implementation{Name: "library", Version: "1"}})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func decode(tb testing.TB, frame string) *jsonrpc.Message {
	tb.Helper()
	m, err := jsonrpc.Decode([]byte(frame), Lift)
	if err != nil {
		tb.Fatalf("decode %s: %v", frame, err)
	}
	return m
}

// request, notice and handshake write messages; claim is the raw value of the claim, "" for none.
func request(method, claim string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q%s}`, method, paramsOf(claim))
}

func notice(method, claim string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":%q%s}`, method, paramsOf(claim))
}

func paramsOf(claim string) string {
	if claim == "" {
		return ""
	}
	return `,"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":` + claim + `}}`
}

func handshake(version string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + version + `","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}`
}

// wanted is a route in short: the kind, then the revision, or row and code of the refusal.
func short(r Route) string {
	switch r.Kind {
	case Modern:
		return "modern " + r.Codec.Revision()
	case Legacy:
		opening := ""
		if r.Opening {
			opening = " opening"
		}
		return "legacy " + r.Codec.Revision() + opening
	case Drop:
		return "drop"
	}
	return fmt.Sprintf("refused %d %d", r.Refusal.Row, r.Refusal.Err.Code)
}

const quoted = `"2026-07-28"`

func TestClassify(t *testing.T) {
	const response = `{"jsonrpc":"2.0","id":1,"result":{}}`
	const fault = `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}`
	for _, tc := range []struct {
		name    string
		frame   string
		h       headers
		session string
		want    string
	}{
		{"response outside a session", response, nil, "", "refused 2 -32600"},
		{"response in a session", response, nil, "2025-06-18", "legacy 2025-06-18"},
		{"error response in a session", fault, at("2025-06-18"), "2025-06-18", "legacy 2025-06-18"},

		{"initialize", handshake("2025-06-18"), nil, "", "legacy 2025-06-18 opening"},
		{"initialize, the header is not judged", handshake("2025-06-18"), at("1999-01-01"), "", "legacy 2025-06-18 opening"},
		{"initialize beside a modern header", handshake("2025-06-18"), at(v), "", "refused 3 -32020"},
		{"initialize beside a modern header not served", handshake("2025-06-18"), at("2027-01-01"), "", "refused 3 -32020"},
		{"initialize that asks for a modern revision", handshake(v), nil, "", "legacy 2025-11-25 opening"},
		{"initialize in a live session", handshake("2025-06-18"), nil, "2025-06-18", "refused 2 -32600"},
		{"initialize with a claim", request("initialize", quoted), at(v), "", "modern " + v},
		{"initialize of the wrong shape", request("initialize", ""), nil, "", "refused 12 -32602"},

		{"claim and header", request("tools/list", quoted), at(v), "", "modern " + v},
		{"claim and header with blanks", request("tools/list", quoted), at(" \t" + v + " "), "", "modern " + v},
		{"claim with escapes", request("tools/list", `"2026\u002d07-28"`), at(v), "", "modern " + v},
		{"claim without header", request("tools/list", quoted), nil, "", "refused 3 -32020"},
		{"claim with an empty header", request("tools/list", quoted), at(""), "", "refused 3 -32020"},
		{"claim beside a legacy header", request("tools/list", quoted), at("2025-11-25"), "", "refused 3 -32020"},
		{"claim in a session, which is not looked at", request("tools/list", quoted), at(v), "2025-06-18", "modern " + v},
		{"future claim and header", request("tools/list", `"2027-01-01"`), at("2027-01-01"), "", "refused 4 -32022"},
		{"legacy claim and header", request("tools/list", `"2025-11-25"`), at("2025-11-25"), "", "refused 4 -32022"},
		{"unknown method and unserved version", request("nothing/here", `"2027-01-01"`), at("2027-01-01"), "", "refused 4 -32022"},
		{"claim that is no string goes on to the codec", request("tools/list", `1`), at(v), "", "modern " + v},
		{"claim that is no string without header", request("tools/list", `1`), nil, "", "refused 3 -32020"},
		{"claim that is no string beside an unserved header", request("tools/list", `1`), at("2025-11-25"), "", "refused 4 -32022"},
		{"null is a claim", request("tools/list", `null`), at(v), "", "modern " + v},

		{"modern header alone", request("tools/list", ""), at(v), "", "modern " + v},
		{"modern header alone, discover", request("server/discover", ""), at(v), "", "modern " + v},
		{"future header alone", request("tools/list", ""), at("2027-01-01"), "", "refused 4 -32022"},
		{"header that only looks later is legacy", request("tools/list", ""), at("DRAFT-2027"), "", "refused 4 -32600"},

		{"bare request", request("tools/list", ""), nil, "", "legacy 2025-03-26"},
		{"bare discover", request("server/discover", ""), nil, "2025-11-25", "legacy 2025-11-25"},
		{"bare request with a legacy header", request("tools/list", ""), at("2025-06-18"), "", "legacy 2025-06-18"},
		{"bare request with an old header", request("tools/list", ""), at("1999-01-01"), "", "refused 4 -32600"},
		{"bare request in a session", request("tools/list", ""), nil, "2025-11-25", "legacy 2025-11-25"},
		{"bare request in a session, header agrees", request("tools/list", ""), at("2025-11-25"), "2025-11-25", "legacy 2025-11-25"},
		{"bare request in a session, header differs", request("tools/list", ""), at("2025-06-18"), "2025-11-25", "refused 4 -32600"},

		{"notification with claim and headers", notice("notifications/cancelled", quoted), both(v, "notifications/cancelled"), "", "modern " + v},
		{"notification with a claim alone", notice("notifications/cancelled", quoted), nil, "", "modern " + v},
		{"notification with a modern header alone", notice("notifications/cancelled", ""), at(v), "", "modern " + v},
		{"notification, header differs", notice("notifications/cancelled", quoted), at("2027-01-01"), "", "refused 3 -32020"},
		{"notification, version not served", notice("notifications/cancelled", `"2027-01-01"`), nil, "", "refused 4 -32022"},
		{"notification, header not served", notice("notifications/cancelled", ""), at("2027-01-01"), "", "refused 4 -32022"},
		{"notification, method differs", notice("notifications/cancelled", quoted), both(v, "notifications/progress"), "", "refused 5 -32020"},
		{"notification, claim no string", notice("notifications/cancelled", `1`), at(v), "", "refused 7 -32602"},
		{"notification, claim no string, no header", notice("notifications/cancelled", `1`), nil, "", "refused 7 -32602"},
		{"bare notification", notice("notifications/initialized", ""), nil, "2025-06-18", "legacy 2025-06-18"},
		{"bare notification without a session", notice("notifications/initialized", ""), nil, "", "legacy 2025-03-26"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := serve(t)
			var session era.Codec
			if tc.session != "" {
				session, _ = s.Codec(tc.session)
			}
			m := decode(t, tc.frame)
			if got := short(s.Classify(m, tc.h, session)); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
			if IsModern(m, tc.h) && strings.HasPrefix(tc.want, "legacy") {
				t.Error("IsModern tells of a message that goes to a session")
			}
		})
	}
}

func TestClassifyOneEraOnly(t *testing.T) {
	modernOnly, legacyOnly := []string{v}, []string{"2025-11-25", "2025-06-18"}
	for _, tc := range []struct {
		name   string
		served []string
		frame  string
		h      headers
		want   string
	}{
		{"initialize", modernOnly, handshake("2025-11-25"), nil, "refused 4 -32022"},
		{"bare request", modernOnly, request("tools/list", ""), nil, "refused 4 -32022"},
		{"bare request with a legacy header", modernOnly, request("tools/list", ""), at("2025-11-25"), "refused 4 -32022"},
		{"bare notification", modernOnly, notice("notifications/initialized", ""), nil, "drop"},
		{"modern request", modernOnly, request("tools/list", quoted), at(v), "modern " + v},
		{"response", modernOnly, `{"jsonrpc":"2.0","id":1,"result":{}}`, nil, "refused 2 -32600"},

		{"modern request", legacyOnly, request("tools/list", quoted), at(v), "refused 4 -32022"},
		{"discover", legacyOnly, request("server/discover", quoted), at(v), "refused 4 -32022"},
		{"modern header alone", legacyOnly, request("tools/list", ""), at(v), "refused 4 -32022"},
		{"modern notification", legacyOnly, notice("notifications/cancelled", quoted), nil, "refused 4 -32022"},
		{"notification, claim no string", legacyOnly, notice("notifications/cancelled", `1`), nil, "refused 4 -32022"},
		{"initialize", legacyOnly, handshake("2025-03-26"), nil, "legacy 2025-11-25 opening"},
		{"bare request without header", legacyOnly, request("tools/list", ""), nil, "refused 4 -32600"},
		{"bare request with header", legacyOnly, request("tools/list", ""), at("2025-06-18"), "legacy 2025-06-18"},
	} {
		t.Run(strings.Join(tc.served, "+")+"/"+tc.name, func(t *testing.T) {
			if got := short(serve(t, tc.served...).Classify(decode(t, tc.frame), tc.h, nil)); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

// TestUnservedData holds what -32022 lists: modern revisions only where any are served, and what was asked for only when
// something was. Its text names all revisions.
func TestUnservedData(t *testing.T) {
	for _, tc := range []struct {
		name   string
		served []string
		frame  string
		h      headers
		want   string
	}{
		{"both eras", nil, request("tools/list", `"2027-01-01"`), at("2027-01-01"), `{"supported":["2026-07-28"],"requested":"2027-01-01"}`},
		{"modern only, initialize", []string{v}, handshake("2025-11-25"), nil, `{"supported":["2026-07-28"],"requested":"2025-11-25"}`},
		{"modern only, nothing named", []string{v}, request("tools/list", ""), nil, `{"supported":["2026-07-28"]}`},
		{"modern only, header", []string{v}, request("tools/list", ""), at("2025-06-18"), `{"supported":["2026-07-28"],"requested":"2025-06-18"}`},
		{"legacy only", []string{"2025-11-25"}, request("server/discover", quoted), at(v), `{"supported":["2025-11-25"],"requested":"2026-07-28"}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := serve(t, tc.served...)
			route := s.Classify(decode(t, tc.frame), tc.h, nil)
			if got := string(route.Refusal.Err.Data); got != tc.want {
				t.Errorf("data %s, want %s", got, tc.want)
			}
			for _, revision := range slices.Concat(s.Modern(), s.Legacy()) {
				if !strings.Contains(route.Refusal.Err.Message, revision) {
					t.Errorf("the text does not name %s: %s", revision, route.Refusal.Err.Message)
				}
			}
		})
	}
}

func TestClassifyBatch(t *testing.T) {
	ping := request("ping", "")
	long := "[" + strings.TrimSuffix(strings.Repeat(ping+",", 101), ",") + "]"
	for _, tc := range []struct {
		name    string
		frame   string
		h       headers // nil is a pipe
		session string
		want    string
	}{
		{"empty", `[]`, headers{}, "", "refused 2 -32600"},
		{"no JSON", `[1,`, headers{}, "", "refused 1 -32700"},
		{"claim", `[` + request("tools/list", quoted) + `]`, headers{}, "", "refused 2 -32600"},
		{"claim in what is no message", `[{"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":1}}}]`, headers{}, "", "refused 2 -32600"},
		{"modern header", `[` + ping + `]`, at(v), "", "refused 2 -32600"},
		{"initialize", `[` + ping + `,` + handshake("2025-03-26") + `]`, headers{}, "", "refused 2 -32600"},
		{"no message", `[` + ping + `,{}]`, headers{}, "", "refused 2 -32600"},
		{"nested array", `[[` + ping + `]]`, headers{}, "", "refused 2 -32600"},
		{"too long", long, headers{}, "", "refused 2 -32600"},
		{"without session and header", `[` + ping + `]`, headers{}, "", "legacy 2025-03-26"},
		{"header 2024-11-05", `[` + ping + `]`, at("2024-11-05"), "", "legacy 2024-11-05"},
		{"header 2025-06-18", `[` + ping + `]`, at("2025-06-18"), "", "refused 2 -32600"},
		{"header unknown", `[` + ping + `]`, at("1999-01-01"), "", "refused 4 -32600"},
		{"session 2025-03-26", `[` + ping + `]`, headers{}, "2025-03-26", "legacy 2025-03-26"},
		{"session 2025-06-18", `[` + ping + `]`, headers{}, "2025-06-18", "refused 2 -32600"},
		{"session, header differs", `[` + ping + `]`, at("2024-11-05"), "2025-03-26", "refused 4 -32600"},
		{"responses in a session", `[{"jsonrpc":"2.0","id":1,"result":{}}]`, headers{}, "2025-03-26", "legacy 2025-03-26"},
		{"pipe before a handshake", `[` + ping + `]`, nil, "", "refused 2 -32600"},
		{"pipe after 2024-11-05", `[` + ping + `]`, nil, "2024-11-05", "legacy 2024-11-05"},
		{"pipe after 2024-10-07", `[` + ping + `]`, nil, "2024-10-07", "legacy 2024-10-07"},
		{"pipe after 2025-11-25", `[` + ping + `]`, nil, "2025-11-25", "refused 2 -32600"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := serve(t)
			var session era.Codec
			if tc.session != "" {
				session, _ = s.Codec(tc.session)
			}
			var h era.Headers
			if tc.h != nil {
				h = tc.h
			}
			messages, route := s.ClassifyBatch([]byte(tc.frame), h, session, 0)
			if got := short(route); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
			if (route.Kind == Legacy) != (len(messages) > 0) {
				t.Errorf("%d messages with route %s", len(messages), short(route))
			}
		})
	}
	if _, route := serve(t, v).ClassifyBatch([]byte(`[`+ping+`]`), headers{}, nil, 0); short(route) != "refused 2 -32600" {
		t.Errorf("modern only: %s", short(route))
	}
	if _, route := serve(t).ClassifyBatch([]byte(long), headers{}, nil, 200); short(route) != "legacy 2025-03-26" {
		t.Errorf("with a higher limit: %s", short(route))
	}
}

func TestClassifyFrame(t *testing.T) {
	modernOnly, legacyOnly := []string{v}, []string{"2025-11-25"}
	for _, tc := range []struct {
		name    string
		served  []string
		frame   string
		settled string
		want    string
	}{
		{"response before a handshake", nil, `{"jsonrpc":"2.0","id":1,"result":{}}`, "", "drop"},
		{"response after it", nil, `{"jsonrpc":"2.0","id":1,"result":{}}`, "2025-06-18", "legacy 2025-06-18"},
		{"error without id after it", nil, `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}`, "2025-06-18", "legacy 2025-06-18"},
		{"claim", nil, request("tools/list", quoted), "", "modern " + v},
		{"claim after a handshake", nil, request("tools/list", quoted), "2025-06-18", "modern " + v},
		{"initialize with a claim", nil, request("initialize", quoted), "", "modern " + v},
		{"claim not served", nil, request("tools/list", `"2025-11-25"`), "", "refused 4 -32022"},
		{"claim no string goes on to the codec", nil, request("tools/list", `{}`), "", "modern " + v},
		{"notification with a claim", nil, notice("notifications/progress", quoted), "", "modern " + v},
		{"notification with a claim not served", nil, notice("notifications/progress", `"2027-01-01"`), "2025-06-18", "drop"},
		{"notification with a claim no string", nil, notice("notifications/progress", `1`), "2025-06-18", "drop"},
		{"initialize", nil, handshake("2025-06-18"), "", "legacy 2025-06-18 opening"},
		{"second initialize", nil, handshake("2025-06-18"), "2025-06-18", "refused 2 -32600"},
		{"cancelled before a handshake", nil, notice("notifications/cancelled", ""), "", "modern " + v},
		{"cancelled after it", nil, notice("notifications/cancelled", ""), "2025-06-18", "legacy 2025-06-18"},
		{"cancelled with a claim after it", nil, notice("notifications/cancelled", quoted), "2025-06-18", "modern " + v},
		{"cancelled with a claim not served", nil, notice("notifications/cancelled", `"2027-01-01"`), "", "modern " + v},
		{"bare request after a handshake", nil, request("tools/list", ""), "2025-06-18", "legacy 2025-06-18"},
		{"bare request before it", nil, request("tools/list", ""), "", "refused 2 -32600"},
		{"bare discover before it", nil, request("server/discover", ""), "", "refused 2 -32600"},
		{"ping before it", nil, request("ping", ""), "", "legacy 2025-11-25"},
		{"bare notification before it", nil, notice("notifications/initialized", ""), "", "drop"},
		{"bare notification after it", nil, notice("notifications/initialized", ""), "2025-06-18", "legacy 2025-06-18"},

		{"modern only, initialize", modernOnly, handshake("2025-06-18"), "", "refused 4 -32022"},
		{"modern only, bare request", modernOnly, request("tools/list", ""), "", "refused 4 -32022"},
		{"modern only, ping", modernOnly, request("ping", ""), "", "refused 4 -32022"},
		{"modern only, bare notification", modernOnly, notice("notifications/initialized", ""), "", "drop"},
		{"modern only, cancelled", modernOnly, notice("notifications/cancelled", ""), "", "modern " + v},
		{"modern only, claim", modernOnly, request("tools/list", quoted), "", "modern " + v},

		{"legacy only, claim", legacyOnly, request("server/discover", quoted), "", "refused 4 -32022"},
		{"legacy only, claim no string", legacyOnly, request("tools/list", `1`), "", "refused 4 -32022"},
		{"legacy only, bare request", legacyOnly, request("tools/list", ""), "", "refused 2 -32600"},
		{"legacy only, cancelled before a handshake", legacyOnly, notice("notifications/cancelled", ""), "", "drop"},
		{"legacy only, cancelled with a claim", legacyOnly, notice("notifications/cancelled", quoted), "2025-11-25", "legacy 2025-11-25"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := serve(t, tc.served...)
			var settled era.Codec
			if tc.settled != "" {
				settled, _ = s.Codec(tc.settled)
			}
			if got := short(s.ClassifyFrame(decode(t, tc.frame), settled)); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

// TestBeforeHandshakeNamesBothWaysIn holds that whoever forgot to open a connection is told how.
func TestBeforeHandshakeNamesBothWaysIn(t *testing.T) {
	route := serve(t).ClassifyFrame(decode(t, request("tools/list", "")), nil)
	for _, want := range []string{"initialize", mcp.MetaProtocolVersion, v, "2025-11-25"} {
		if !strings.Contains(route.Refusal.Err.Message, want) {
			t.Errorf("the text does not name %s: %s", want, route.Refusal.Err.Message)
		}
	}
}

func TestClassifyAllocations(t *testing.T) {
	s := serve(t)
	m := decode(t, request("tools/call", quoted))
	h := both(v, "tools/call")
	settled, _ := s.Codec("2025-11-25")
	bare := decode(t, request("tools/call", ""))
	for name, run := range map[string]func(){
		"HTTP":              func() { s.Classify(m, h, nil) },
		"pipe":              func() { s.ClassifyFrame(m, nil) },
		"pipe, legacy":      func() { s.ClassifyFrame(bare, settled) },
		"session":           func() { s.Classify(bare, nil, settled) },
		"session, IsModern": func() { IsModern(bare, nil) },
	} {
		if got := testing.AllocsPerRun(200, run); got > 0 {
			t.Errorf("%s: %v allocations", name, got)
		}
	}
}
