package route

import (
	"fmt"
	"strings"
	"testing"
)

func names(t *testing.T, kind Kind, naming Naming, ups ...Upstream) string {
	t.Helper()
	table, err := Build(naming, ups)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range table.Entries(kind) {
		all = append(all, e.Exposed)
	}
	return strings.Join(all, " ")
}

func tools(server string, list ...string) Upstream { return Upstream{Name: server, Tools: list} }

// TestGivenNames holds that a name in place of the server's own counts as if the server had given it.
func TestGivenNames(t *testing.T) {
	given := func(up Upstream, names map[string]string) Upstream {
		up.Names = func(_ Kind, name string) string { return names[name] }
		return up
	}
	for _, tc := range []struct {
		name   string
		naming Naming
		ups    []Upstream
		want   string
	}{
		{"one of two", Naming{}, []Upstream{given(tools("a", "x", "y"), map[string]string{"x": "look"})}, "look y"},
		{"out of a collision", Naming{}, []Upstream{given(tools("a", "s"), map[string]string{"s": "find"}), tools("b", "s")}, "find s"},
		{"into a collision", Naming{}, []Upstream{given(tools("a", "x"), map[string]string{"x": "s"}), tools("b", "s")}, "a__s b__s"},
		{"with a prefix", Naming{Mode: Always}, []Upstream{given(tools("a", "x"), map[string]string{"x": "look"})}, "a__look"},
		{"a name that is reserved", Naming{Reserved: []string{"call_tool"}}, []Upstream{given(tools("a", "call_tool", "x"), map[string]string{"x": "call_tool"}), tools("b", "call_tool")},
			"a__call_tool_993a80e9 a__call_tool_83f2fd24 b__call_tool"},
		{"that the server has itself", Naming{}, []Upstream{given(tools("a", "x", "y"), map[string]string{"x": "y"})}, "a__y_83f2fd24 a__y_ff612ac1"},
	} {
		if got := names(t, Tool, tc.naming, tc.ups...); got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.name, got, tc.want)
		}
	}
	up := given(Upstream{Name: "a", Resources: []string{"r:1"}, Tools: []string{"x", "y.z"}}, map[string]string{"r:1": "r:2", "x": "look", "y.z": "why"})
	table, err := Build(Naming{}, []Upstream{up})
	if err != nil {
		t.Fatal(err)
	}
	if to, ok := table.Tool("look"); !ok || to != (Target{"a", "x"}) || table.Entries(Resource)[0].Exposed != "r:1" || table.Report() != nil {
		t.Errorf("look leads to %v; notes %v", to, table.Report())
	}
}

func TestToolNames(t *testing.T) {
	long40 := strings.Repeat("s", 40)
	tool40 := strings.Repeat("t", 40)
	legal128 := strings.Repeat("x.", 64)
	for _, tc := range []struct {
		name   string
		naming Naming
		ups    []Upstream
		want   string
	}{
		{"no collision", Naming{}, []Upstream{tools("a", "x"), tools("b", "y.z")}, "x y.z"},
		{"the same name twice", Naming{}, []Upstream{tools("a", "search", "x"), tools("b", "search")}, "a__search x b__search"},
		{"three times", Naming{}, []Upstream{tools("a", "s"), tools("b", "s"), tools("c", "s")}, "a__s b__s c__s"},
		{"case matters", Naming{}, []Upstream{tools("a", "Search"), tools("b", "search")}, "Search search"},
		{"always", Naming{Mode: Always}, []Upstream{tools("a", "x"), tools("b", "y")}, "a__x b__y"},
		{"never", Naming{Mode: Never}, []Upstream{tools("a", "s", "x"), tools("b", "s")}, "s_3d5c580b x s_f18efbd3"},
		{"alias", Naming{Aliases: map[string]string{"a": "first"}}, []Upstream{tools("a", "s"), tools("b", "s")}, "first__s b__s"},
		{"separator", Naming{Separator: "-"}, []Upstream{tools("a", "s"), tools("b", "s")}, "a-s b-s"},
		{"ambiguous split", Naming{Mode: Always, Separator: "_"}, []Upstream{tools("a_b", "c"), tools("a", "b_c")}, "a_b_c_1f5046b2 a_b_c_71e44def"},
		{"ambiguous split, default separator", Naming{Mode: Always}, []Upstream{tools("a_b", "c"), tools("a", "b_c")}, "a_b__c a__b_c"},
		{"a name that looks like a prefixed one", Naming{}, []Upstream{tools("a", "s"), tools("b", "s"), tools("c", "a__s")}, "a__s_3d5c580b b__s c__a__s"},
		{"40 and 40 characters", Naming{Mode: Always}, []Upstream{tools(long40, tool40)}, "ssssssssssssssss__ttttttttttttttttttttttttttttttttttttt_ed039d23"},
		{"equal after cutting", Naming{MaxLength: 20}, []Upstream{tools("a", tool40+"1", tool40+"2")}, "ttttttttttt_91e953a0 ttttttttttt_0df48133"},
		{"characters", Naming{}, []Upstream{tools("a", "files/read", "get weather", "größe", "a.b", "")}, "files_read_8fbd4307 get_weather_89a0e29f gr__e_26ed5823 a.b unnamed_9bf185f4"},
		{"equal after cleaning", Naming{}, []Upstream{tools("a", "a/b", "a b", "a_b")}, "a_b_bb41b0bb a_b_74bd741d a_b"},
		{"a dot behind a prefix", Naming{Mode: Always}, []Upstream{tools("a", "x.y")}, "a__x_y_6d1254c1"},
		{"a dot under a maximum", Naming{MaxLength: 64}, []Upstream{tools("a", "x.y", "z")}, "x_y_1e3f5cef z"},
		{"128 characters stay", Naming{}, []Upstream{tools("a", legal128)}, legal128},
		{"129 do not", Naming{}, []Upstream{tools("a", strings.Repeat("y", 129))}, strings.Repeat("y", 55) + "_2efb7770"},
		{"listed twice", Naming{}, []Upstream{tools("a", "x", "x")}, "x"},
		{"server names that clean to the same", Naming{Mode: Always}, []Upstream{tools("my.server", "x"), tools("my_server", "x"), tools("my server", "x"), tools("天气", "x")},
			"my_server_1750faec__x my_server__x my_server_f0aeb7f1__x server__x"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := names(t, Tool, tc.naming, tc.ups...); got != tc.want {
				t.Errorf("got\n%s\nwant\n%s", got, tc.want)
			}
		})
	}
}

func TestPromptsKeepWhatTheyAreCalled(t *testing.T) {
	up := Upstream{Name: "a", Prompts: []string{"Write a poem", "größe", "x"}}
	other := Upstream{Name: "b", Prompts: []string{"x"}, Tools: []string{"Write a poem"}}
	if got, want := names(t, Prompt, Naming{}, up, other), "Write a poem größe a__x b__x"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAddresses(t *testing.T) {
	ups := []Upstream{
		{Name: "a", Resources: []string{"file:///x", "a:1"}, Templates: []string{"file:///{p}"}},
		{Name: "My_B", Resources: []string{"file:///x", "b:1"}, Templates: []string{"file:///{p}", "b:{id}"}},
		{Name: "c", Resources: []string{"rialto+.4dy.5f.42:file:///x", "file:///x"}},
	}
	if got, want := names(t, Resource, Naming{}, ups...), "file:///x a:1 rialto+.4dy.5f.42+1:file:///x b:1 rialto+.4dy.5f.42:file:///x rialto+c:file:///x"; got != want {
		t.Errorf("resources: got\n%s\nwant\n%s", got, want)
	}
	if got, want := names(t, Template, Naming{}, ups...), "file:///{p} rialto+.4dy.5f.42:file:///{p} b:{id}"; got != want {
		t.Errorf("templates: got\n%s\nwant\n%s", got, want)
	}

	table, err := Build(Naming{}, ups)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		uri  string
		want Target
	}{
		{"file:///x", Target{"a", "file:///x"}},
		{"rialto+.4dy.5f.42+1:file:///x", Target{"My_B", "file:///x"}},
		{"rialto+.4dy.5f.42:file:///x", Target{"c", "rialto+.4dy.5f.42:file:///x"}},
		{"RIALTO+c:file:///x", Target{"c", "file:///x"}},             // a program that changed the case
		{"rialto+.4dy.5f.42:file:///y", Target{"My_B", "file:///y"}}, // unlisted, by its scheme
		{"file:///y", Target{"a", "file:///y"}},                      // unlisted, by the first template
		{"b:7", Target{"My_B", "b:7"}},
	} {
		if got, ok := table.Resource(tc.uri, matchPrefix); !ok || got != tc.want {
			t.Errorf("%s: got %v, %v; want %v", tc.uri, got, ok, tc.want)
		}
	}
	for _, uri := range []string{"http://other/", "rialto+nobody:file:///x", "rialto+:x", ""} {
		if got, ok := table.Resource(uri, matchPrefix); ok {
			t.Errorf("%q leads to %v", uri, got)
		}
	}
	if got, ok := table.ResourceRef("rialto+.4dy.5f.42:file:///{p}", matchPrefix); !ok || got != (Target{"My_B", "file:///{p}"}) {
		t.Errorf("reference to a template: %v, %v", got, ok)
	}
	if got, ok := table.ResourceRef("b:1", nil); !ok || got != (Target{"My_B", "b:1"}) {
		t.Errorf("reference to a resource: %v, %v", got, ok)
	}
}

// matchPrefix stands in for a template engine.
func matchPrefix(template, uri string) bool {
	lead, _, _ := strings.Cut(template, "{")
	return strings.HasPrefix(uri, lead)
}

func TestOnlyServerWithResources(t *testing.T) {
	table, err := Build(Naming{}, []Upstream{{Name: "a", Tools: []string{"x"}}, {Name: "b", ServesResources: true}})
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := table.Resource("any:thing", nil); !ok || got != (Target{"b", "any:thing"}) {
		t.Errorf("got %v, %v", got, ok)
	}
	if got := table.ExposeURI("a", "any:thing", nil); got != "any:thing" {
		t.Errorf("an address of a server without resources became %s", got)
	}
}

func TestExposeURI(t *testing.T) {
	table, err := Build(Naming{}, []Upstream{
		{Name: "a", Resources: []string{"x:1"}, Templates: []string{"y:{n}"}},
		{Name: "b", Resources: []string{"x:1", "z:1"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ server, uri, want string }{
		{"a", "x:1", "x:1"}, {"b", "x:1", "rialto+b:x:1"}, {"b", "z:1", "z:1"},
		{"a", "y:5", "y:5"}, {"b", "y:5", "rialto+b:y:5"}, {"a", "z:2", "rialto+a:z:2"},
		{"a", "rialto+b:q", "rialto+a:rialto+b:q"}, // a gateway behind this one
		{"nobody", "x:1", "x:1"},
	} {
		if got := table.ExposeURI(tc.server, tc.uri, matchPrefix); got != tc.want {
			t.Errorf("%s of %s: got %s, want %s", tc.uri, tc.server, got, tc.want)
		}
	}
	if exposed, ok := table.Exposed(Resource, Target{"b", "x:1"}); !ok || exposed != "rialto+b:x:1" {
		t.Errorf("Exposed: %s, %v", exposed, ok)
	}
	if _, ok := table.Exposed(Kind("else"), Target{"b", "x:1"}); ok {
		t.Error("an unknown kind has entries")
	}
}

func TestRefused(t *testing.T) {
	two := []Upstream{{Name: "a"}, {Name: "b"}}
	for _, tc := range []struct {
		naming Naming
		ups    []Upstream
		want   string
	}{
		{Naming{}, []Upstream{{Name: "a"}, {Name: "a"}}, `the server name "a" is empty or stands twice; give each server its own`},
		{Naming{}, []Upstream{{}}, `the server name "" is empty or stands twice; give each server its own`},
		{Naming{Mode: "x"}, two, `the mode "x" is not known; write collision, always or never`},
		{Naming{Separator: "."}, two, `the separator "." cannot be used; write 1 to 4 of '_' and '-'`},
		{Naming{MaxLength: 8}, two, `the maximum length 8 cannot be used; write 16 to 128, or 0 for none`},
		{Naming{Aliases: map[string]string{"a": "x", "b": "x"}}, two, `the alias "x" of server "b" already stands for server "a"; choose another`},
		{Naming{Aliases: map[string]string{"a": "b"}}, two, `the alias "b" of server "a" already stands for server "b"; choose another`},
		{Naming{Aliases: map[string]string{"a": "x y"}}, two, `the alias "x y" of server "a" cannot be used; write 1 to 32 letters, digits, '_' and '-'`},
		{Naming{Aliases: map[string]string{"c": "x"}}, two, `there is an alias for a server that is not configured; remove it`},
	} {
		table, err := Build(tc.naming, tc.ups)
		if table != nil || err == nil || err.Error() != "name the tools of the servers: "+tc.want {
			t.Errorf("got %v, want %s", err, tc.want)
		}
	}
}

// A prefix that was asked for has that reason, whoever else has the name: a server that comes later makes no news of it.
func TestReportOfPrefixesThatWereAskedFor(t *testing.T) {
	want := `tool "x" of server "a" is shown as "a__x": the configuration asks for prefixes`
	for _, others := range [][]Upstream{nil, {tools("b", "x")}} {
		table, err := Build(Naming{Mode: Always}, append([]Upstream{tools("a", "x")}, others...))
		if err != nil {
			t.Fatal(err)
		}
		if got := table.Report()[0].String(); got != want {
			t.Errorf("beside %d other servers: got %s, want %s", len(others), got, want)
		}
	}
}

func TestReport(t *testing.T) {
	table, err := Build(Naming{}, []Upstream{
		{Name: "a", Tools: []string{"s", "x y", "v1.2", "s"}, Resources: []string{"r:1"}},
		{Name: "b", Tools: []string{"s", strings.Repeat("n", 129)}, Prompts: []string{"what ever"}, Resources: []string{"r:1"}},
		{Name: "c", Tools: []string{"a__s"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, n := range table.Report() {
		got = append(got, string(n.Kind)+" "+n.Server+": "+string(n.Reason))
	}
	want := []string{
		"tool a: " + string(ListedTwice), "tool a: " + string(Collides), "tool a: " + string(Characters), "tool a: " + string(AtRisk),
		"tool b: " + string(Collides), "tool b: " + string(TooLong), "tool c: " + string(NameTaken), "resource b: " + string(Collides),
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if line, want := table.Report()[0].String(), `tool "s" of server "a": the server lists it twice; the first counts`; line != want {
		t.Errorf("got %s, want %s", line, want)
	}
}

// TestAddressesThatKeepTheirScheme holds that pages of apps and files of skills keep the scheme by which hosts know them when they
// give way to those of another server.
func TestAddressesThatKeepTheirScheme(t *testing.T) {
	ups := []Upstream{
		{Name: "a", Resources: []string{"ui://view", "skill://tea/SKILL.md"}},
		{Name: "My_B", Resources: []string{"ui://view", "skill://tea/SKILL.md"}, Templates: []string{"ui://view/{id}"}},
		{Name: "c", Resources: []string{"ui://rialto+.4dy.5f.42/view"}, Templates: []string{"ui://view/{id}"}},
	}
	table, err := Build(Naming{}, ups)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ server, uri, exposed string }{
		{"a", "ui://view", "ui://view"},
		{"My_B", "ui://view", "ui://rialto+.4dy.5f.42+1/view"},
		{"My_B", "skill://tea/SKILL.md", "skill://rialto+.4dy.5f.42/tea/SKILL.md"},
		{"c", "ui://rialto+.4dy.5f.42/view", "ui://rialto+.4dy.5f.42/view"},
		{"c", "ui://not/listed", "ui://rialto+c/not/listed"},
	} {
		if got := table.ExposeURI(tc.server, tc.uri, nil); got != tc.exposed {
			t.Errorf("%s of %s is shown as %s, want %s", tc.uri, tc.server, got, tc.exposed)
		}
		if got, ok := table.Resource(tc.exposed, nil); !ok || got != (Target{tc.server, tc.uri}) {
			t.Errorf("%s leads to %v", tc.exposed, got)
		}
	}
	if exposed, _ := table.Exposed(Template, Target{"c", "ui://view/{id}"}); exposed != "ui://rialto+c/view/{id}" {
		t.Errorf("the template is shown as %s", exposed)
	}
	if got, ok := table.Resource("ui://RIALTO+C/view/7", nil); !ok || got != (Target{"c", "ui://view/7"}) {
		t.Errorf("in other case it leads to %v", got)
	}
	for _, tc := range []struct{ server, want string }{
		{"a", "[skill://tea/SKILL.md skill://rialto+a/tea/kinds.md]"}, // what ExposeURI gives, one after the other
		{"My_B", "[skill://rialto+.4dy.5f.42/tea/SKILL.md skill://rialto+.4dy.5f.42/tea/kinds.md]"},
	} {
		files := []string{"skill://tea/SKILL.md", "skill://tea/kinds.md"}
		var single []string
		for _, uri := range files {
			single = append(single, table.ExposeURI(tc.server, uri, nil))
		}
		if fmt.Sprint(single) != tc.want {
			t.Errorf("the files of %s are shown as %v, want %s", tc.server, single, tc.want)
		}
	}
	if got, want := fmt.Sprint(table.ExposeAll("a", []string{"skill://tea/SKILL.md", "skill://tea/kinds.md"}, nil)), "[skill://rialto+a/tea/SKILL.md skill://rialto+a/tea/kinds.md]"; got != want {
		t.Errorf("together the files are shown as %s, want %s", got, want)
	}
}
