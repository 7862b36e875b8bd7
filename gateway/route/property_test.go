package route

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// world makes upstreams whose names like to meet.
func world(r *rand.Rand) (Naming, []Upstream) {
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	part := func() string {
		return pick("a", "b", "_", "__", "a_b", "search", "x.y", "x y", "é", strings.Repeat("l", 70), "")
	}
	naming := Naming{Mode: Mode(pick("", "always", "never", "collision")), Separator: pick("", "_", "-"), MaxLength: []int{0, 16, 40, 128}[r.IntN(4)]}
	var ups []Upstream
	for i := range 1 + r.IntN(6) {
		up := Upstream{Name: pick("a", "a_b", "b", "my server", "my.server", "é") + pick("", fmt.Sprint(i))}
		if slices.ContainsFunc(ups, func(u Upstream) bool { return u.Name == up.Name }) {
			continue
		}
		for range r.IntN(8) {
			up.Tools = append(up.Tools, part()+part())
			up.Prompts = append(up.Prompts, part()+part())
			up.Resources = append(up.Resources, pick("r:", "rialto+a:", "rialto+a+1:", "rialto+a.5fb:r:", "ui://", "ui://rialto+a/", "skill://rialto+a+1/")+pick("1", "2", "r:1"))
			up.Templates = append(up.Templates, pick("t:", "r:", "rialto+b:t:", "ui://", "ui://rialto+b/")+"{x}")
		}
		ups = append(ups, up)
	}
	return naming, ups
}

// steal lets a server list the names that others have got, so that they meet again.
func steal(r *rand.Rand, table *Table, ups []Upstream) {
	thief := &ups[r.IntN(len(ups))]
	for _, e := range table.Entries(Tool) {
		thief.Tools = append(thief.Tools, e.Exposed)
	}
	for _, e := range table.Entries(Resource) {
		thief.Resources = append(thief.Resources, e.Exposed)
	}
}

var strict = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

func TestEveryNameLeadsToOnePairAndBack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 1500 {
		naming, ups := world(r)
		for range 3 {
			table, err := Build(naming, ups)
			if err != nil {
				t.Fatal(err)
			}
			checkTable(t, naming, ups, table)
			steal(r, table, ups)
		}
	}
}

func checkTable(t *testing.T, naming Naming, ups []Upstream, table *Table) {
	t.Helper()
	for _, up := range ups {
		checkReachable(t, up, Tool, up.Tools, table, table.Tool)
		checkReachable(t, up, Prompt, up.Prompts, table, table.Prompt)
		checkReachable(t, up, Resource, up.Resources, table, func(uri string) (Target, bool) { return table.Resource(uri, nil) })
		checkReachable(t, up, Template, up.Templates, table, func(ref string) (Target, bool) { return table.ResourceRef(ref, nil) })
		if !slices.Contains(table.serving, up.Name) {
			continue
		}
		for _, uri := range []string{"r:1", "u:9", "rialto+a:r:1", "rialto+a:u:9", "ui://1", "ui://rialto+a/1", "skill://9"} {
			back, ok := table.Resource(table.ExposeURI(up.Name, uri, nil), nil)
			if !ok || back != (Target{up.Name, uri}) {
				t.Fatalf("%s of %s leads to %v", uri, up.Name, back)
			}
		}
	}
	for _, kind := range []Kind{Tool, Prompt, Resource, Template} {
		seen := map[string]bool{}
		for _, e := range table.Entries(kind) {
			if seen[e.Exposed] {
				t.Fatalf("%s %q is shown twice", kind, e.Exposed)
			}
			seen[e.Exposed] = true
			if kind != Tool && kind != Prompt {
				continue
			}
			if e.Exposed != e.Name && !strict.MatchString(e.Exposed) {
				t.Fatalf("%s %q breaks the rule for changed names", kind, e.Exposed)
			}
			if naming.MaxLength > 0 && (len(e.Exposed) > naming.MaxLength || sanitize(e.Exposed) != e.Exposed || e.Exposed == "") {
				t.Fatalf("%s %q breaks the rule for a maximum of %d", kind, e.Exposed, naming.MaxLength)
			}
		}
	}
}

func checkReachable(t *testing.T, up Upstream, kind Kind, list []string, table *Table, find func(string) (Target, bool)) {
	t.Helper()
	for _, name := range list {
		want := Target{up.Name, name}
		exposed, ok := table.Exposed(kind, want)
		got, found := find(exposed)
		if !ok || !found || got != want {
			t.Fatalf("%s %q of %q: shown as %q, which leads to %v", kind, name, up.Name, exposed, got)
		}
	}
}

// Names depend on who is configured and what is listed, not on any order.
func TestNamesDoNotDependOnOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		naming, ups := world(r)
		first := exposedNames(t, naming, ups)
		for i := range ups {
			ups[i].Tools, ups[i].Prompts = shuffled(r, ups[i].Tools), shuffled(r, ups[i].Prompts)
		}
		if again := exposedNames(t, naming, ups); !maps.Equal(first, again) {
			t.Fatalf("order of lists: %v, then %v", first, again)
		}
		if again := exposedNames(t, naming, shuffled(r, ups)); !maps.Equal(first, again) {
			t.Fatalf("order of servers: %v, then %v", first, again)
		}
	}
}

func shuffled[T any](r *rand.Rand, list []T) []T {
	list = slices.Clone(list)
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

func exposedNames(t *testing.T, naming Naming, ups []Upstream) map[Target]string {
	t.Helper()
	table, err := Build(naming, ups)
	if err != nil {
		t.Fatal(err)
	}
	all := maps.Clone(table.tools.byTarget)
	for target, exposed := range table.prompts.byTarget {
		all[Target{target.Server, "prompt " + target.Name}] = exposed
	}
	return all
}

// A server that lists each name another one would rise to cannot push it out, and gets none of its names.
func TestChase(t *testing.T) {
	a := assigner{naming: Naming{}.withDefaults(), kind: Tool, prefixes: map[string]string{"a": "a", "evil": "evil"}}
	victim := &item{Entry: Entry{Target: Target{"a", "s"}}, want: "s"}
	chase := []string{"s"}
	for level := 1; level < 40; level++ {
		chase = append(chase, a.render(victim, level))
	}
	table, err := Build(Naming{}, []Upstream{tools("a", "s"), tools("evil", chase...)})
	if err != nil {
		t.Fatal(err)
	}
	checkTable(t, Naming{}, []Upstream{tools("a", "s"), tools("evil", chase...)}, table)
	exposed, _ := table.Exposed(Tool, Target{"a", "s"})
	if !strings.HasPrefix(exposed, "a__s_") {
		t.Errorf("the victim is shown as %s", exposed)
	}
}

func FuzzOriginalURI(f *testing.F) {
	f.Add("rialto+a:x:1", "a", 0)
	f.Add("rialto+.4d+2:", "My_B", 2)
	f.Add("RIALTO+a+x:", "é", 1)
	f.Add("ui://rialto+a/x", "a", 0)
	f.Add("skill://Rialto+a+1/x/SKILL.md", "é", 3)
	f.Fuzz(func(t *testing.T, exposed, server string, salt int) {
		if name, uri, ok := OriginalURI(exposed); ok && (name == "" || !strings.HasSuffix(exposed, ":"+uri) && !isKept(exposed, uri)) {
			t.Fatalf("%q came apart as %q and %q", exposed, name, uri)
		}
		if server == "" || salt < 0 {
			return
		}
		name, uri, ok := OriginalURI(rewriteURI(server, exposed, salt))
		if !ok || name != server || uri != exposed {
			t.Fatalf("%q and %q came back as %q and %q", server, exposed, name, uri)
		}
	})
}

// isKept tells whether an address that is shown begins like the one it stands for, and ends like it.
func isKept(exposed, uri string) bool {
	return slices.ContainsFunc(kept, func(scheme string) bool {
		rest, ok := strings.CutPrefix(uri, scheme)
		return ok && strings.HasPrefix(exposed, scheme) && strings.HasSuffix(exposed, "/"+rest)
	})
}
