package house

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// TestRequirements holds that the library requires exactly the modules that CONTRIBUTING gives a reason for.
func TestRequirements(t *testing.T) {
	required, reasoned := rootRequirements(t), reasons(t)
	for _, path := range required {
		if !slices.Contains(reasoned, path) {
			t.Errorf("go.mod requires %s, and CONTRIBUTING.md gives no reason for it under \"Requirements of the root module\"", path)
		}
	}
	for _, path := range reasoned {
		if !slices.Contains(required, path) {
			t.Errorf("CONTRIBUTING.md gives a reason for %s, which go.mod does not require directly", path)
		}
	}
}

// rootRequirements lists the direct requirements of the root module.
func rootRequirements(t *testing.T) []string {
	t.Helper()
	cmd := exec.Command("go", "mod", "edit", "-json")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go mod edit: %v", err)
	}
	var mod struct {
		Require []struct {
			Path     string
			Indirect bool
		}
	}
	if err := json.Unmarshal(out, &mod); err != nil {
		t.Fatalf("output of go mod edit: %v", err)
	}
	var direct []string
	for _, r := range mod.Require {
		if !r.Indirect {
			direct = append(direct, r.Path)
		}
	}
	return direct
}

// reasons lists the modules in the table that CONTRIBUTING keeps for the root module.
func reasons(t *testing.T) []string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	section := regexp.MustCompile(`(?s)\n### Requirements of the root module\n(.*?)(\n#|$)`).FindSubmatch(page)
	if section == nil {
		t.Fatal(`CONTRIBUTING.md has no section "### Requirements of the root module"`)
	}
	var paths []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\| \\S").FindAllSubmatch(section[1], -1) {
		paths = append(paths, string(m[1]))
	}
	return paths
}
