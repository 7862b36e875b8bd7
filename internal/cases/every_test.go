package cases

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// about lists the cases that concern a server: its wires, its sessions and streams, what it reads and writes, what it leaves
// behind and whom it lets in. Of cases that concern other parts too it is the server's half that is meant.
var about = map[string][]string{
	"eras":     {"001", "002", "006", "008", "010", "016"},
	"sessions": {"019", "021", "022", "027", "028", "029", "089", "098", "111"},
	"streams":  {"015", "018", "031", "032", "034", "035", "037", "058", "061"},
	"wire":     {"047", "051", "052", "054", "055", "062"},
	"pipes":    {"003", "004", "040", "041", "080", "082"},
	"values":   {"049", "064", "065", "067", "068", "070"},
	"lists":    {"073", "077", "079", "106"},
	"end":      {"038", "109"},
}

var caseTest = regexp.MustCompile(`(?m)^func TestC([0-9]{3})[A-Z]\w*\(t \*testing\.T\)`)

// aboutClients lists the cases that concern a client: over HTTP, in authorization, and with a process of its own. Of cases that
// concern other parts too it is the client's half that is meant, which lies beside the client, its transports or the logins.
var aboutClients = map[string][]string{
	"eras":          {"003", "004", "024", "025"},
	"streams":       {"015", "018", "034", "035", "037", "057", "058", "059", "109"},
	"lists":         {"065", "072", "073", "078", "100", "105"},
	"pipes":         {"040", "041", "042", "043", "080", "082", "083", "114"},
	"authorization": {"085", "086", "089", "090", "091", "092", "094", "095"},
}

// clientFolders are where tests of clients lie, beside this one.
var clientFolders = regexp.MustCompile(`^(client|auth|transport|internal/cases)/`)

// Each case has a test, wherever in the tree it lies.
func TestEveryCase(t *testing.T) {
	held := map[string][]string{}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && path != root && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, found := range caseTest.FindAllSubmatch(text, -1) {
			held[string(found[1])] = append(held[string(found[1])], path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for subject, numbers := range aboutClients {
		for _, number := range numbers {
			if !slices.ContainsFunc(held[number], func(path string) bool {
				return clientFolders.MatchString(strings.TrimPrefix(filepath.ToSlash(path), "../../"))
			}) {
				t.Errorf("no test of a client is named for case %s (%s): a test function TestC%s... is missing", number, subject, number)
			}
		}
	}
	for subject, numbers := range about {
		for _, number := range numbers {
			if len(held[number]) == 0 {
				t.Errorf("no test is named for case %s (%s): a test function TestC%s... is missing", number, subject, number)
			}
		}
	}
}
