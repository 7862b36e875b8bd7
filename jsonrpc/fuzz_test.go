package jsonrpc_test

import (
	"errors"
	"testing"

	"github.com/rialto-mcp/rialto/jsonrpc"
)

// FuzzDecode refuses a frame or passes it on with its tokens.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"a":1e400},"_meta":{"claim":"y"}}}`,
		`{"jsonrpc":"2.0","id":"\u0061","result":{"_meta":{}},"x":[1]}`,
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m","data":{ }}}`,
		"{ \"method\" : \"n\" ,\r\n\"jsonrpc\":\"2.0\"}", `[{"a":1},2]`, `{"a":1,"a":2}`, `"`, ``, `{"jsonrpc":"2.0","id":1,"method":"\ud800"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		checkBatch(t, frame)
		m, err := jsonrpc.Decode(frame, lift)
		if err != nil {
			var bad *jsonrpc.FrameError
			if !errors.As(err, &bad) || bad.Code != jsonrpc.CodeParse && bad.Code != jsonrpc.CodeInvalidRequest || bad.Text == "" || bad.Offset > int64(len(frame)) {
				t.Fatalf("%#v", err)
			}
			return
		}
		if m.Kind() == 0 {
			t.Fatalf("%q is of no kind", frame)
		}
		line := m.Append(nil)
		back, err := jsonrpc.Decode(line, lift)
		if err != nil {
			t.Fatalf("%q leaves as %q: %v", frame, line, err)
		}
		if back.ID != m.ID || back.Method != m.Method || back.Kind() != m.Kind() {
			t.Fatalf("%q leaves as %q", frame, line)
		}
		for _, pair := range [][2][]byte{{back.Params, m.Params}, {back.Result, m.Result}} {
			sameTokens(t, "body", pair[0], jsonrpc.AppendRaw(nil, pair[1]))
		}
		sameTokens(t, "unknown members", []byte("{"+string(back.Extra)+"}"), []byte("{"+string(m.Extra)+"}"))
		lean := m.LeanParams([]int{liftName, liftMeta}, []int{metaClaim})
		if _, still := jsonrpc.Member(lean, "name"); still {
			t.Fatalf("name is still in %q", lean)
		}
	})
}

func checkBatch(t *testing.T, frame []byte) {
	elements, err := jsonrpc.SplitBatch(frame, jsonrpc.MaxBatch)
	if err == nil && (len(elements) == 0 || len(elements) > jsonrpc.MaxBatch || !jsonrpc.IsBatch(frame)) {
		t.Fatalf("%d elements in %q", len(elements), frame)
	}
	for _, raw := range elements {
		tokens(t, raw)
	}
}

// FuzzEdit edits what has been decoded: nothing but the members named changes.
func FuzzEdit(f *testing.F) {
	for _, seed := range []string{`{}`, `{"name":1}`, "{ \"a\" : 1 ,\n\"name\":[{}] }", `{"_meta":{"claim":1,"x":"}"},"name":","}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, params []byte) {
		m, err := jsonrpc.Decode([]byte(request(string(params))), lift)
		if err != nil || m.Params == nil || hasEscapedName(t, m.Params) {
			return
		}
		checkEdits(t, m.Params)
	})
}

// hasEscapedName tells whether an object names a member in another way than this side would write it, which rebuilt
// cannot follow.
func hasEscapedName(t *testing.T, obj []byte) bool {
	all := map[string]bool{}
	for _, token := range tokens(t, obj) {
		all[token] = true
	}
	objs := [][]byte{obj}
	if meta, ok := jsonrpc.Member(obj, "_meta"); ok {
		objs = append(objs, meta)
	}
	for _, obj := range objs {
		for name := range jsonrpc.Members(obj) {
			if !all[string(jsonrpc.AppendString(nil, name))] || name == "new" {
				return true
			}
		}
	}
	return false
}
