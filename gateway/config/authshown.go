package config

import (
	"fmt"

	"github.com/rialto-mcp/rialto/manager"
)

// String says how much there is: the file, which is kept, may hold secrets. [Config.Marshal] shows a configuration.
func (c Config) String() string { return fmt.Sprintf("config.Config of %d servers", len(c.Servers)) }

// GoString is String, for %#v.
func (c Config) GoString() string { return c.String() }

// MarshalText is String, for logs in JSON.
func (c Config) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// String says how many callers and issuers there are.
func (a Auth) String() string {
	return fmt.Sprintf("config.Auth{Resource: %q, Tokens: %d, Issuers: %d}", a.Resource, len(a.Tokens), len(a.Issuers))
}

// GoString is String, for %#v.
func (a Auth) GoString() string { return a.String() }

// MarshalText is String, for logs in JSON.
func (a Auth) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// String says whose the token is, and nothing by which it could be found.
func (t Token) String() string { return fmt.Sprintf("config.Token{Name: %q}", t.Name) }

// GoString is String, for %#v.
func (t Token) GoString() string { return t.String() }

// MarshalText is String, for logs in JSON.
func (t Token) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// String names the issuer, and not where its keys are: the address may hold a secret.
func (i Issuer) String() string { return fmt.Sprintf("config.Issuer{URL: %q}", i.URL) }

// GoString is String, for %#v.
func (i Issuer) GoString() string { return i.String() }

// MarshalText is String, for logs in JSON.
func (i Issuer) MarshalText() ([]byte, error) { return []byte(i.String()), nil }

// normalAuth is the normal form of what v says. It must be made while the texts of the file are there: the tokens are not kept.
func normalAuth(v *manager.Value, a *Auth) ordered {
	tokens := []ordered{}
	for i, child := range v.Member("tokens").Children() {
		if i >= len(a.Tokens) {
			break
		}
		one := ordered{{"name", a.Tokens[i].Name}}
		for _, key := range []string{"token", "sha256"} {
			if secret := child.Member(key); secret != nil {
				one = append(one, member{key, maskValue(secret.Text())})
			}
		}
		one = appendList(one, "scopes", a.Tokens[i].Scopes)
		tokens = append(tokens, appendList(one, "roles", a.Tokens[i].Roles))
	}
	issuers := []ordered{}
	for _, i := range a.Issuers {
		one := ordered{{"issuer", i.URL}}
		one = appendList(one, "audience", i.Audiences)
		if i.JWKSURL != "" {
			one = append(one, member{"jwksUrl", maskURL(i.JWKSURL)})
		}
		one = appendList(one, "algorithms", i.Algorithms)
		if i.RolesClaim != "" {
			one = append(one, member{"rolesClaim", i.RolesClaim})
		}
		issuers = append(issuers, append(one, member{"requireType", i.RequireType}))
	}
	out := ordered{}
	if a.Resource != "" {
		out = append(out, member{"resource", a.Resource})
	}
	return append(out, member{"tokens", tokens}, member{"jwt", issuers}, member{"scopes", list(a.Scopes)},
		member{"scopesSupported", list(a.ScopesSupported)}, member{"dpop", a.DPoP}, member{"public", list(a.Public)})
}

// appendList adds a list that is not empty.
func appendList(o ordered, key string, texts []string) ordered {
	if len(texts) == 0 {
		return o
	}
	return append(o, member{key, texts})
}

// normalAuth is null where everybody may call.
func (c *Config) normalAuth() any {
	if c.Auth == nil {
		return nil
	}
	return c.Auth.shown
}
