package signon

import (
	"context"
	"errors"

	"github.com/rialto-mcp/rialto/auth/oauth"
	"github.com/rialto-mcp/rialto/gateway/upstream"
)

// The flows that begin with the token which a caller has shown to the gateway.

func (s Settings) exchange(owner *upstream.Owner) oauth.Exchange {
	return oauth.Exchange{
		Issuer: s.Issuer, TokenEndpoint: s.TokenURL, Client: s.client(), Audience: s.Audience, NoResource: s.NoResource,
		Subject: shown(owner), SubjectType: s.subjectType(),
	}
}

func (s Settings) enterprise(owner *upstream.Owner) oauth.Enterprise {
	return oauth.Enterprise{
		Provider: s.Issuer, TokenEndpoint: s.TokenURL, Client: s.client(), Identity: shown(owner), IdentityType: s.subjectType(),
	}
}

func (s Settings) client() oauth.Credentials {
	return oauth.Credentials{ClientID: s.ClientID, Secret: s.ClientSecret}
}

func (s Settings) subjectType() string {
	if s.SubjectType == "" {
		return oauth.TypeAccessToken
	}
	return s.SubjectType
}

// shown gives the token that a caller has come with last.
func shown(owner *upstream.Owner) func(context.Context) (string, error) {
	return func(context.Context) (string, error) {
		if token := owner.Token(); token != "" {
			return token, nil
		}
		return "", errors.New("the caller has shown the gateway no access token that could be exchanged")
	}
}
