package upstream

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestPages(t *testing.T) {
	for _, tc := range []struct {
		name  string
		pages func(string) string
		want  int
		warns int
	}{
		{"three, one of them empty, and the empty cursor", func(cursor string) string {
			switch cursor {
			case "start":
				return `{"tools":[{"name":"a"},{"name":"b"}],"nextCursor":""}`
			case "":
				return `{"tools":[ ],"nextCursor":"last"}`
			}
			return `{"tools":[{"name":"c"}],"nextCursor":null}`
		}, 3, 0},
		{"the same cursor for ever", func(string) string { return `{"tools":[{"name":"a"}],"nextCursor":"x"}` }, 2, 1},
		{"a circle", func(cursor string) string {
			next := map[string]string{"start": "A", "A": "B", "B": "A"}[cursor]
			return fmt.Sprintf(`{"tools":[{"name":%q}],"nextCursor":%q}`, "t"+cursor, next)
		}, 3, 1},
		{"endless fresh cursors", func(cursor string) string {
			return fmt.Sprintf(`{"tools":[{"name":"a"}],"nextCursor":%q}`, cursor+"x")
		}, mostPages, 1},
		{"entries that are none", func(string) string { return `{"tools":[1,{},{"name":""},{"name":"a"}]}` }, 1, 3},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var warned []string
			lists, err := Read(t.Context(), newFake(tc.pages), AllKinds, func(s string) { warned = append(warned, s) })
			if err != nil || len(lists.Tools) != tc.want || len(warned) != tc.warns {
				t.Errorf("%d tools, warnings %q, error %v; want %d tools and %d warnings", len(lists.Tools), warned, err, tc.want, tc.warns)
			}
		})
	}
}

func TestBrokenLists(t *testing.T) {
	for _, result := range []string{`{}`, `{"tools":{}}`, `{"tools":[],"nextCursor":7}`} {
		if _, err := Read(t.Context(), newFake(func(string) string { return result }), Tools, func(string) {}); err == nil || !strings.Contains(err.Error(), "tools/list") {
			t.Errorf("%s: error %v", result, err)
		}
	}
}

func TestItemsKeepTheirTokens(t *testing.T) {
	const item = `{"x":1.0e0,"name":"\u0061","n":12345678901234567890}`
	lists, err := Read(t.Context(), newFake(func(string) string { return `{"tools":[` + item + `]}` }), Tools, func(string) {})
	if err != nil || string(lists.Tools[0].Raw) != item || !slices.Equal(keysOf(lists.Tools), []string{"a"}) {
		t.Errorf("got %s, %v", lists.Tools, err)
	}
}
