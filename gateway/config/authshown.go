package config

import "github.com/rialto-mcp/rialto/manager"

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
