package jsonrpc_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/jsonrpc"
)

func TestSplitBatch(t *testing.T) {
	long := "[" + strings.Repeat("1,", 100) + "1]"
	cases := []struct {
		name, frame string
		want        []string
		code        int64 // 0 for none
		text        string
	}{
		{"two", ` [ {"a":1} , {"b":[2]} ] `, []string{`{"a":1}`, `{"b":[2]}`}, 0, ""},
		{"what is no message", `[1,null,"x",[]]`, []string{`1`, `null`, `"x"`, `[]`}, 0, ""},
		{"as many as may be", "[" + strings.Repeat("1,", 99) + "1]", slices.Repeat([]string{"1"}, 100), 0, ""},
		{"one more", long, nil, jsonrpc.CodeInvalidRequest, "101 messages in one array; the limit is 100"},
		{"too long and broken", long + "]", nil, jsonrpc.CodeParse, "not valid JSON"},
		{"empty", `[ ]`, nil, jsonrpc.CodeInvalidRequest, "an empty array"},
		{"object", `{}`, nil, jsonrpc.CodeInvalidRequest, "not an array"},
		{"no JSON", `xyz`, nil, jsonrpc.CodeParse, "not valid JSON"},
		{"nothing", ``, nil, jsonrpc.CodeParse, "ends too early"},
		{"cut off", `[1,`, nil, jsonrpc.CodeParse, "ends too early"},
		{"cut off before a comma", `[1`, nil, jsonrpc.CodeParse, "ends too early"},
		{"two arrays", `[1][2]`, nil, jsonrpc.CodeParse, "more than one"},
		{"duplicate names", `[{"a":1,"a":2}]`, nil, jsonrpc.CodeParse, "stands twice"},
		{"too deep", strings.Repeat("[", 129) + strings.Repeat("]", 129), nil, jsonrpc.CodeParse, "deeper than 128"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			raws, err := jsonrpc.SplitBatch([]byte(c.frame), jsonrpc.MaxBatch)
			var bad *jsonrpc.FrameError
			switch errors.As(err, &bad) {
			case c.code == 0:
				t.Fatal(err)
			case true:
				if bad.Code != c.code || !strings.Contains(bad.Text, c.text) {
					t.Errorf("got %d: %s", bad.Code, bad.Text)
				}
			}
			var got []string
			for _, raw := range raws {
				got = append(got, string(raw))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestIsBatch(t *testing.T) {
	for frame, want := range map[string]bool{"[]": true, " \t\r\n[": true, "": false, "{}": false, "  ": false, "\x00[": false} {
		if jsonrpc.IsBatch([]byte(frame)) != want {
			t.Errorf("%q: got %v", frame, !want)
		}
	}
}
