package negotiate

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

func TestHandshake(t *testing.T) {
	all := mcp.Versions()
	for _, tc := range []struct {
		name   string
		served []string
		params string
		want   string // the revision, or the code of the refusal
	}{
		{"asked for", all, `{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"a","version":"1"}}`, "2025-03-26"},
		{"the oldest, under its own name", all, `{"protocolVersion":"2024-10-07"}`, "2024-10-07"},
		{"unknown", all, `{"protocolVersion":"1.0.0"}`, "2025-11-25"},
		{"modern is never picked", all, `{"protocolVersion":"2026-07-28"}`, "2025-11-25"},
		{"not served", []string{v, "2025-06-18", "2025-03-26"}, `{"protocolVersion":"2025-11-25"}`, "2025-06-18"},
		{"without the rest", all, `{"protocolVersion":"2025-06-18"}`, "2025-06-18"},
		{"unknown members", all, `{"protocolVersion":"2025-06-18","extra":[1]}`, "2025-06-18"},
		{"no version", all, `{"capabilities":{}}`, "-32602"},
		{"version no string", all, `{"protocolVersion":20250618}`, "-32602"},
		{"version null", all, `{"protocolVersion":null}`, "-32602"},
		{"capabilities no object", all, `{"protocolVersion":"2025-06-18","capabilities":true}`, "-32602"},
		{"clientInfo no object", all, `{"protocolVersion":"2025-06-18","clientInfo":"a"}`, "-32602"},
		{"clientInfo name no string", all, `{"protocolVersion":"2025-06-18","clientInfo":{"name":1}}`, "-32602"},
		{"modern only", []string{v}, `{"protocolVersion":"2025-06-18"}`, "-32022"},
		{"modern only, modern asked", []string{v}, `{"protocolVersion":"2026-07-28"}`, "-32022"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			codec, refusal := serve(t, tc.served...).Handshake(decode(t, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":`+tc.params+`}`))
			got := ""
			if refusal != nil {
				got = jsonrpc.IntID(int64(refusal.Err.Code)).String()
			} else {
				got = codec.Revision()
			}
			if got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
	if _, refusal := serve(t).Handshake(decode(t, `{"jsonrpc":"2.0","id":1,"method":"initialize"}`)); refusal == nil {
		t.Error("a handshake without params is taken")
	}
}

// TestOpenings holds the first frame of each era, and what is read from its answer.
func TestOpenings(t *testing.T) {
	s := dial(t)
	codec, opening, ok := s.Initialize(era.Identity{})
	if !ok {
		t.Fatal("no legacy opening")
	}
	out := opening.Greet()
	out.ID = jsonrpc.IntID(0)
	frame, err := codec.AppendCall(nil, out)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",` +
		`"capabilities":{"extensions":{"com.example/shelf":{}}},"clientInfo":{"name":"reader","version":"2"}}}`
	if string(frame) != want {
		t.Errorf("got  %s\nwant %s", frame, want)
	}
	if opening.Confirm().Method != "notifications/initialized" {
		t.Errorf("the handshake ends with %s", opening.Confirm().Method)
	}
	for _, tc := range []struct{ name, result, revision, fails string }{
		{"chosen", `{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"s","version":"1"},"instructions":"hi"}`, "2025-06-18", ""},
		{"not ours", `{"protocolVersion":"2023-01-01","capabilities":{}}`, "", ""},
		{"modern", `{"protocolVersion":"2026-07-28","capabilities":{}}`, "", ""},
		{"bad serverInfo", `{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":3}`, "2025-06-18", ""},
		{"no version", `{"capabilities":{}}`, "", "lacks"},
		{"no object", `[]`, "", "cannot be read"},
	} {
		got, err := opening.Read(json.RawMessage(tc.result))
		if tc.fails != "" {
			if err == nil || !strings.Contains(err.Error(), tc.fails) {
				t.Errorf("%s: %v", tc.name, err)
			}
			continue
		}
		if err != nil || got.Revision != tc.revision || string(got.Raw) != tc.result {
			t.Errorf("%s: %+v, %v", tc.name, got, err)
		}
	}

	codec, opening, ok = s.Discover("")
	if !ok || codec.Revision() != v || opening.Confirm() != nil {
		t.Fatalf("modern opening: %v", ok)
	}
	out = opening.Greet()
	out.ID = jsonrpc.StringID("probe")
	if frame, err = codec.AppendCall(nil, out); err != nil {
		t.Fatal(err)
	}
	want = `{"jsonrpc":"2.0","id":"probe","method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"reader","version":"2"},"io.modelcontextprotocol/clientCapabilities":{"extensions":{"com.example/shelf":{}}}}}}`
	if string(frame) != want {
		t.Errorf("got  %s\nwant %s", frame, want)
	}
	if _, _, ok := s.Discover("2025-11-25"); ok {
		t.Error("a legacy revision is discovered")
	}
	if _, _, ok := dial(t, v).Initialize(era.Identity{}); ok {
		t.Error("a modern-only client has a legacy opening")
	}
	if _, _, ok := dial(t, "2025-11-25").Discover(""); ok {
		t.Error("a legacy-only client has a modern opening")
	}
}

func TestInitializeAs(t *testing.T) {
	_, opening, _ := dial(t, "2025-06-18").Initialize(era.Identity{
		Info: json.RawMessage(`{"name":"for ada","version":"1"}`), Capabilities: json.RawMessage(`{"roots":{}}`),
	})
	want := `{"protocolVersion":"2025-06-18","capabilities":{"roots":{}},"clientInfo":{"name":"for ada","version":"1"}}`
	if got := string(opening.Greet().Params); got != want {
		t.Errorf("got %s", got)
	}
}

func TestNew(t *testing.T) {
	for _, tc := range []struct {
		name string
		cfg  era.Config
		want string
	}{
		{"no side", era.Config{}, "no side"},
		{"unknown revision", era.Config{Side: era.ServerSide, Served: []string{"2020-01-01"}}, "2020-01-01"},
		{"bad extension", era.Config{Side: era.ServerSide, Extensions: []mcp.Extension{{Identifier: "x"}}}, "identifier"},
		{"extension takes a core method", era.Config{Side: era.ServerSide, Extensions: []mcp.Extension{
			{Identifier: "com.example/x", Requests: []string{"tools/call"}},
		}}, "tools/call"},
		{"two extensions share a method", era.Config{Side: era.ServerSide, Extensions: []mcp.Extension{
			{Identifier: "com.example/x", Requests: []string{"x/y"}}, {Identifier: "com.example/z", Requests: []string{"x/y"}},
		}}, "com.example/x"},
	} {
		if _, err := New(tc.cfg); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
	s := serve(t, "2025-06-18", v, "2025-06-18", "2025-11-25")
	if got := strings.Join(s.Legacy(), " ") + " / " + strings.Join(s.Modern(), " "); got != "2025-06-18 2025-11-25 / "+v {
		t.Errorf("served: %s", got)
	}
	if _, ok := s.Codec("2024-11-05"); ok {
		t.Error("a revision that is not served has a codec")
	}
}
