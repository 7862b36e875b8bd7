package negotiate

import (
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

func TestLegacyOnly(t *testing.T) {
	all, err := New(era.Config{Side: era.ServerSide, Info: mcp.Implementation{Name: "s", Version: "1"}})
	if err != nil {
		t.Fatal(err)
	}
	only := all.LegacyOnly()
	if len(only.Modern()) != 0 || strings.Join(only.Legacy(), " ") != strings.Join(all.Legacy(), " ") {
		t.Errorf("modern %q, legacy %q", only.Modern(), only.Legacy())
	}
	if _, ok := only.Codec(mcp.LatestModern); ok {
		t.Error("a modern revision has a codec")
	}
	m, err := jsonrpc.Decode([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"`+mcp.MetaProtocolVersion+`":"2026-07-28"}}}`), Lift)
	if err != nil {
		t.Fatal(err)
	}
	if route := only.ClassifyFrame(m, nil); route.Refusal == nil || route.Refusal.Err.Code != mcp.CodeUnsupportedVersion {
		t.Errorf("a claim is routed to %+v", route)
	}
	if len(all.Modern()) == 0 {
		t.Error("the set itself has lost its modern revisions")
	}
}
