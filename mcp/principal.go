package mcp

import (
	"encoding/json"
	"slices"
	"strconv"
)

// Principal is who a request acts for, as an authorization layer found out. The zero value is the anonymous one.
// It is never taken from a message, and holds no token. Its methods take nil, where no layer has found out anything, for the anonymous one.
type Principal struct {
	Issuer   string          `json:"issuer,omitempty"`
	Subject  string          `json:"subject,omitempty"`
	ClientID string          `json:"clientId,omitempty"`
	Scopes   []string        `json:"scopes,omitempty"`
	Roles    []string        `json:"roles,omitempty"`  // or groups: what the caller is, where the layer knows that
	Claims   json.RawMessage `json:"claims,omitempty"` // all claims as received
}

// IsZero reports whether nobody is known.
func (p *Principal) IsZero() bool {
	return p == nil || p.Issuer == "" && p.Subject == "" && p.ClientID == ""
}

// HasScope reports whether a scope was granted.
func (p *Principal) HasScope(scope string) bool { return p != nil && slices.Contains(p.Scopes, scope) }

// HasRole reports whether the caller has a role, or is in a group.
func (p *Principal) HasRole(role string) bool { return p != nil && slices.Contains(p.Roles, role) }

// Key names the principal in maps, sessions and sealed states: issuer, subject and client, written so that no two
// principals share one. It is "" for the anonymous principal. Scopes and roles may change between requests and are left out.
func (p *Principal) Key() string {
	if p.IsZero() {
		return ""
	}
	key := make([]byte, 0, len(p.Issuer)+len(p.Subject)+len(p.ClientID)+12)
	for _, part := range []string{p.Issuer, p.Subject, p.ClientID} {
		key = strconv.AppendInt(key, int64(len(part)), 10)
		key = append(key, ':')
		key = append(key, part...)
	}
	return string(key)
}
