package llm_test

import (
	"testing"

	"github.com/rialto-mcp/rialto/llm"
	"github.com/rialto-mcp/rialto/mcp"
)

// nameOf is the name that a file with an address gets.
func nameOf(t *testing.T, uri string) string {
	t.Helper()
	parts := llm.ContentParts([]mcp.Content{&mcp.EmbeddedResource{Resource: mcp.BlobResource(uri, "application/pdf", []byte("%PDF-"))}}, nil, llm.Options{})
	if len(parts) != 1 || parts[0].Kind != llm.FilePart || parts[0].URI != uri {
		t.Fatalf("%s: %+v", uri, parts)
	}
	return parts[0].Name
}

// A model and its user are shown the name of a file as people write it.
func TestFileNames(t *testing.T) {
	for uri, want := range map[string]string{
		"file:///x/a%20b.pdf": "a b.pdf",
		"https://example.com/r%C3%A9sum%C3%A9.pdf?v=2#page=3": "r\u00e9sum\u00e9.pdf",
		"x:/100%.pdf":               "100%.pdf", // no escape
		"x:/a+b.pdf":                "a+b.pdf",  // the plus is a space in queries alone
		"x:/..%2F..%2Fetc%2Fpasswd": "passwd",
		"x:/..%5Cboot.ini":          "boot.ini",
		"x:/a%00%0Ab%FF.pdf":        "ab.pdf",
		"x:/folder%2F":              "",
		"a.pdf":                     "a.pdf",
	} {
		if got := nameOf(t, uri); got != want {
			t.Errorf("%s: got %q, want %q", uri, got, want)
		}
	}
}

// What FileURI makes of a name is read back as that name.
func TestFileURIsAreReadBack(t *testing.T) {
	for name, want := range map[string]string{
		"": "data", "a b.pdf": "a b.pdf", "a%20b.pdf": "a%20b.pdf", "100%": "100%", "what?#1.pdf": "what?#1.pdf",
		"r\u00e9sum\u00e9.pdf": "r\u00e9sum\u00e9.pdf", "a+b&c=d;e.pdf": "a+b&c=d;e.pdf", "in/a/folder.pdf": "folder.pdf", "../up.pdf": "up.pdf", `a\b.pdf`: "b.pdf",
	} {
		if got := nameOf(t, llm.FileURI(name)); got != want {
			t.Errorf("%q became %s and then %q, want %q", name, llm.FileURI(name), got, want)
		}
	}
}
