package house

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestLinks holds that links of the pages lead somewhere: to a file of the tree, and there to a heading.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	pages, places := 0, 0
	for _, file := range files(t) {
		if path.Ext(file) != ".md" {
			continue
		}
		page, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllSubmatch(page, -1) {
			target, place, _ := strings.Cut(string(m[1]), "#")
			if strings.Contains(target, ":") {
				continue // an address elsewhere
			}
			linked := page
			if target != "" {
				pages++
				target = filepath.Join(root, path.Dir(file), target)
				if _, err := os.Stat(target); err != nil {
					t.Errorf("%s links to %s, which does not exist", file, m[1])
					continue
				}
			}
			if place == "" {
				continue
			}
			places++
			if target != "" {
				if linked, err = os.ReadFile(target); err != nil {
					t.Fatal(err)
				}
			}
			if !slices.Contains(headings(string(linked)), place) {
				t.Errorf("%s links to %s, and there is no such heading", file, m[1])
			}
		}
	}
	if pages == 0 || places == 0 {
		t.Error("no page links to another, or to a heading; the pattern of a link is wrong")
	}
}

// notInPlaces are the characters of a heading that its place in the page leaves out, besides spaces.
var notInPlaces = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)

// headings answers the places in a page that links can name: its headings in small letters, with - for spaces. Comments
// in blocks of code are none.
func headings(page string) (places []string) {
	code := false
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "```") {
			code = !code
		}
		title := strings.TrimLeft(line, "#")
		if code || title == line || !strings.HasPrefix(title, " ") {
			continue
		}
		title = notInPlaces.ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), "")
		places = append(places, strings.ReplaceAll(title, " ", "-"))
	}
	return places
}

func TestHeadings(t *testing.T) {
	page := "# A page\n\n```sh\n# not this\n```\n#nor this\n## What `Until` does, once\n### 2025-11-25\n"
	want := []string{"a-page", "what-until-does-once", "2025-11-25"}
	if got := headings(page); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
