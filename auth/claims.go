package auth

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// claims are the members of a token, or of an answer about one, that count. Whatever else there is stays in the principal's
// Claims. RFC 7519, 4.1; RFC 9068, 2.2; RFC 7662, 2.2.
type claims struct {
	Issuer    string   `json:"iss"`
	Subject   string   `json:"sub"`
	Audience  list     `json:"aud"`
	Expiry    *seconds `json:"exp"`
	NotBefore *seconds `json:"nbf"`
	Issued    *seconds `json:"iat"`
	ClientID  string   `json:"client_id"`
	Party     string   `json:"azp"` // what OpenID Connect servers write for the client
	CID       string   `json:"cid"` // what some others do
	Scope     scopes   `json:"scope"`
	SCP       scopes   `json:"scp"` // what some others do
	Confirms  *confirm `json:"cnf"`
}

// confirm says what a token is bound to. RFC 7800; RFC 9449, 6.1.
type confirm struct {
	Thumbprint string                     `json:"jkt"`
	Others     map[string]json.RawMessage `json:",embed"`
}

// seconds is a time as a number of seconds, which may have a fraction.
type seconds float64

// time answers the zero time for a number that no clock will show.
func (s *seconds) time() time.Time {
	if s == nil || *s <= 0 || *s > 1<<40 || math.IsNaN(float64(*s)) {
		return time.Time{}
	}
	whole, fraction := math.Modf(float64(*s))
	return time.Unix(int64(whole), int64(fraction*1e9))
}

// list is one string or an array of them.
type list []string

// UnmarshalJSON implements json.Unmarshaler.
func (l *list) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && raw[0] == '"' {
		*l = []string{""}
		return jsonv2.Unmarshal(raw, &(*l)[0])
	}
	return jsonv2.Unmarshal(raw, (*[]string)(l))
}

// scopes is a text of scopes with blanks between them, or, where servers write it so, an array.
type scopes []string

// UnmarshalJSON implements json.Unmarshaler.
func (s *scopes) UnmarshalJSON(raw []byte) error {
	var some list
	if err := some.UnmarshalJSON(raw); err != nil {
		return err
	}
	*s = nil
	for _, one := range some {
		*s = append(*s, strings.Fields(one)...)
	}
	return nil
}

// token makes a Token of claims that have been found true. raw are all of them.
func (c *claims) token(raw []byte) (*Token, error) {
	client := c.ClientID
	for _, other := range []string{c.Party, c.CID} {
		if client == "" {
			client = other
		}
	}
	out := &Token{
		Principal: mcp.Principal{
			Issuer: c.Issuer, Subject: c.Subject, ClientID: client,
			Scopes: slices.Compact(slices.Concat([]string(c.Scope), []string(c.SCP))), Claims: slices.Clone(raw),
		},
		Audience: c.Audience,
		Expiry:   c.Expiry.time(), NotBefore: c.NotBefore.time(),
	}
	switch {
	case c.Subject == "" && client == "":
		return nil, Invalidf("the access token names neither a subject nor a client")
	case c.Expiry != nil && out.Expiry.IsZero(), c.NotBefore != nil && out.NotBefore.IsZero() && *c.NotBefore != 0:
		return nil, Invalidf("the access token holds a time that is none")
	}
	if c.Confirms != nil {
		if c.Confirms.Thumbprint == "" || len(c.Confirms.Others) > 0 {
			return nil, Invalidf("the access token is bound in a way that is not known here")
		}
		out.KeyThumbprint = c.Confirms.Thumbprint
	}
	return out, nil
}

// rolesOf finds roles in the claims of a token, by the name of a claim or a way through objects.
func rolesOf(payload []byte, claim string) []string {
	if claim == "" {
		return nil
	}
	raw, ok := jsonrpc.Member(payload, claim)
	if !ok {
		raw = payload
		for part := range strings.SplitSeq(claim, ".") {
			if !jsonrpc.IsObject(raw) {
				return nil
			}
			if raw, ok = jsonrpc.Member(raw, part); !ok {
				return nil
			}
		}
	}
	var roles list
	if roles.UnmarshalJSON(raw) != nil {
		return nil
	}
	return roles
}
