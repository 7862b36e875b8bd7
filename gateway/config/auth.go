package config

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/rialto-mcp/rialto/auth"
	"github.com/rialto-mcp/rialto/manager"
)

// Limits of the settings about who may call.
const (
	maxTokens     = 1000
	maxIssuers    = 16
	shortestToken = 16 // characters; a random one of this length cannot be guessed
	longestToken  = 4096
	longestCaller = 64
)

// Ways to treat tokens that are bound to a key of their owner.
const (
	DPoPOff      = "off"      // they are refused
	DPoPOptional = "optional" // they are taken with a proof, beside others
	DPoPRequired = "required" // no others are taken
)

// Auth says who may call over HTTP. It holds no token.
type Auth struct {
	Resource        string   // the public address of the endpoint; "" where no issuer needs it
	Tokens          []Token  // handed out by hand
	Issuers         []Issuer // whose tokens are taken as well
	Scopes          []string // that every caller needs
	ScopesSupported []string // for the metadata
	DPoP            string   // one of the three above
	Public          []string // paths beside the endpoint that need no token

	shown ordered
}

// Token is an access token of the file, of which a digest is kept.
type Token struct {
	Name   string // of the caller
	Digest [sha256.Size]byte
	Hidden bool // what stands in the file is the normal form's mask, which is nobody's token
	Scopes []string
	Roles  []string
}

// Issuer is an authorization server whose signed tokens are taken.
type Issuer struct {
	URL         string
	Audiences   []string // beside the resource
	JWKSURL     string   // "" where the issuer's metadata say it
	Algorithms  []string // nil for the usual ones
	RolesClaim  string
	RequireType bool // tokens must be of the type at+jwt
}

// publicPaths are those that may be served without a token.
var publicPaths = []string{"/", "/healthz", "/readyz"}

func (s *section) auth(v *manager.Value) {
	if v.Kind() == manager.Null { // as the normal form has it
		return
	}
	a := &Auth{DPoP: DPoPOff}
	scopes := func(to *[]string) func(*manager.Value) { return s.texts(to, checkScope) }
	before := s.problems.Empty()
	s.object(v, []setting{
		{"resource", s.text(&a.Resource, auth.CheckAddress)},
		{"tokens", func(v *manager.Value) { s.tokens(v, a) }},
		{"jwt", func(v *manager.Value) { s.issuers(v, a) }},
		{"scopes", scopes(&a.Scopes)},
		{"scopesSupported", scopes(&a.ScopesSupported)},
		{"dpop", s.text(&a.DPoP, checkDPoP)},
		{"public", s.texts(&a.Public, checkPublic)},
	})
	if before && s.problems.Empty() {
		s.fits(v, a)
	}
	a.shown = normalAuth(v, a)
	s.config.Auth = a
	s.contradiction(v)
}

// fits judges what settings say together.
func (s *section) fits(v *manager.Value, a *Auth) {
	switch {
	case len(a.Tokens) == 0 && len(a.Issuers) == 0:
		s.problems.Add(v, "nobody could call: there is no token that would be taken; add tokens or jwt, or leave auth out")
	case len(a.Issuers) > 0 && a.Resource == "":
		s.problems.Add(v, "tokens of an issuer must be made for this gateway; add resource, its public address, such as https://mcp.example.com/mcp")
	case a.DPoP != DPoPOff && len(a.Issuers) == 0:
		s.problems.Add(v.Member("dpop"), "the tokens of a file are bound to no key; write off, or add jwt")
	case a.DPoP == DPoPRequired && len(a.Tokens) > 0:
		s.problems.Add(v.Member("dpop"), "the tokens of a file are bound to no key, and all of them would be refused; write optional, or leave tokens out")
	}
	for i, token := range a.Tokens {
		for _, scope := range a.Scopes {
			if !slices.Contains(token.Scopes, scope) {
				s.problems.Add(v.Member("tokens").Children()[i], "every caller needs the scope %s, and this token does not grant it; add it to its scopes", scope)
			}
		}
	}
}

// contradiction tells of settings that cannot both be meant.
func (s *section) contradiction(v *manager.Value) {
	if s.config.Insecure && s.config.Auth != nil {
		s.problems.Add(v, "insecure lets everybody call, and auth says who may; keep one of them")
	}
}

func (s *section) insecure(v *manager.Value) {
	s.boolean(&s.config.Insecure)(v)
	s.contradiction(v)
}

func (s *section) tokens(v *manager.Value, a *Auth) {
	if !s.is(v, manager.List) {
		return
	}
	if len(v.Children()) > maxTokens {
		s.problems.Add(v, "there are more than %d tokens; let an authorization server hand them out, and name it in jwt", maxTokens)
		return
	}
	names, digests := make(map[string]bool), make(map[[sha256.Size]byte]bool)
	for _, child := range v.Children() {
		var t Token
		s.object(child, []setting{
			{"name", s.text(&t.Name, checkCaller)},
			{"token", func(v *manager.Value) { s.token(v, &t) }},
			{"sha256", func(v *manager.Value) { s.digest(v, &t) }},
			{"scopes", s.texts(&t.Scopes, checkScope)},
			{"roles", s.texts(&t.Roles, checkRole)},
		})
		if child.Kind() == manager.Object {
			s.whole(child, &t, names, digests)
		}
		a.Tokens = append(a.Tokens, t)
	}
}

// whole judges one token beside those before it.
func (s *section) whole(v *manager.Value, t *Token, names map[string]bool, digests map[[sha256.Size]byte]bool) {
	plain, digest := v.Member("token"), v.Member("sha256")
	switch {
	case v.Member("name") == nil:
		s.problems.Add(v, "whose token this is has to be said; add name")
	case plain == nil && digest == nil:
		s.problems.Add(v, "add the token, such as \"${TOKEN}\", or sha256, the digest of it in hexadecimal digits")
	case plain != nil && digest != nil:
		s.problems.Add(v, "this has both token and sha256; keep one of them")
	case t.Name != "" && names[t.Name]:
		s.problems.Add(v, "another token has this name already; choose one for each caller")
	case t.Digest != [sha256.Size]byte{} && digests[t.Digest]:
		s.problems.Add(v, "another entry has this token already, so nobody can tell the two callers apart; make one for each")
	}
	names[t.Name] = true
	if !t.Hidden {
		digests[t.Digest] = true
	}
}

func (s *section) token(v *manager.Value, t *Token) {
	s.guessable(v)
	text, ok := s.expanded(v)
	if !ok {
		return
	}
	written := s.unread(text)
	if t.Hidden = text == mask; t.Hidden || !written && !s.check(v, checkToken(text)) {
		return
	}
	t.Digest = sha256.Sum256([]byte(text))
}

func (s *section) digest(v *manager.Value, t *Token) {
	text, ok := s.expanded(v)
	if !ok {
		return
	}
	raw, err := hex.DecodeString(text)
	switch t.Hidden = text == mask; {
	case t.Hidden:
		return
	case s.unread(text):
		t.Digest = sha256.Sum256([]byte(text))
	case err != nil || len(raw) != sha256.Size:
		s.problems.Add(v, "this must be 64 hexadecimal digits; printf %%s \"$TOKEN\" | sha256sum prints them")
	default:
		t.Digest = [sha256.Size]byte(raw)
	}
}

// issuers reads one issuer or a list of them.
func (s *section) issuers(v *manager.Value, a *Auth) {
	all := []*manager.Value{v}
	if v.Kind() == manager.List {
		all = v.Children()
	}
	if len(all) > maxIssuers {
		s.problems.Add(v, "there are more than %d issuers; put one server in front of them", maxIssuers)
		return
	}
	for _, child := range all {
		var i Issuer
		s.object(child, []setting{
			{"issuer", s.text(&i.URL, auth.CheckAddress)},
			{"audience", s.oneOrMore(&i.Audiences, checkAudience)},
			{"jwksUrl", s.text(&i.JWKSURL, auth.CheckEndpoint)},
			{"algorithms", s.texts(&i.Algorithms, checkAlgorithm)},
			{"rolesClaim", s.text(&i.RolesClaim, checkRole)},
			{"requireType", s.boolean(&i.RequireType)},
		})
		switch {
		case child.Kind() != manager.Object:
		case child.Member("issuer") == nil:
			s.problems.Add(child, "the authorization server is missing; add issuer, as it writes itself in its tokens")
		case i.URL != "" && slices.ContainsFunc(a.Issuers, func(other Issuer) bool { return other.URL == i.URL }):
			s.problems.Add(child, "this issuer stands here twice; put both into one entry")
		}
		a.Issuers = append(a.Issuers, i)
	}
}

// oneOrMore reads a text or a list of texts.
func (s *section) oneOrMore(to *[]string, check func(string) error) func(*manager.Value) {
	return func(v *manager.Value) {
		if v.Kind() == manager.List {
			s.texts(to, check)(v)
			return
		}
		var one string
		if s.text(&one, check)(v); one != "" {
			*to = []string{one}
		}
	}
}
