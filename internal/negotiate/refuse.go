package negotiate

import (
	"strconv"
	"strings"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/mcp"
)

// unserved refuses a revision: row 4. requested is "" when the message named none; named tells that from an empty name.
//
// Data: {"supported": [...], "requested"?: string}. supported lists what a modern request may claim, and so no legacy
// revision where modern ones are served; the text names all, for people.
func (s *Set) unserved(requested string, named bool) *era.Refusal {
	data := struct {
		Supported []string `json:"supported"`
		Requested *string  `json:"requested,omitzero"`
	}{Supported: s.modern}
	if len(s.modern) == 0 {
		data.Supported = s.legacy
	}
	text := "this message names no protocol version; "
	if named {
		data.Requested = &requested
		text = "protocol version " + strconv.Quote(requested) + " is not served here this way; "
	}
	err := mcp.Errorf(mcp.CodeUnsupportedVersion, "%s", text+s.waysIn())
	return era.Refuse(era.RowVersion, err.WithData(data))
}

// waysIn tells how to talk to this side.
func (s *Set) waysIn() string {
	var ways []string
	if len(s.modern) > 0 {
		ways = append(ways, "send each request with "+mcp.MetaProtocolVersion+" in params._meta ("+strings.Join(s.modern, ", ")+")")
	}
	if len(s.legacy) > 0 {
		ways = append(ways, "open a session with initialize ("+strings.Join(s.legacy, ", ")+")")
	}
	return strings.Join(ways, ", or ")
}

func invalid(row int, format string, args ...any) *era.Refusal {
	return era.Refuse(row, mcp.Errorf(mcp.CodeInvalidRequest, format, args...))
}

// badHeader refuses the version header of a legacy message.
func (s *Set) badHeader(version string) *era.Refusal {
	return invalid(era.RowVersion, "the header MCP-Protocol-Version names %q, which is not served here; %s", version, s.waysIn())
}
