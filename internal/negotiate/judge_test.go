package negotiate

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

func dial(tb testing.TB, revisions ...string) *Set {
	tb.Helper()
	s, err := New(era.Config{
		Side: era.ClientSide, Served: revisions, Info: mcp.Implementation{Name: "reader", Version: "2"},
		Extensions: []mcp.Extension{{Identifier: "com.example/shelf"}},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func fault(code int64, data string) *jsonrpc.Error {
	e := &jsonrpc.Error{Code: code, Message: "no"}
	if data != "" {
		e.Data = json.RawMessage(data)
	}
	return e
}

func result(supported string) json.RawMessage {
	return json.RawMessage(`{"supportedVersions":` + supported + `,"capabilities":{"tools":{}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}`)
}

var findings = map[Finding]string{
	FoundModern: "modern", FoundLegacy: "legacy", ProbeAgain: "again", Undecided: "undecided", Hopeless: "hopeless",
}

func TestJudge(t *testing.T) {
	broken := errors.New("no route to host")
	for _, tc := range []struct {
		name        string
		probe       Probe // of a pipe
		pipe, http  string
		strict      string // on either, by a client without a legacy revision; "" is hopeless
		modernProof bool
	}{
		{"overlap", Probe{Result: result(`["2026-07-28"]`)}, "modern", "modern", "modern", true},
		{"overlap beside others", Probe{Result: result(`["2027-01-01","2026-07-28","2025-11-25"]`)}, "modern", "modern", "modern", true},
		{"no overlap but a legacy revision", Probe{Result: result(`["2027-01-01","2025-06-18"]`)}, "legacy", "legacy", "", false},
		{"no overlap at all", Probe{Result: result(`["2027-01-01"]`)}, "hopeless", "hopeless", "", true},
		{"empty list", Probe{Result: result(`[]`)}, "hopeless", "hopeless", "", true},
		{"empty result", Probe{Result: json.RawMessage(`{}`)}, "legacy", "legacy", "", false},
		{"result of another shape", Probe{Result: json.RawMessage(`{"supportedVersions":"2026-07-28","capabilities":{}}`)}, "legacy", "legacy", "", false},
		{"no capabilities", Probe{Result: json.RawMessage(`{"supportedVersions":["2026-07-28"]}`)}, "legacy", "legacy", "", false},
		{"result that is no object", Probe{Result: json.RawMessage(`[]`)}, "legacy", "legacy", "", false},

		{"-32022 with ours", Probe{Error: fault(-32022, `{"supported":["2026-07-28"],"requested":"2027-01-01"}`)}, "again", "again", "again", true},
		{"-32022 with ours again", Probe{Again: true, Error: fault(-32022, `{"supported":["2026-07-28"]}`)}, "hopeless", "hopeless", "", true},
		{"-32022 with a legacy one of ours", Probe{Error: fault(-32022, `{"supported":["2027-01-01","2025-11-25"]}`)}, "legacy", "legacy", "", false},
		{"-32022 with ours and a legacy one", Probe{Error: fault(-32022, `{"supported":["2025-11-25","2026-07-28"]}`)}, "again", "again", "again", true},
		{"-32022 with nothing in common", Probe{Error: fault(-32022, `{"supported":["2027-01-01"]}`)}, "hopeless", "hopeless", "", true},
		{"-32022 without data", Probe{Error: fault(-32022, ``)}, "hopeless", "hopeless", "", true},
		{"-32022 with an empty list", Probe{Error: fault(-32022, `{"supported":[]}`)}, "hopeless", "hopeless", "", true},
		{"-32022 with a list of another shape", Probe{Error: fault(-32022, `{"supported":"2025-11-25"}`)}, "hopeless", "hopeless", "", true},
		{"-32020", Probe{Error: fault(-32020, ``)}, "hopeless", "hopeless", "", true},
		{"-32021", Probe{Error: fault(-32021, `{"requiredCapabilities":{"roots":{}}}`)}, "hopeless", "hopeless", "", true},
		{"-32601", Probe{Error: fault(-32601, ``)}, "legacy", "legacy", "", false},
		{"-32602", Probe{Error: fault(-32602, ``)}, "legacy", "legacy", "", false},
		{"-32600", Probe{Error: fault(-32600, ``)}, "legacy", "legacy", "", false},
		{"-32000", Probe{Error: fault(-32000, ``)}, "legacy", "legacy", "", false},
		{"-32001", Probe{Error: fault(-32001, ``)}, "legacy", "legacy", "", false},
		{"a code of its own", Probe{Error: fault(7, ``)}, "legacy", "legacy", "", false},

		{"silence on a pipe", Probe{Silent: true}, "legacy", "undecided", "", false},
		{"closed", Probe{Closed: true}, "legacy", "undecided", "", false},
		{"could not be sent", Probe{Fault: broken}, "undecided", "undecided", "undecided", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			over := tc.probe
			over.HTTP = true
			strict := tc.strict
			if strict == "" {
				strict = "hopeless"
			}
			check(t, "pipe", dial(t).Judge(tc.probe), tc.pipe, tc.modernProof)
			check(t, "HTTP", dial(t).Judge(over), tc.http, tc.modernProof)
			check(t, "modern only", dial(t, v).Judge(tc.probe), strict, tc.modernProof || strings.HasPrefix(tc.name, "-32022") || strings.HasPrefix(tc.name, "no overlap"))
		})
	}
}

func check(t *testing.T, where string, got Verdict, want string, modernProof bool) {
	t.Helper()
	if findings[got.Finding] != want {
		t.Errorf("%s: %s, want %s (%v)", where, findings[got.Finding], want, got.Err)
	}
	if got.IsModern != modernProof {
		t.Errorf("%s: IsModern is %v", where, got.IsModern)
	}
	if (got.Err != nil) != (got.Finding == Undecided || got.Finding == Hopeless) {
		t.Errorf("%s: finding %s with error %v", where, want, got.Err)
	}
	if got.Finding == FoundModern && (got.Revision != v || got.Greeting.Info.Name != "s") {
		t.Errorf("%s: revision %q of %q", where, got.Revision, got.Greeting.Info.Name)
	}
	if got.Finding == ProbeAgain && got.Revision != v {
		t.Errorf("%s: probe again with %q", where, got.Revision)
	}
}

func TestJudgeStatus(t *testing.T) {
	for _, tc := range []struct {
		name   string
		status int
		err    *jsonrpc.Error
		want   string
	}{
		{"401", 401, nil, "undecided"},
		{"401 with a modern error", 401, fault(-32022, ``), "undecided"},
		{"403", 403, nil, "undecided"},
		{"429", 429, nil, "undecided"},
		{"500", 500, nil, "undecided"},
		{"502 with an error", 502, fault(-32601, ``), "undecided"},
		{"400 with nothing to read", 400, nil, "legacy"},
		{"404", 404, nil, "legacy"},
		{"405", 405, nil, "legacy"},
		{"406", 406, nil, "legacy"},
		{"415", 415, nil, "legacy"},
		{"422", 422, nil, "legacy"},
		{"400 -32000", 400, fault(-32000, ``), "legacy"},
		{"404 -32601", 404, fault(-32601, ``), "legacy"},
		{"400 -32020", 400, fault(-32020, ``), "hopeless"},
		{"404 -32021", 404, fault(-32021, ``), "hopeless"},
		{"400 -32022", 400, fault(-32022, `{"supported":["2026-07-28"]}`), "again"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := dial(t).Judge(Probe{HTTP: true, Status: tc.status, Error: tc.err})
			if findings[got.Finding] != tc.want {
				t.Errorf("got %s, want %s", findings[got.Finding], tc.want)
			}
			if _, keep := got.Store(time.Now()); keep != (tc.want == "legacy") {
				t.Errorf("kept: %v", keep)
			}
		})
	}
}

func TestJudgeTells(t *testing.T) {
	broken := errors.New("no route to host")
	if err := dial(t).Judge(Probe{Fault: broken}).Err; !errors.Is(err, broken) {
		t.Errorf("the cause is lost: %v", err)
	}
	if !dial(t).Judge(Probe{Closed: true}).Restart {
		t.Error("a process that has ended is not started again")
	}
	if dial(t, v).Judge(Probe{Closed: true}).Restart {
		t.Error("a process is started again for a client that cannot go on")
	}
	err := dial(t).Judge(Probe{Error: fault(-32022, `{"supported":["2027-01-01"]}`)}).Err
	for _, want := range []string{"2027-01-01", "2026-07-28", "2025-11-25"} {
		if !strings.Contains(err.Message, want) {
			t.Errorf("the text does not name %s: %s", want, err.Message)
		}
	}
	if err := dial(t).Judge(Probe{Error: fault(-32022, `{"supported":"x"}`)}).Err; !strings.Contains(err.Message, `{"supported":"x"}`) {
		t.Errorf("the text does not show what came: %s", err.Message)
	}
}

func TestStored(t *testing.T) {
	now := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	s := dial(t)
	for name, probe := range map[string]Probe{
		"modern": {Result: result(`["2026-07-28"]`)},
		"legacy": {Error: fault(-32601, ``)},
	} {
		verdict := s.Judge(probe)
		kept, ok := verdict.Store(now)
		if !ok {
			t.Fatalf("%s: nothing to keep", name)
		}
		text, err := json.Marshal(kept)
		if err != nil {
			t.Fatal(err)
		}
		var back Stored
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatal(err)
		}
		got, err := s.Resume(back)
		if err != nil || got.Finding != verdict.Finding || got.Revision != verdict.Revision {
			t.Errorf("%s: resumed as %+v, %v", name, got, err)
		}
		if !back.Fresh(now.Add(time.Hour), 2*time.Hour) || back.Fresh(now.Add(2*time.Hour), 2*time.Hour) || back.Fresh(now.Add(-time.Second), time.Hour) {
			t.Errorf("%s: fresh at the wrong times", name)
		}
	}
	for name, tc := range map[string]struct {
		set    *Set
		stored Stored
		code   mcp.Code
	}{
		"unknown era":             {s, Stored{Era: "ancient"}, mcp.CodeNegotiationFailed},
		"legacy with discover":    {s, Stored{Era: EraLegacy, Discover: result(`["2026-07-28"]`)}, mcp.CodeNegotiationFailed},
		"modern without discover": {s, Stored{Era: EraModern}, mcp.CodeNegotiationFailed},
		"modern, null":            {s, Stored{Era: EraModern, Discover: json.RawMessage("null")}, mcp.CodeNegotiationFailed},
		"modern, nothing shared":  {s, Stored{Era: EraModern, Discover: result(`["2027-01-01"]`)}, mcp.CodeUnsupportedVersion},
		"legacy not allowed":      {dial(t, v), Stored{Era: EraLegacy}, mcp.CodeNegotiationFailed},
		"modern not spoken":       {dial(t, "2025-11-25"), Stored{Era: EraModern, Discover: result(`["2026-07-28"]`)}, mcp.CodeUnsupportedVersion},
	} {
		if _, err := tc.set.Resume(tc.stored); mcp.CodeOf(err) != tc.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := s.Resume(Stored{Era: EraLegacy, Discover: json.RawMessage("null")}); err != nil {
		t.Errorf("null counts as a discover: %v", err)
	}
}
