package mcp

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

func ptr[T any](v T) *T { return &v }

func TestVersions(t *testing.T) {
	all := Versions()
	if !slices.IsSortedFunc(all, func(a, b string) int { return strings.Compare(b, a) }) {
		t.Errorf("not best first: %v", all)
	}
	for _, v := range all {
		if IsLegacy(v) == IsModern(v) || IsModern(v) != IsModernDate(v) {
			t.Errorf("%s: legacy %v, modern %v, modern date %v", v, IsLegacy(v), IsModern(v), IsModernDate(v))
		}
	}
	if LegacyVersions()[0] != LatestLegacy || ModernVersions()[0] != LatestModern || !IsLegacy(VersionWithoutHeader) {
		t.Error("the latest of an era does not lead its list")
	}
	all[0] = "changed"
	if Versions()[0] != LatestModern {
		t.Error("a caller changed the list")
	}
	for v, modern := range map[string]bool{"2027-01-01": true, "2026-07-27": false, "DRAFT-2026": false, "draft": false, "": false, "2026-07-2x": false, "2026/07/28": false, "2026-07-281": false} {
		if IsModernDate(v) != modern || IsModern(v) || IsLegacy(v) {
			t.Errorf("%q", v)
		}
	}
}

func TestToolNames(t *testing.T) {
	for name, reason := range map[string]string{
		"a": "", "get_weather.v2-x": "", strings.Repeat("a", 128): "",
		"": "empty", strings.Repeat("a", 129): "129", "a b": `' '`, "münchen": `'ü'`, "a/b": `'/'`, "a\xffb": `'�'`,
	} {
		err := CheckToolName(name)
		if (err == nil) != (reason == "") || err != nil && !strings.Contains(err.Error(), reason) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestToolHints(t *testing.T) {
	var none *ToolAnnotations
	readOnly := &ToolAnnotations{ReadOnlyHint: ptr(true)}
	tame := &ToolAnnotations{DestructiveHint: ptr(false), OpenWorldHint: ptr(false), IdempotentHint: ptr(true)}
	for _, c := range []struct {
		name      string
		got, want [4]bool
	}{
		{"nil", [4]bool{none.ReadOnly(), none.Destructive(), none.Idempotent(), none.OpenWorld()}, [4]bool{false, true, false, true}},
		{"read-only", [4]bool{readOnly.ReadOnly(), readOnly.Destructive(), readOnly.Idempotent(), readOnly.OpenWorld()}, [4]bool{true, false, false, true}},
		{"tame", [4]bool{tame.ReadOnly(), tame.Destructive(), tame.Idempotent(), tame.OpenWorld()}, [4]bool{false, false, true, false}},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
	for want, tool := range map[string]Tool{
		"A": {Name: "n", Title: "A"}, "B": {Name: "n", Annotations: &ToolAnnotations{Title: "B"}}, "n": {Name: "n", Annotations: readOnly},
	} {
		if got := tool.DisplayName(); got != want {
			t.Errorf("display name %q, want %q", got, want)
		}
	}
}

func TestElicitationModes(t *testing.T) {
	for _, c := range []struct {
		wire      string
		form, url bool
	}{{`{}`, false, false}, {`{"elicitation":{}}`, true, false}, {`{"elicitation":{"form":{}}}`, true, false}, {`{"elicitation":{"url":{}}}`, false, true},
		{`{"elicitation":{"form":{},"url":{}}}`, true, true}, {`{"elicitation":{"x":1}}`, true, false}} {
		var caps ClientCapabilities
		if err := json.Unmarshal([]byte(c.wire), &caps); err != nil {
			t.Fatal(err)
		}
		if caps.Elicitation.AcceptsForm() != c.form || caps.Elicitation.AcceptsURL() != c.url {
			t.Errorf("%s: form %v, url %v", c.wire, caps.Elicitation.AcceptsForm(), caps.Elicitation.AcceptsURL())
		}
	}
	for params, mode := range map[string]string{`{"message":"m"}`: ElicitModeForm, `{"mode":"url"}`: ElicitModeURL, `{"mode":"new"}`: "new", `{"mode":null}`: ElicitModeForm} {
		if got := ElicitMode(json.RawMessage(params)); got != mode {
			t.Errorf("%s: mode %q", params, got)
		}
	}
}

func TestMissingCapabilities(t *testing.T) {
	decode := func(wire string) (c ClientCapabilities) {
		if err := json.Unmarshal([]byte(wire), &c); err != nil {
			t.Fatal(err)
		}
		return c
	}
	for _, c := range []struct{ have, need, lack string }{
		{`{}`, `{}`, `{}`},
		{`{"sampling":{}}`, `{"sampling":{}}`, `{}`},
		{`{"sampling":{}}`, `{"sampling":{"tools":{}}}`, `{"sampling":{"tools":{}}}`},
		{`{"sampling":{"tools":{}}}`, `{"sampling":{"context":{}}}`, `{"sampling":{"context":{}}}`},
		{`{}`, `{"elicitation":{},"roots":{}}`, `{"elicitation":{},"roots":{}}`},
		{`{"elicitation":{}}`, `{"elicitation":{"form":{}}}`, `{}`},
		{`{"elicitation":{}}`, `{"elicitation":{"url":{}}}`, `{"elicitation":{"url":{}}}`},
		{`{"elicitation":{"url":{}}}`, `{"elicitation":{}}`, `{"elicitation":{}}`},
		{`{"extensions":{"a.b/c":{}}}`, `{"extensions":{"a.b/c":{},"a.b/d":{}}}`, `{"extensions":{"a.b/d":{}}}`},
	} {
		lack, any := decode(c.have).Missing(decode(c.need))
		out, err := json.Marshal(lack)
		if err != nil || string(out) != c.lack || any != (c.lack != `{}`) {
			t.Errorf("%s of %s: lacks %s (%v, %v), want %s", c.have, c.need, out, any, err, c.lack)
		}
	}
}

func TestLevels(t *testing.T) {
	for _, level := range Levels() {
		got, err := ParseLevel(string(level))
		if err != nil || got != level || level.Enabled("") || !level.Enabled(LevelDebug) || !LevelEmergency.Enabled(level) {
			t.Errorf("%s: %v", level, err)
		}
	}
	if LevelInfo.Enabled(LevelNotice) || !LevelNotice.Enabled(LevelInfo) || LevelError.Compare(LevelWarning) <= 0 || Level("x").Enabled(LevelDebug) {
		t.Error("order of levels")
	}
	if _, err := ParseLevel("Info"); !errors.Is(err, CodeInvalidParams) {
		t.Errorf("got %v", err)
	}
}

func TestCacheHints(t *testing.T) {
	full := CacheFor(time.Minute, CachePublic)
	for _, c := range []struct {
		name string
		hint CacheHint
		fine bool
		or   CacheHint
	}{
		{"zero", CacheHint{}, true, full},
		{"zero ttl", CacheHint{TTLMs: ptr(int64(0))}, true, CacheHint{TTLMs: ptr(int64(0)), Scope: CachePublic}},
		{"negative", CacheHint{TTLMs: ptr(int64(-1)), Scope: CachePrivate}, false, CacheHint{TTLMs: full.TTLMs, Scope: CachePrivate}},
		{"beyond 2^53", CacheHint{TTLMs: ptr(int64(1 << 53))}, false, full},
		{"odd scope", CacheHint{TTLMs: ptr(int64(5)), Scope: "shared"}, false, CacheHint{TTLMs: ptr(int64(5)), Scope: CachePublic}},
	} {
		got := c.hint.Or(full)
		if (c.hint.Check() == nil) != c.fine || *got.TTLMs != *c.or.TTLMs || got.Scope != c.or.Scope {
			t.Errorf("%s: check %v, or %d %s", c.name, c.hint.Check(), *got.TTLMs, got.Scope)
		}
	}
	if full.TTL() != time.Minute || CacheFor(-time.Second, "").TTL() != 0 || (CacheHint{TTLMs: ptr(int64(1 << 62))}).TTL() <= 0 {
		t.Error("time to live")
	}
	if !(CacheHint{}).IsZero() || full.IsZero() {
		t.Error("IsZero")
	}
}

func TestPrincipalKeys(t *testing.T) {
	people := []Principal{{}, {Issuer: "a", Subject: "b"}, {Issuer: "ab"}, {Subject: "ab"}, {ClientID: "ab"}, {Issuer: "a", ClientID: "b"}, {Issuer: "1:a", Subject: "b"}}
	seen := map[string]bool{}
	for _, p := range people {
		if seen[p.Key()] {
			t.Errorf("%+v shares its key", p)
		}
		seen[p.Key()] = true
		if p.IsZero() != (p.Key() == "") {
			t.Errorf("%+v: key %q", p, p.Key())
		}
	}
	p := Principal{Subject: "b", Scopes: []string{"read"}}
	if !p.HasScope("read") || p.HasScope("write") || p.Key() != (&Principal{Subject: "b"}).Key() {
		t.Error("scopes")
	}
	var nobody *Principal // where no layer has found out who calls
	if !nobody.IsZero() || nobody.Key() != "" || nobody.HasScope("read") || nobody.HasRole("ops") {
		t.Error("nil is not the anonymous principal")
	}
}

func TestExtensionCheck(t *testing.T) {
	for reason, e := range map[string]Extension{
		"":                  {Identifier: "io.modelcontextprotocol/tasks", Requests: []string{"tasks/get"}, NameParam: map[string]string{"tasks/get": "taskId"}},
		"needs a prefix":    {Identifier: "tasks"},
		"the name must":     {Identifier: "a.b/c/d"},
		"label":             {Identifier: "9.b/c"},
		"JSON object":       {Identifier: "a.b/c", Settings: json.RawMessage(`[1]`)},
		"is no request":     {Identifier: "a.b/c", NameParam: map[string]string{"x": "y"}},
		"names no param":    {Identifier: "a.b/c", Requests: []string{"x"}, NameParam: map[string]string{"x": ""}},
		"must be a JSON ob": {Identifier: "a.b/c", Settings: json.RawMessage(`{"a":`)},
	} {
		err := e.Check()
		if (err == nil) != (reason == "") || err != nil && !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: %v", reason, err)
		}
	}
	if string(Extension{}.SettingsJSON()) != `{}` || string(Extension{Settings: json.RawMessage(`{"a":1}`)}.SettingsJSON()) != `{"a":1}` {
		t.Error("settings")
	}
}

func TestInputRequired(t *testing.T) {
	for name, c := range map[string]struct {
		in   *InputRequired
		fine bool
	}{
		"nothing":      {NeedInput(), false},
		"state alone":  {NeedInput().WithState(""), true},
		"one question": {NeedInput().ListRoots("r"), true},
		"a key twice":  {NeedInput().ListRoots("r").ListRoots("r"), false},
		"broken form":  {NeedInput().Elicit("f", ElicitFormParams{RequestedSchema: json.RawMessage(`{`)}), false},
	} {
		if err := c.in.Check(); (err == nil) != c.fine {
			t.Errorf("%s: %v", name, err)
		}
	}
	answers := InputResponses{"f": json.RawMessage(`{"action":"accept","content":{"a":1}}`), "m": json.RawMessage(`{"role":"assistant","content":{"type":"text","text":"t"},"model":"m"}`), "r": json.RawMessage(`{"roots":[{"uri":"file:///a"}]}`), "bad": json.RawMessage(`5`)}
	form, err1 := answers.Elicit("f")
	message, err2 := answers.Message("m")
	roots, err3 := answers.Roots("r")
	if err := errors.Join(err1, err2, err3); err != nil || !form.Accepted() || message.Text() != "t" || len(roots.Roots) != 1 {
		t.Errorf("answers: %v", err)
	}
	if none, err := answers.Elicit("absent"); none != nil || err != nil {
		t.Errorf("absent: %v %v", none, err)
	}
	if _, err := answers.Roots("bad"); err == nil || !strings.Contains(err.Error(), `"bad"`) {
		t.Errorf("bad: %v", err)
	}
	if got := answers.Keys(); !slices.Equal(got, []string{"bad", "f", "m", "r"}) {
		t.Errorf("keys %v", got)
	}
}

func TestFormSchemaRefuses(t *testing.T) {
	for name, form := range map[string]FormSchema{
		"unknown type":       {Fields: []FormField{{Name: "a", Type: "object"}}},
		"same name twice":    {Fields: []FormField{{Name: "a", Type: "string"}, {Name: "a", Type: "number"}}},
		"default is no JSON": {Fields: []FormField{{Name: "a", Type: "boolean", Default: json.RawMessage(`no`)}}},
	} {
		if out, err := form.AppendJSON(nil); err == nil {
			t.Errorf("%s: %s", name, out)
		}
	}
}

func TestSmallThings(t *testing.T) {
	long := NewCompletion(make([]string, 101))
	if len(long.Values) != MaxCompletionValues || *long.Total != 101 || !*long.HasMore {
		t.Errorf("completion %d %d %v", len(long.Values), *long.Total, *long.HasMore)
	}
	if short := NewCompletion(nil); *short.Total != 0 || *short.HasMore {
		t.Error("empty completion")
	}
	for ref, fine := range map[string]bool{`{"type":"ref/prompt","name":"n"}`: true, `{"type":"ref/resource","uri":"u"}`: true, `{"type":"ref/prompt","uri":"u"}`: false, `{"type":"ref/resource"}`: false, `{"type":"x"}`: false} {
		var r CompletionRef
		if err := json.Unmarshal([]byte(ref), &r); err != nil || (r.Check() == nil) != fine {
			t.Errorf("%s: %v %v", ref, err, r.Check())
		}
	}
	if (Root{URI: "https://a"}).Check() == nil || (Root{URI: "file:///a"}).Check() != nil {
		t.Error("roots")
	}
	if !(SubscriptionFilter{}).IsZero() || (SubscriptionFilter{ResourceSubscriptions: []string{"u"}}).IsZero() {
		t.Error("filters")
	}
	if (Implementation{Name: "n"}).DisplayName() != "n" || (Implementation{Name: "n", Title: "T"}).DisplayName() != "T" {
		t.Error("display name of an implementation")
	}
	var discovered DiscoverResult
	for wire, name := range map[string]string{`{"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"n","version":"1"}}}`: "n", `{"_meta":{"io.modelcontextprotocol/serverInfo":5}}`: "", `{}`: ""} {
		if err := json.Unmarshal([]byte(wire), &discovered); err != nil {
			t.Fatal(err)
		}
		if info := discovered.ServerInfo(); (info == nil) != (name == "") || info != nil && info.Name != name {
			t.Errorf("%s: %+v", wire, info)
		}
	}
	asked := CreateMessageResult{Content: []Content{Text("a"), &ToolUseContent{ID: "1"}}}
	if uses := asked.ToolUses(); len(uses) != 1 || uses[0].ID != "1" {
		t.Error("tool uses")
	}
}

func TestTaskIDsOfAFilter(t *testing.T) {
	var f SubscriptionFilter
	if ids, ok := f.TaskIDs(); ids != nil || !ok {
		t.Errorf("got %v, %v", ids, ok)
	}
	f.Extra = []byte(`{"com.example/x":1}`)
	f = f.WithTaskIDs([]string{"a"}).WithTaskIDs([]string{"b", "c"})
	if ids, ok := f.TaskIDs(); !ok || len(ids) != 2 || ids[0] != "b" || string(f.Extra) != `{"com.example/x":1,"taskIds":["b","c"]}` {
		t.Errorf("got %v, %v, %s", ids, ok, f.Extra)
	}
	if f = f.WithTaskIDs(nil); string(f.Extra) != `{"com.example/x":1}` {
		t.Errorf("got %s", f.Extra)
	}
	if f = (SubscriptionFilter{}).WithTaskIDs(nil); f.Extra != nil {
		t.Errorf("got %s", f.Extra)
	}
	f.Extra = []byte(`{"taskIds":[1]}`)
	if _, ok := f.TaskIDs(); ok {
		t.Error("a number counts as an id")
	}
}
