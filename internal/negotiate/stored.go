package negotiate

import (
	"encoding/json"
	"time"

	"github.com/rialto-mcp/rialto/internal/era/modern"
	"github.com/rialto-mcp/rialto/mcp"
)

// Stored is a verdict to be kept, so that a later connection to the same server need not probe: by the command line of a
// process, by the origin of an address. It can be written as JSON.
type Stored struct {
	Era      string          `json:"era"`                // EraModern or EraLegacy
	Discover json.RawMessage `json:"discover,omitempty"` // what server/discover answered; modern only
	At       time.Time       `json:"at"`                 // when it was found
}

// Values of Stored.Era.
const (
	EraModern = "modern"
	EraLegacy = "legacy"
)

// Store makes a verdict worth keeping. False means that there is nothing to keep: only a server that has been met as
// modern, or has shown itself legacy, is remembered.
func (v Verdict) Store(now time.Time) (Stored, bool) {
	switch v.Finding {
	case FoundModern:
		return Stored{Era: EraModern, Discover: v.Greeting.Raw, At: now}, true
	case FoundLegacy:
		return Stored{Era: EraLegacy, At: now}, true
	}
	return Stored{}, false
}

// Fresh tells whether the verdict is younger than a limit. One from the future is not.
func (st Stored) Fresh(now time.Time, limit time.Duration) bool {
	age := now.Sub(st.At)
	return age >= 0 && age < limit
}

// Resume turns a stored verdict back into one to act on, without a probe. It fails with mcp.CodeNegotiationFailed when
// the record is malformed or when this side no longer shares a revision with the server; a probe is in order then.
func (s *Set) Resume(st Stored) (Verdict, error) {
	discover := st.Discover
	if string(discover) == "null" {
		discover = nil
	}
	switch {
	case st.Era == EraLegacy && discover != nil:
		return Verdict{}, badRecord("a legacy server has no answer to server/discover")
	case st.Era == EraLegacy && len(s.legacy) == 0:
		return Verdict{}, badRecord("the server is a legacy one, and no legacy revision is allowed here")
	case st.Era == EraLegacy:
		return Verdict{Finding: FoundLegacy}, nil
	case st.Era != EraModern:
		return Verdict{}, badRecord("the era must be %q or %q, got %q", EraModern, EraLegacy, st.Era)
	}
	greeting, err := modern.NewOpening(s.modern).Read(discover)
	switch {
	case err != nil:
		return Verdict{}, badRecord("%v", err)
	case greeting.Revision == "":
		return Verdict{}, s.nothingShared(greeting.Supported)
	}
	return Verdict{Finding: FoundModern, Revision: greeting.Revision, Greeting: greeting, IsModern: true}, nil
}

func badRecord(format string, args ...any) *mcp.Error {
	return mcp.Errorf(mcp.CodeNegotiationFailed, "the stored verdict cannot be used: "+format, args...)
}
