package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// guide are the pages for operators, seen from here.
var guide = filepath.Join("..", "..", "docs", "guide")

// guideServers are the servers that blocks of the pages speak of without their entries.
var guideServers = []string{"files", "issues", "mail", "notes", "office", "rooms", "search", "shop", "tickets", "weather"}

// TestGuideIsRead holds that every block of settings on the pages of the guide is one that the gateway takes.
func TestGuideIsRead(t *testing.T) {
	entries := make(map[string]any)
	for _, name := range guideServers {
		entries[name] = map[string]string{"url": "https://" + name + ".example/mcp"}
	}
	known, err := json.Marshal(entries)
	if err != nil {
		t.Fatal(err)
	}
	opts := Options{Lookup: func(string) (string, bool) { return "a-value-of-32-characters-or-longer", true }}
	read := 0
	for _, page := range guidePages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range settingsOn(string(text)) {
			if !strings.Contains(block, `"mcpServers"`) {
				block = strings.Replace(block, "{", `{"mcpServers": `+string(known)+", ", 1)
			}
			read++
			if _, err := Read(strings.NewReader(block), filepath.Base(page), opts); err != nil {
				t.Errorf("%s has a block that the gateway does not take: %v\n%s", page, err, block)
			}
		}
	}
	if read == 0 {
		t.Error("no page has a block of settings; the pattern of a block is wrong")
	}
}

func guidePages(t *testing.T) []string {
	t.Helper()
	pages, err := filepath.Glob(filepath.Join(guide, "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatal("there is no page of the guide:", err)
	}
	return pages
}

var jsonBlock = regexp.MustCompile("(?s)\n```jsonc?\n(.*?)\n```\n")

// settingsOn gives the blocks of JSON on a page that are files for the gateway, or for a host with servers.
func settingsOn(page string) (blocks []string) {
	for _, m := range jsonBlock.FindAllStringSubmatch(page, -1) {
		if strings.Contains(m[1], `"gateway":`) || strings.Contains(m[1], `"mcpServers":`) {
			blocks = append(blocks, m[1])
		}
	}
	return blocks
}

// TestSettingsInOneOrder holds that the page of all settings and the documentation of this package name every setting, in the
// order of the normal form.
func TestSettingsInOneOrder(t *testing.T) {
	normal, err := Default().Marshal()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(guide, "gateway-settings.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	whole, page, _ := strings.Cut(page, "\nUnder `gateway.policy`:\n")
	policies, servers, _ := strings.Cut(page, "\nUnder `gateway.servers.NAME`")

	top := keysIn(t, normal, sectionKey)
	own := keysOf((&section{}).perServer("", &ServerSettings{}))
	for _, c := range []struct {
		what string
		got  []string
		want []string
	}{
		{"the page", rowsOf(whole), top},
		{"the page, of policies", rowsOf(policies), keysIn(t, normal, sectionKey, "policy")},
		{"the page, of servers", rowsOf(servers), own},
		{"doc.go", documented(t), top},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s has the settings\n%q\nand the order is\n%q", c.what, c.got, c.want)
		}
	}
}

// keysIn gives the keys of an object within a document, as they are ordered there.
func keysIn(t *testing.T, doc json.RawMessage, path ...string) (keys []string) {
	t.Helper()
	for _, key := range path {
		var object map[string]json.RawMessage
		if err := json.Unmarshal(doc, &object); err != nil {
			t.Fatal(err)
		}
		doc = object[key]
	}
	d := json.NewDecoder(strings.NewReader(string(doc)))
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key.(string))
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			t.Fatal(err)
		}
	}
	return keys
}

func keysOf(settings []setting) (keys []string) {
	for _, s := range settings {
		keys = append(keys, s.key)
	}
	return keys
}

var row = regexp.MustCompile("(?m)^\\| `(\\w+)` \\|")

// rowsOf gives the settings that have a row in a table.
func rowsOf(table string) (keys []string) {
	for _, m := range row.FindAllStringSubmatch(table, -1) {
		keys = append(keys, m[1])
	}
	return keys
}

var docMember = regexp.MustCompile(`(?m)^//\t    "(\w+)":`)

// documented gives the settings in the first example of doc.go, which are indented by one level.
func documented(t *testing.T) (keys []string) {
	t.Helper()
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	example, _, _ := strings.Cut(string(text), "//	  \"mcpServers\":")
	for _, m := range docMember.FindAllStringSubmatch(example, -1) {
		keys = append(keys, m[1])
	}
	return keys
}
