package jsonrpc_test

import (
	"testing"

	"github.com/rialto-mcp/rialto/jsonrpc"
)

func TestParseID(t *testing.T) {
	for _, token := range []string{`0`, `-0`, `-7`, `9007199254740993`, `""`, `"a"`, `"\u0061"`, `" "`, `"null"`} {
		id, err := jsonrpc.ParseID([]byte(token))
		if err != nil || string(id.Raw()) != token || id.IsZero() || id.String() != token {
			t.Errorf("%s: got %s, %v", token, id, err)
		}
	}
	for _, token := range []string{``, `null`, `true`, `1.0`, `1e0`, `1.5`, `-`, `01`, `-01`, `1-2`, `--1`, `+1`, ` 1`, `1 `, `"a`, `"a" `, `"a"b"`, `"`, "\"\n\"", "\"\xff\"", `{}`, `[1]`} {
		if id, err := jsonrpc.ParseID([]byte(token)); err == nil || !id.IsZero() {
			t.Errorf("%s: got %s, want an error", token, id)
		}
	}
}

func TestIDsAreComparedByToken(t *testing.T) {
	ids := map[jsonrpc.ID]int{}
	for i, token := range []string{`1`, `"1"`, `"a"`, `"\u0061"`, `0`, `""`} {
		id, err := jsonrpc.ParseID([]byte(token))
		if err != nil {
			t.Fatal(err)
		}
		ids[id] = i
	}
	if len(ids) != 6 {
		t.Errorf("two of six tokens fell together: %v", ids)
	}
	if jsonrpc.IntID(1) == jsonrpc.StringID("1") {
		t.Error(`1 is "1"`)
	}
}

func TestZeroID(t *testing.T) {
	var id jsonrpc.ID
	if !id.IsZero() || id.Raw() != nil || id.String() != "(none)" || len(id.Append(nil)) != 0 {
		t.Errorf("got %q, %v", id.Raw(), id)
	}
}

func TestStringIDReplacesInvalidUTF8(t *testing.T) {
	if got, want := jsonrpc.StringID("a\xff\"").String(), "\"a\uFFFD\\\"\""; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestKindNames(t *testing.T) {
	for kind, want := range map[jsonrpc.Kind]string{
		jsonrpc.KindRequest: "request", jsonrpc.KindNotification: "notification", jsonrpc.KindResult: "result",
		jsonrpc.KindError: "error", 0: "no message",
	} {
		if kind.String() != want {
			t.Errorf("got %s, want %s", kind, want)
		}
	}
	if kind := (&jsonrpc.Message{}).Kind(); kind != 0 {
		t.Errorf("an empty message is a %s", kind)
	}
}
