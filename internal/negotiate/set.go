package negotiate

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/internal/era/legacy"
	"github.com/rialto-mcp/rialto/internal/era/modern"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// Lift is what every frame has to be decoded with: the members that either codec reads.
var Lift = jsonrpc.NewLift(era.BodyNames, era.MetaNames)

// Universe lists the methods of the specification: the core of both eras. They exist only where a table has them.
func Universe() map[string]bool {
	all := map[string]bool{}
	for _, row := range slices.Concat(legacy.Core(), modern.Core()) {
		all[row.Method] = true
	}
	return all
}

// Set holds the codecs of the revisions that one server or client speaks. It is not changed after New.
type Set struct {
	codecs map[string]era.Codec
	modern []string // revisions of each era, in order of preference
	legacy []string
	who    era.Identity // of a client
}

// New makes the codecs of the revisions in cfg.Served; all that are known, newest first, when it is empty. On a client,
// enabled extensions are declared among its capabilities.
//
// It fails for an unknown revision, an extension that cannot be enabled or takes a method of the core, and an identity
// without a JSON form.
func New(cfg era.Config) (*Set, error) {
	if cfg.Side != era.ServerSide && cfg.Side != era.ClientSide {
		return nil, errors.New("negotiate: the configuration names no side")
	}
	if len(cfg.Served) == 0 {
		cfg.Served = mcp.Versions()
	}
	if err := checkExtensions(cfg.Extensions); err != nil {
		return nil, err
	}
	cfg.ClientCapabilities.Extensions = declared(cfg)
	s := &Set{codecs: make(map[string]era.Codec, len(cfg.Served))}
	universe := Universe()
	for _, revision := range cfg.Served {
		if _, twice := s.codecs[revision]; twice {
			continue
		}
		switch {
		case mcp.IsLegacy(revision):
			s.legacy = append(s.legacy, revision)
			s.codecs[revision] = legacy.New(revision, cfg, universe)
		case mcp.IsModern(revision):
			codec, err := modern.New(revision, cfg, universe)
			if err != nil {
				return nil, err
			}
			s.modern = append(s.modern, revision)
			s.codecs[revision] = codec
		default:
			return nil, fmt.Errorf("protocol revision %q is unknown; use some of %s", revision, strings.Join(mcp.Versions(), ", "))
		}
	}
	return s, s.introduce(cfg)
}

// declared adds the enabled extensions to what a client declares.
func declared(cfg era.Config) map[string]json.RawMessage {
	all := maps.Clone(cfg.ClientCapabilities.Extensions)
	if cfg.Side == era.ServerSide {
		return all
	}
	for _, x := range cfg.Extensions {
		if _, ok := all[x.Identifier]; ok || x.ServerOnly {
			continue
		}
		if all == nil {
			all = map[string]json.RawMessage{}
		}
		all[x.Identifier] = x.SettingsJSON()
	}
	return all
}

func (s *Set) introduce(cfg era.Config) (err error) {
	if s.who.Info, err = json.Marshal(cfg.Info); err != nil {
		return fmt.Errorf("the identity of this side has no JSON form: %w", err)
	}
	if s.who.Capabilities, err = json.Marshal(cfg.ClientCapabilities); err != nil {
		return fmt.Errorf("the capabilities of this side have no JSON form: %w", err)
	}
	return nil
}

// checkExtensions refuses extensions that would take a method away from the core of the era they are for, or from each
// other.
func checkExtensions(extensions []mcp.Extension) error {
	owner := map[string]string{}
	for _, row := range modern.Core() {
		owner[row.Method] = "the specification"
	}
	for _, x := range extensions {
		if err := x.Check(); err != nil {
			return err
		}
		for _, method := range slices.Concat(x.Requests, x.Notifications) {
			if other, taken := owner[method]; taken {
				return fmt.Errorf("extension %s: method %q belongs to %s", x.Identifier, method, other)
			}
			owner[method] = x.Identifier
		}
	}
	return nil
}

// Codec returns the codec of a revision, and whether it is served.
func (s *Set) Codec(revision string) (era.Codec, bool) {
	codec, ok := s.codecs[revision]
	return codec, ok
}

// Modern lists the stateless revisions, best first: what server/discover advertises. The slice is the caller's.
func (s *Set) Modern() []string { return slices.Clone(s.modern) }

// Legacy lists the revisions with a handshake, best first. The slice is the caller's.
func (s *Set) Legacy() []string { return slices.Clone(s.legacy) }

// LegacyOnly returns the set without its modern revisions, for wires that have only the legacy era.
func (s *Set) LegacyOnly() *Set {
	only := &Set{codecs: make(map[string]era.Codec, len(s.legacy)), legacy: s.legacy, who: s.who}
	for _, revision := range s.legacy {
		only.codecs[revision] = s.codecs[revision]
	}
	return only
}

// modernCodec returns the codec of a modern revision.
func (s *Set) modernCodec(revision string) (era.Codec, bool) {
	if !slices.Contains(s.modern, revision) {
		return nil, false
	}
	return s.codecs[revision], true
}

// legacyCodec returns the codec of a legacy revision.
func (s *Set) legacyCodec(revision string) (era.Codec, bool) {
	if !slices.Contains(s.legacy, revision) {
		return nil, false
	}
	return s.codecs[revision], true
}
