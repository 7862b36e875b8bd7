package auth

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"fmt"

	"github.com/rialto-mcp/rialto/mcp"
)

// StaticTokens is a Verifier for a few tokens (API keys) that are known beforehand, with whom each stands for: for small
// set-ups without an authorization server. Such tokens are for this server alone and never expire.
//
// The map is copied, and the tokens are not kept: they are compared by a keyed digest, so that the time of a comparison
// tells nothing about them. Use long random ones. Clients send them as any other, in the header Authorization.
func StaticTokens(tokens map[string]mcp.Principal) Verifier {
	digests := make(map[[sha256.Size]byte]mcp.Principal, len(tokens))
	for token, who := range tokens {
		digests[sha256.Sum256([]byte(token))] = who
	}
	return StaticDigests(digests)
}

// StaticDigests is [StaticTokens] for a program that keeps no tokens but their SHA-256 digests alone. That is as good as keeping
// them secret only where tokens are long and random: a short one can be found from its digest.
func StaticDigests(digests map[[sha256.Size]byte]mcp.Principal) Verifier {
	s := &static{owners: make(map[[sha256.Size]byte]mcp.Principal, len(digests))}
	rand.Read(s.key[:]) // never fails
	for digest, who := range digests {
		s.owners[s.keyed(digest)] = who
	}
	return s
}

type static struct {
	key    [32]byte
	owners map[[sha256.Size]byte]mcp.Principal
}

// String says how many tokens there are; so does GoString.
func (s *static) String() string { return fmt.Sprintf("auth.StaticTokens of %d", len(s.owners)) }

// GoString is String, for %#v.
func (s *static) GoString() string { return s.String() }

// keyed is what a token is known by. Nobody outside can choose one, since the key is random.
func (s *static) keyed(digest [sha256.Size]byte) (sum [sha256.Size]byte) {
	mac := hmac.New(sha256.New, s.key[:])
	mac.Write(digest[:])
	mac.Sum(sum[:0])
	return sum
}

// Verify implements Verifier.
func (s *static) Verify(_ context.Context, token string) (*Token, error) {
	who, ok := s.owners[s.keyed(sha256.Sum256([]byte(token)))]
	if !ok {
		return nil, Invalidf("the access token is not known here")
	}
	return &Token{Principal: who, Ours: true}, nil
}
