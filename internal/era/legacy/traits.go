package legacy

import (
	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/mcp"
)

// traitsOf answers what a peer of a revision may do. Revisions are dates, so text order is time order.
//
// 2024-11-05 has no transport with sessions, but a client that negotiates it over Streamable HTTP knows that transport
// and its sessions, so Sessions and Resumable hold for it too.
func traitsOf(revision string) *era.Traits {
	var (
		since0326 = revision >= mcp.Version20250326
		since0618 = revision >= mcp.Version20250618
		since1125 = revision >= mcp.Version20251125
	)
	return &era.Traits{
		Handshake:            true,
		ServerMayCall:        true,
		Unsolicited:          true,
		Sessions:             true,
		Resumable:            true,
		PrimesStreams:        since1125,
		Batches:              !since0618,
		ErrorIDOptional:      since1125,
		CancelIDOptional:     since1125,
		InputErrorsAsResults: since1125,
		StructuredContent:    since0618,
		Completions:          since0326,
		Elicitation:          since0618,
		URLElicitation:       since1125,
		SamplingTools:        since1125,
		Tasks:                since1125,
		TaskResults:          since1125,
		FinalTasks:           since1125,
	}
}

// namesRevision tells whether a revision has the MCP-Protocol-Version header.
func namesRevision(revision string) bool { return revision >= mcp.Version20250618 }
