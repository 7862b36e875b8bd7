package negotiate

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/internal/era/modern"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// Probe is what became of a server/discover that was sent to find out the era of a server.
type Probe struct {
	HTTP  bool // over HTTP; otherwise over a pipe to a process
	Again bool // this was the second probe, after a -32022 that listed a revision of ours

	Result json.RawMessage // the result, as it came
	Error  *jsonrpc.Error  // the error, in the answer or in the body of a refused POST
	Status int             // HTTP status of the answer to the POST; 0 for none
	Silent bool            // no answer within the limit
	Closed bool            // the connection ended first
	Fault  error           // the probe could not be sent or its answer not be read
}

// Finding is what a probe has shown.
type Finding uint8

// The findings.
const (
	FoundModern Finding = iota + 1 // go on with Verdict.Revision; the server has been met
	FoundLegacy                    // open with initialize
	ProbeAgain                     // probe once more, with Verdict.Revision
	Undecided                      // the probe says nothing about the era; Err says what went wrong
	Hopeless                       // no common revision or a broken answer; Err says what to tell the user
)

// Verdict is what to do after a probe.
type Verdict struct {
	Finding  Finding
	Revision string        // modern revision of FoundModern and ProbeAgain
	Greeting *era.Greeting // of FoundModern

	// Restart says that the process has ended on the probe, and is started once more before initialize.
	Restart bool

	// IsModern says that the server has proven modern, whatever else; nothing may be opened with initialize then.
	IsModern bool

	Err *mcp.Error // of Undecided and Hopeless
}

// Judge says what a probe has shown. A modern error (-32020, -32021, -32022) proves a modern server; a lack of
// authorization, a failing server and a broken network say nothing; everything else means legacy. It never keys on one
// code. Spec 2026-07-28, basic/transports, "Backward Compatibility"; TestJudge lists every case.
func (s *Set) Judge(p Probe) Verdict {
	switch {
	case p.Fault != nil:
		return undecided(mcp.Errorf(mcp.CodeNegotiationFailed, "%v", p.Fault).Because(p.Fault))
	case p.HTTP && saysNothing(p.Status):
		return undecided(mcp.Errorf(mcp.CodeNegotiationFailed, "the server answered the first request with HTTP %d", p.Status))
	case p.Error != nil:
		return s.judgeError(p)
	case p.Result != nil:
		return s.judgeResult(p.Result)
	case p.Closed && p.HTTP:
		return undecided(mcp.Errorf(mcp.CodeNegotiationFailed, "the server closed the connection before it answered the first request"))
	case p.Closed:
		v := s.fallBack("the server ended on the first request")
		v.Restart = v.Finding == FoundLegacy
		return v
	case p.Silent && p.HTTP:
		return undecided(mcp.Errorf(mcp.CodeRequestTimeout, "the server did not answer the first request in time"))
	case p.Silent:
		return s.fallBack("the server did not answer server/discover in time")
	}
	return s.fallBack(fmt.Sprintf("the server refused server/discover with HTTP %d", p.Status))
}

// saysNothing tells whether a status comes from what stands before the protocol: authorization (of a proxy too), a limit
// on requests, a failure.
func saysNothing(status int) bool {
	return status == 401 || status == 403 || status == 407 || status == 429 || status >= 500
}

func undecided(err *mcp.Error) Verdict { return Verdict{Finding: Undecided, Err: err} }

func (s *Set) judgeResult(result json.RawMessage) Verdict {
	greeting, err := modern.NewOpening(s.modern).Read(result)
	switch {
	case err != nil:
		return s.fallBack(err.Error())
	case greeting.Revision != "":
		return Verdict{Finding: FoundModern, Revision: greeting.Revision, Greeting: greeting, IsModern: true}
	case s.listsLegacy(greeting.Supported):
		return Verdict{Finding: FoundLegacy}
	}
	return Verdict{Finding: Hopeless, IsModern: true, Err: s.nothingShared(greeting.Supported)}
}

func (s *Set) judgeError(p Probe) Verdict {
	switch mcp.Code(p.Error.Code) {
	case mcp.CodeUnsupportedVersion:
		return s.judgeUnserved(p)
	case mcp.CodeHeaderMismatch, mcp.CodeMissingCapability:
		return Verdict{Finding: Hopeless, IsModern: true, Err: era.ReadError(p.Error)}
	}
	return s.fallBack(fmt.Sprintf("the server answered server/discover with error %d: %s", p.Error.Code, p.Error.Message))
}

// judgeUnserved reads the offer of a server that does not serve the revision of the probe. A legacy revision on the list
// is an offer like any other.
func (s *Set) judgeUnserved(p Probe) Verdict {
	supported := supportedOf(p.Error.Data)
	if len(supported) == 0 {
		err := mcp.Errorf(mcp.CodeUnsupportedVersion,
			"the server does not serve the protocol version it was asked in and names none that it serves; it said: %s (data: %.200s)",
			p.Error.Message, p.Error.Data)
		err.Remote, err.Data = true, p.Error.Data
		return Verdict{Finding: Hopeless, IsModern: true, Err: err}
	}
	if revision, ok := firstOf(s.modern, supported); ok {
		if p.Again {
			return Verdict{Finding: Hopeless, IsModern: true, Err: era.ReadError(p.Error)}
		}
		return Verdict{Finding: ProbeAgain, Revision: revision, IsModern: true}
	}
	if s.listsLegacy(supported) {
		return Verdict{Finding: FoundLegacy}
	}
	return Verdict{Finding: Hopeless, IsModern: true, Err: s.nothingShared(supported)}
}

// supportedOf reads data.supported where it is a list of strings.
func supportedOf(data json.RawMessage) []string {
	var wire struct {
		Supported []string `json:"supported"`
	}
	if jsonv2.Unmarshal(data, &wire) != nil {
		return nil
	}
	return wire.Supported
}

func firstOf(ours, theirs []string) (string, bool) {
	for _, revision := range ours {
		if slices.Contains(theirs, revision) {
			return revision, true
		}
	}
	return "", false
}

func (s *Set) listsLegacy(supported []string) bool {
	_, ok := firstOf(s.legacy, supported)
	return ok
}

// fallBack opens with initialize where this side speaks a legacy revision.
func (s *Set) fallBack(why string) Verdict {
	if len(s.legacy) > 0 {
		return Verdict{Finding: FoundLegacy}
	}
	return Verdict{Finding: Hopeless, Err: mcp.Errorf(mcp.CodeNegotiationFailed,
		"this does not look like a server of %s, and nothing older is allowed here: %s", strings.Join(s.modern, ", "), why)}
}

func (s *Set) nothingShared(supported []string) *mcp.Error {
	ours := slices.Concat(s.modern, s.legacy)
	return mcp.Errorf(mcp.CodeUnsupportedVersion, "no protocol version is shared: this client speaks %s, the server %s",
		strings.Join(ours, ", "), strings.Join(supported, ", ")).
		WithData(map[string][]string{"client": ours, "server": supported})
}
