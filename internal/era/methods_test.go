package era_test

import (
	"slices"
	"testing"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/internal/negotiate"
	"github.com/rialto-mcp/rialto/mcp"
)

// fact says where a method exists, as the specification has it.
type fact struct {
	method    string
	request   bool
	toServer  bool
	toClient  bool
	since     string // first legacy revision; "" for none
	modern    direction
	extension bool
}

// direction is how a method may be sent on the modern era.
type direction uint8

const (
	no       direction = iota
	up                 // to the server
	down               // to the client
	both               // either way
	v2024    = "2024-11-05"
	v202506  = "2025-06-18"
	v202511  = "2025-11-25"
	neverOld = ""
)

// methodFacts is the specification's list of methods, by revision and direction.
var methodFacts = []fact{
	{method: "initialize", request: true, toServer: true, since: v2024, modern: no},
	{method: "ping", request: true, toServer: true, toClient: true, since: v2024, modern: no},
	{method: "completion/complete", request: true, toServer: true, since: v2024, modern: up},
	{method: "logging/setLevel", request: true, toServer: true, since: v2024, modern: no},
	{method: "prompts/get", request: true, toServer: true, since: v2024, modern: up},
	{method: "prompts/list", request: true, toServer: true, since: v2024, modern: up},
	{method: "resources/list", request: true, toServer: true, since: v2024, modern: up},
	{method: "resources/templates/list", request: true, toServer: true, since: v2024, modern: up},
	{method: "resources/read", request: true, toServer: true, since: v2024, modern: up},
	{method: "resources/subscribe", request: true, toServer: true, since: v2024, modern: no},
	{method: "resources/unsubscribe", request: true, toServer: true, since: v2024, modern: no},
	{method: "tools/call", request: true, toServer: true, since: v2024, modern: up},
	{method: "tools/list", request: true, toServer: true, since: v2024, modern: up},
	{method: "tasks/get", request: true, toServer: true, toClient: true, since: v202511, modern: no},
	{method: "tasks/result", request: true, toServer: true, toClient: true, since: v202511, modern: no},
	{method: "tasks/list", request: true, toServer: true, toClient: true, since: v202511, modern: no},
	{method: "tasks/cancel", request: true, toServer: true, toClient: true, since: v202511, modern: no},
	{method: "sampling/createMessage", request: true, toClient: true, since: v2024, modern: no},
	{method: "elicitation/create", request: true, toClient: true, since: v202506, modern: no},
	{method: "roots/list", request: true, toClient: true, since: v2024, modern: no},
	{method: "server/discover", request: true, toServer: true, since: neverOld, modern: up},
	{method: "subscriptions/listen", request: true, toServer: true, since: neverOld, modern: up},

	{method: "notifications/cancelled", toServer: true, toClient: true, since: v2024, modern: both},
	{method: "notifications/progress", toServer: true, toClient: true, since: v2024, modern: down},
	{method: "notifications/initialized", toServer: true, since: v2024, modern: no},
	{method: "notifications/roots/list_changed", toServer: true, since: v2024, modern: no},
	{method: "notifications/tasks/status", toServer: true, toClient: true, since: v202511, modern: no},
	{method: "notifications/message", toClient: true, since: v2024, modern: down},
	{method: "notifications/resources/updated", toClient: true, since: v2024, modern: down},
	{method: "notifications/resources/list_changed", toClient: true, since: v2024, modern: down},
	{method: "notifications/tools/list_changed", toClient: true, since: v2024, modern: down},
	{method: "notifications/prompts/list_changed", toClient: true, since: v2024, modern: down},
	{method: "notifications/elicitation/complete", toClient: true, since: v202511, modern: no},
	{method: "notifications/subscriptions/acknowledged", toClient: true, since: neverOld, modern: down},
}

// vendorFacts are methods outside the specification that both test peers know: one of an extension and one of nobody.
var vendorFacts = []fact{
	{method: "example/echo", request: true, toServer: true, since: v2024, modern: up, extension: true},
	{method: "shelf/sort", request: true, toServer: true, since: v2024, modern: up, extension: true},
	{method: "notifications/shelf/moved", toClient: true, since: v2024, modern: down, extension: true},
}

// has tells whether a revision has the method in any direction.
func (f fact) has(revision string) bool {
	if mcp.IsModern(revision) {
		return f.modern != no
	}
	if revision == mcp.Version20241007 {
		revision = v2024
	}
	return f.since != neverOld && revision >= f.since
}

// to tells whether a revision has the method, sent to a side.
func (f fact) to(revision string, side era.Side) bool {
	switch {
	case !f.has(revision):
		return false
	case mcp.IsModern(revision):
		return f.modern == both || f.modern == up && side == era.ServerSide || f.modern == down && side == era.ClientSide
	case side == era.ServerSide:
		return f.toServer
	}
	return f.toClient
}

func (f fact) hasModern(from era.Side) bool { return f.to(mcp.Version20260728, from.Other()) }

// senders lists the sides that may send the method in the newest revision that has it.
func (f fact) senders() []era.Side {
	var from []era.Side
	if f.toServer || f.modern == up {
		from = append(from, era.ClientSide)
	}
	if f.toClient || f.modern == down {
		from = append(from, era.ServerSide)
	}
	return from
}

// TestMethods holds every table against the specification's list, in every revision and direction.
func TestMethods(t *testing.T) {
	cfg := serverConfig()
	cfg.Extensions = nil
	set := newSet(t, cfg)
	for _, revision := range mcp.Versions() {
		codec, _ := set.Codec(revision)
		for _, f := range methodFacts {
			for _, side := range []era.Side{era.ServerSide, era.ClientSide} {
				want := era.Absent
				if f.to(revision, side) {
					want = era.Known
				}
				row, got := codec.Look(f.method, !f.request, side)
				if got != want {
					t.Errorf("%s in %s to side %d: standing %d, want %d", f.method, revision, side, got, want)
				}
				if (row != nil) != (want == era.Known) {
					t.Errorf("%s in %s to side %d: row %v", f.method, revision, side, row)
				}
				if _, wrongKind := codec.Look(f.method, f.request, side); wrongKind != era.Absent {
					t.Errorf("%s in %s: taken as a request and as a notification", f.method, revision)
				}
			}
		}
		if _, standing := codec.Look("example/other", false, era.ServerSide); standing != era.Vendor {
			t.Errorf("a method outside the specification has standing %d in %s", standing, revision)
		}
	}
}

// TestUniverse holds that the tables have no method that the specification's list has not.
func TestUniverse(t *testing.T) {
	universe := negotiate.Universe()
	for _, f := range methodFacts {
		if !universe[f.method] {
			t.Errorf("%s is in no table", f.method)
		}
	}
	for method := range universe {
		if !slices.ContainsFunc(methodFacts, func(f fact) bool { return f.method == method }) {
			t.Errorf("%s is in a table but not in the specification", method)
		}
	}
}

// TestExtensionRows holds where methods of extensions exist. The specification's own extensions are modern; on a revision
// of the handshake their methods stay what they were.
func TestExtensionRows(t *testing.T) {
	set := newSet(t, serverConfig())
	for _, tc := range []struct {
		method, revision string
		want             era.Standing
		extension        string
	}{
		{"tasks/get", mcp.Version20260728, era.Known, tasksExtension},
		{"tasks/update", mcp.Version20260728, era.Known, tasksExtension},
		{"tasks/result", mcp.Version20260728, era.Absent, ""},
		{"tasks/list", mcp.Version20260728, era.Absent, ""},
		{"tasks/get", mcp.Version20251125, era.Known, ""},
		{"tasks/get", mcp.Version20250618, era.Absent, ""},
		{"tasks/update", mcp.Version20251125, era.Absent, ""},
		{"shelf/sort", mcp.Version20260728, era.Known, "com.example/shelf"},
		{"shelf/sort", mcp.Version20241105, era.Known, "com.example/shelf"},
	} {
		codec, _ := set.Codec(tc.revision)
		row, got := codec.Look(tc.method, false, era.ServerSide)
		if got != tc.want || row != nil && row.Extension != tc.extension {
			t.Errorf("%s in %s: standing %d, row %+v", tc.method, tc.revision, got, row)
		}
	}
}

// TestTraits holds the traits of each revision that differ, as the specification has them.
func TestTraits(t *testing.T) {
	revisions := []string{"2024-10-07", "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}
	for _, tc := range []struct {
		name string
		read func(*era.Traits) bool
		want string // one letter a revision
	}{
		{"Handshake", func(t *era.Traits) bool { return t.Handshake }, "yyyyyn"},
		{"ServerMayCall", func(t *era.Traits) bool { return t.ServerMayCall }, "yyyyyn"},
		{"Unsolicited", func(t *era.Traits) bool { return t.Unsolicited }, "yyyyyn"},
		{"Sessions", func(t *era.Traits) bool { return t.Sessions }, "yyyyyn"},
		{"Resumable", func(t *era.Traits) bool { return t.Resumable }, "yyyyyn"},
		{"PrimesStreams", func(t *era.Traits) bool { return t.PrimesStreams }, "nnnnyn"},
		{"CancelsByClose", func(t *era.Traits) bool { return t.CancelsByClose }, "nnnnny"},
		{"Batches", func(t *era.Traits) bool { return t.Batches }, "yyynnn"},
		{"ErrorIDOptional", func(t *era.Traits) bool { return t.ErrorIDOptional }, "nnnnyy"},
		{"CancelIDOptional", func(t *era.Traits) bool { return t.CancelIDOptional }, "nnnnyn"},
		{"PerRequestLevel", func(t *era.Traits) bool { return t.PerRequestLevel }, "nnnnny"},
		{"InputErrorsAsResults", func(t *era.Traits) bool { return t.InputErrorsAsResults }, "nnnnyy"},
		{"StructuredContent", func(t *era.Traits) bool { return t.StructuredContent }, "nnnyyy"},
		{"AnyOutputSchema", func(t *era.Traits) bool { return t.AnyOutputSchema }, "nnnnny"},
		{"Completions", func(t *era.Traits) bool { return t.Completions }, "nnyyyy"},
		{"Elicitation", func(t *era.Traits) bool { return t.Elicitation }, "nnnyyy"},
		{"URLElicitation", func(t *era.Traits) bool { return t.URLElicitation }, "nnnnyy"},
		{"SamplingTools", func(t *era.Traits) bool { return t.SamplingTools }, "nnnnyy"},
		{"InputRounds", func(t *era.Traits) bool { return t.InputRounds }, "nnnnny"},
		{"Listen", func(t *era.Traits) bool { return t.Listen }, "nnnnny"},
		{"Tasks", func(t *era.Traits) bool { return t.Tasks }, "nnnnyn"},
		{"Extensions", func(t *era.Traits) bool { return t.Extensions }, "nnnnny"},
		{"CacheHints", func(t *era.Traits) bool { return t.CacheHints }, "nnnnny"},
		{"HeaderMirrors", func(t *era.Traits) bool { return t.HeaderMirrors }, "nnnnny"},
	} {
		for i, revision := range revisions {
			codec, _ := codecs(t, revision)
			if got, want := tc.read(codec.Traits()), tc.want[i] == 'y'; got != want {
				t.Errorf("%s of %s is %v", tc.name, revision, got)
			}
		}
	}
}
