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

// TestRequirements holds that each module requires exactly the modules that CONTRIBUTING gives a reason for.
func TestRequirements(t *testing.T) {
	others := reasons(t, "Requirements of the other modules", "(?m)^\\| `([^`]+)` \\| `([^`]+)` \\| \\S")
	agree(t, "go.mod", rootRequirements(t), reasons(t, "Requirements of the root module", "(?m)^\\|( )`([^`]+)` \\| \\S")[" "])
	for _, folder := range []string{"bench", "gateway", "interop"} {
		agree(t, folder+"/go.mod", requirements(t, folder), others[folder])
	}
}

func agree(t *testing.T, file string, required, reasoned []string) {
	t.Helper()
	for _, path := range required {
		if !slices.Contains(reasoned, path) {
			t.Errorf("%s requires %s, and CONTRIBUTING.md gives no reason for it in its table of requirements", file, path)
		}
	}
	for _, path := range reasoned {
		if !slices.Contains(required, path) {
			t.Errorf("CONTRIBUTING.md gives a reason for %s, which %s does not require directly", path, file)
		}
	}
}

// rootRequirements lists the direct requirements of the root module.
func rootRequirements(t *testing.T) []string {
	t.Helper()
	return requirements(t, ".")
}

// requirements lists the direct requirements of the module in a folder.
func requirements(t *testing.T, folder string) []string {
	t.Helper()
	cmd := exec.Command("go", "mod", "edit", "-json")
	cmd.Dir = filepath.Join(root, folder)
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

// reasons lists the modules in a table of CONTRIBUTING, by the first group of row, which also finds the module.
func reasons(t *testing.T, title, row string) map[string][]string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	section := regexp.MustCompile(`(?s)\n### ` + title + `\n(.*?)(\n#|$)`).FindSubmatch(page)
	if section == nil {
		t.Fatalf("CONTRIBUTING.md has no section %q", "### "+title)
	}
	paths := map[string][]string{}
	for _, m := range regexp.MustCompile(row).FindAllSubmatch(section[1], -1) {
		paths[string(m[1])] = append(paths[string(m[1])], string(m[2]))
	}
	return paths
}
