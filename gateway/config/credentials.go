package config

import (
	"errors"
	"slices"
	"strings"

	"github.com/rialto-mcp/rialto/auth"
	"github.com/rialto-mcp/rialto/auth/oauth"
	"github.com/rialto-mcp/rialto/gateway/signon"
	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/manager"
)

// Credentials say with which credentials callers are called for at one server.
type Credentials struct {
	signon.Settings

	shown ordered
}

// subjectTypes are the kinds of tokens that callers may show, as the file has them.
var subjectTypes = map[string]string{
	"access_token": oauth.TypeAccessToken, "jwt": oauth.TypeJWT, "id_token": oauth.IdentityIDToken,
}

// Credentials is what is said of the credentials for a server.
func (c *Config) Credentials(server string) signon.Settings {
	if said := c.PerServer[server].Auth; said != nil {
		return said.Settings
	}
	return signon.Settings{}
}

// credentials reads the key auth of one server.
func (s *section) credentials(name string, own *ServerSettings) func(*manager.Value) {
	return func(v *manager.Value) {
		c, resource := &Credentials{}, true
		before := len(s.problems.List)
		s.object(v, []setting{
			{"type", s.text((*string)(&c.Type), checkType)},
			{"issuer", s.text(&c.Issuer, auth.CheckAddress)},
			{"tokenUrl", s.text(&c.TokenURL, auth.CheckEndpoint)},
			{"clientId", s.text(&c.ClientID, checkClient)},
			{"clientSecret", func(v *manager.Value) {
				s.guessable(v)
				c.ClientSecret, _ = s.expanded(v)
			}},
			{"audience", s.oneOrMore(&c.Audience, checkAudience)},
			{"resource", s.boolean(&resource)},
			{"scopes", s.texts(&c.Scopes, checkScope)},
			{"subjectTokenType", s.text(&c.SubjectType, checkSubject)},
		})
		if len(s.problems.List) == before && v.Kind() == manager.Object {
			s.fitting(v, name, c)
		}
		c.shown = normalCredentials(v, c, resource)
		c.NoResource, c.SubjectType = !resource, subjectTypes[c.SubjectType]
		own.Auth = c
	}
}

// fitting judges what is said of credentials together, and beside the entry of the server.
func (s *section) fitting(v *manager.Value, name string, c *Credentials) {
	entry, usable := s.file.Server(name)
	if !usable {
		entry = &manager.Server{} // it has mistakes of its own
	}
	switch {
	case c.Type == signon.Own:
		s.problems.Add(v, "say how callers come by credentials for this server; add type: login, exchange or enterprise")
	case entry.Transport == manager.Stdio:
		s.problems.Add(v, "a server that is started is shown no tokens; give it credentials under env, or remove this")
	case entry.HasAuthorization():
		s.problems.Add(v, "the entry of the server has an Authorization header of its own; keep one of them")
	case entry.OAuth != nil && entry.OAuth.Off:
		s.problems.Add(v, "the entry of the server says that nobody signs in (oauth); keep one of them")
	case c.Type == signon.Exchange && entry.OAuth != nil:
		s.problems.Add(v, "the entry of the server says oauth, which is not used where tokens are exchanged; keep one of them")
	case c.Type == signon.Login:
		for _, key := range []string{"issuer", "tokenUrl", "clientId", "clientSecret", "audience", "resource", "subjectTokenType"} {
			if other := v.Member(key); other != nil {
				s.problems.Add(other, "with the type login this says nothing; what there is to say of the client stands under oauth in the entry of the server")
				return
			}
		}
	case c.Issuer == "" && c.TokenURL == "":
		s.problems.Add(v, "the authorization server that exchanges tokens is missing; add issuer, or tokenUrl")
	case c.ClientID == "":
		s.problems.Add(v, "the authorization server has to know who asks; add clientId, and clientSecret where the gateway has one")
	}
}

// named says that servers which are called for each caller need callers with names.
func (s *section) named(section *manager.Value) {
	for _, at := range section.Member("servers").Children() {
		switch own := s.config.PerServer[at.Name()]; {
		case own.Auth == nil:
		case s.config.Auth == nil:
			s.problems.Add(at.Member("auth"), "the gateway does not know who its callers are; add gateway.auth, which says who may call")
		case own.Share == upstream.ShareAll:
			s.problems.Add(at.Member("share"), "callers with credentials of their own cannot share a connection; remove this, or write principal or session")
		}
	}
}

func normalCredentials(v *manager.Value, c *Credentials, resource bool) ordered {
	out := ordered{{"type", c.Type}}
	add := func(key string, value any, said bool) {
		if said {
			out = append(out, member{key, value})
		}
	}
	add("issuer", c.Issuer, c.Issuer != "")
	add("tokenUrl", maskURL(c.TokenURL), c.TokenURL != "")
	add("clientId", c.ClientID, c.ClientID != "")
	add("clientSecret", maskValue(v.Member("clientSecret").Text()), v.Member("clientSecret").Text() != "")
	add("audience", c.Audience, len(c.Audience) > 0)
	add("resource", false, !resource)
	add("scopes", c.Scopes, len(c.Scopes) > 0)
	add("subjectTokenType", c.SubjectType, c.SubjectType != "")
	return out
}

func checkType(text string) error {
	if !slices.Contains([]signon.Type{signon.Login, signon.Exchange, signon.Enterprise}, signon.Type(text)) {
		return errors.New("write login, exchange or enterprise")
	}
	return nil
}

func checkSubject(text string) error {
	if subjectTypes[text] == "" {
		return errors.New("write access_token, jwt or id_token")
	}
	return nil
}

func checkClient(id string) error {
	if strings.TrimSpace(id) == "" {
		return errors.New("the id is empty; write what the authorization server knows the gateway by")
	}
	return nil
}
