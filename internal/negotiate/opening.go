package negotiate

import (
	"slices"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/internal/era/legacy"
	"github.com/rialto-mcp/rialto/internal/era/modern"
)

// Discover returns the modern opening and the codec to send it with: the one of a revision, the preferred one for "". False
// means that this side speaks no such modern revision.
func (s *Set) Discover(revision string) (era.Codec, era.Opening, bool) {
	if revision == "" && len(s.modern) > 0 {
		revision = s.modern[0]
	}
	codec, ok := s.modernCodec(revision)
	if !ok {
		return nil, nil, false
	}
	return codec, modern.NewOpening(slices.Clone(s.modern)), true
}

// Initialize returns the legacy opening and the codec to send its request with; what follows is sent with the codec of
// Greeting.Revision. who replaces the identity of the configuration where its members are set. False means that this
// side speaks no legacy revision.
func (s *Set) Initialize(who era.Identity) (era.Codec, era.Opening, bool) {
	if len(s.legacy) == 0 {
		return nil, nil, false
	}
	if who.Info == nil {
		who.Info = s.who.Info
	}
	if who.Capabilities == nil {
		who.Capabilities = s.who.Capabilities
	}
	return s.codecs[s.legacy[0]], legacy.NewOpening(slices.Clone(s.legacy), who), true
}
