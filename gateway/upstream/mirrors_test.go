package upstream

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// choosy is a connection that cannot call one of its tools.
type choosy struct{ *fake }

func (choosy) CheckTool(tool json.RawMessage) error {
	if strings.Contains(string(tool), `"bad"`) {
		return errors.New("x-mcp-header is wrong")
	}
	return nil
}

// A tool that cannot be called by a connection is left out, alone, with the reason.
func TestUncallableTools(t *testing.T) {
	var warnings []string
	lists, err := Read(t.Context(), choosy{newFake(tools("good", "bad", "fine"))}, Tools, func(w string) { warnings = append(warnings, w) })
	if err != nil {
		t.Fatal(err)
	}
	if len(lists.Tools) != 2 || lists.Tools[0].Key != "good" || lists.Tools[1].Key != "fine" {
		t.Errorf("got %v", lists.Tools)
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0], `"bad"`) || !strings.Contains(warnings[0], "x-mcp-header is wrong") {
		t.Errorf("warned of %q", warnings)
	}
}
