package house

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestLinks holds that links from one page to another file of the tree lead somewhere.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	seen := 0
	for _, file := range files(t) {
		if path.Ext(file) != ".md" {
			continue
		}
		page, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllSubmatch(page, -1) {
			target, _, _ := strings.Cut(string(m[1]), "#")
			if target == "" || strings.Contains(target, ":") {
				continue // a place on the same page, or an address elsewhere
			}
			seen++
			if _, err := os.Stat(filepath.Join(root, path.Dir(file), target)); err != nil {
				t.Errorf("%s links to %s, which does not exist", file, target)
			}
		}
	}
	if seen == 0 {
		t.Error("no page links to another; the pattern of a link is wrong")
	}
}
