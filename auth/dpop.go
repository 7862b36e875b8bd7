package auth

import (
	"crypto"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"

	"github.com/rialto-mcp/rialto/server"
)

const (
	headerProof = "Dpop" // as net/http keeps it
	typeProof   = "dpop+jwt"
	maxProof    = 8 << 10
	maxProofID  = 512
)

// proofs judges proofs of possession. RFC 9449, 4.3 and 7.
type proofs struct {
	required   bool
	algorithms []string
	signed     []jose.SignatureAlgorithm // the same
	window     time.Duration
	replays    server.Consumer
	nonces     *nonces // nil where none is asked for
}

// proofAlgorithms are those a proof may be signed with where nothing is said.
var proofAlgorithms = []string{"ES256", "ES384", "ES512", "EdDSA", "PS256", "PS384", "PS512", "RS256"}

func (o *DPoPOptions) check() error {
	if len(o.NonceKey) > 0 && len(o.NonceKey) < minNonceKey {
		return fmt.Errorf("auth: NonceKey has %d bytes; %d random ones are needed", len(o.NonceKey), minNonceKey)
	}
	_, err := algorithms(o.Algorithms, proofAlgorithms)
	return err
}

// newProofs takes options that check has found right.
func newProofs(o DPoPOptions) *proofs {
	p := &proofs{required: o.Required, window: o.Window, replays: o.Replays}
	p.signed, _ = algorithms(o.Algorithms, proofAlgorithms)
	for _, one := range p.signed {
		p.algorithms = append(p.algorithms, string(one))
	}
	if p.window <= 0 {
		p.window = time.Minute
	}
	if p.replays == nil {
		p.replays = server.MemoryNonces(0)
	}
	if len(o.NonceKey) > 0 {
		p.nonces = newNonces(o.NonceKey, o.NonceLife)
	}
	return p
}

// proof is what a proof says.
//
// Shape: {"jti": string, "htm": string, "htu": string, "iat": seconds, "ath": string, "nonce": string}. RFC 9449, 4.2.
type proof struct {
	ID     string   `json:"jti"`
	Method string   `json:"htm"`
	URL    string   `json:"htu"`
	Issued *seconds `json:"iat"`
	Hash   string   `json:"ath"`
	Nonce  string   `json:"nonce"`
}

// check judges the proof of a request for a token that is bound to a key. resource is the public address of the endpoint. The
// proof is remembered last, so that only good ones take up room.
func (p *proofs) check(r *http.Request, resource, token, thumbprint string) error {
	lines := r.Header[headerProof]
	if len(lines) != 1 || len(lines[0]) > maxProof {
		return badProof("send one header DPoP with the proof for this request")
	}
	shown, err := p.open(lines[0], thumbprint)
	if err != nil {
		return err
	}
	if err := shown.fits(r.Method, resource, token); err != nil {
		return err
	}
	if p.nonces != nil && !p.nonces.good(shown.Nonce, time.Now()) {
		return &refusal{
			status: http.StatusUnauthorized, code: errNonce, scheme: schemeDPoP,
			reason: "the proof must hold the nonce of the header DPoP-Nonce",
		}
	}
	issued, now := shown.Issued.time(), time.Now()
	if issued.Before(now.Add(-p.window)) || issued.After(now.Add(p.window)) {
		return badProof("the proof is too old, or the clock of the client is wrong")
	}
	sum := sha256.Sum256([]byte(thumbprint + " " + shown.ID))
	first, err := p.replays.Consume(r.Context(), base64.RawURLEncoding.EncodeToString(sum[:]), issued.Add(p.window+time.Second))
	switch {
	case err != nil:
		return fmt.Errorf("remember a proof: %w", err)
	case !first:
		return badProof("the proof has been used before; make one for each request")
	}
	return nil
}

// open checks the signature of a proof, which is made with the very key that the token is bound to.
func (p *proofs) open(raw, thumbprint string) (*proof, error) {
	signed, err := jose.ParseSignedCompact(raw, p.signed)
	if err != nil {
		return nil, badProof("the proof is no JWT signed with one of " + strings.Join(p.algorithms, ", "))
	}
	header := signed.Signatures[0].Protected
	key := header.JSONWebKey
	if typ, _ := header.ExtraHeaders[jose.HeaderType].(string); !strings.EqualFold(typ, typeProof) || key == nil {
		return nil, badProof("the head of the proof must say typ " + typeProof + " and hold the public key as jwk")
	}
	if !isStrong(key) {
		return nil, badProof("the key of the proof must be public, and an RSA one have 2048 bits or more")
	}
	sum, err := key.Thumbprint(crypto.SHA256) // before the signature, which costs more
	if err != nil || !equal(base64.RawURLEncoding.EncodeToString(sum), thumbprint) {
		return nil, badProof("the proof is made with another key than the access token is bound to")
	}
	payload, err := signed.Verify(key)
	if err != nil {
		return nil, badProof("the signature of the proof is wrong")
	}
	shown := &proof{}
	if err := json.Unmarshal(payload, shown); err != nil || shown.ID == "" || len(shown.ID) > maxProofID || shown.Issued == nil {
		return nil, badProof("the proof must hold jti, htm, htu, iat and ath")
	}
	return shown, nil
}

// fits tells whether a proof is for this request and this token.
func (s *proof) fits(method, resource, token string) error {
	sum := sha256.Sum256([]byte(token))
	switch {
	case s.Method != method:
		return badProof("the proof is for another HTTP method")
	case !sameTarget(s.URL, resource):
		return badProof("the proof is for another address; this one is " + resource)
	case !equal(s.Hash, base64.RawURLEncoding.EncodeToString(sum[:])):
		return badProof("the proof is for another access token")
	}
	return nil
}

// sameTarget compares addresses as RFC 9449 (4.3, 9) has it: without query and fragment, and scheme, host and port by what RFC
// 3986 (6.2.2.1 and 6.2.3) says is the same. Paths are compared as they are written, but that a slash at the end counts for
// nothing, since the endpoint answers both.
func sameTarget(a, b string) bool {
	u, err := url.Parse(a)
	if err != nil || u.Host == "" || u.User != nil {
		return false
	}
	v, err := url.Parse(b)
	return err == nil && strings.EqualFold(u.Scheme, v.Scheme) && authority(u) == authority(v) &&
		strings.TrimSuffix(u.EscapedPath(), "/") == strings.TrimSuffix(v.EscapedPath(), "/")
}

// authority is host and port, the port also where the scheme implies it.
func authority(u *url.URL) string {
	port := u.Port()
	switch {
	case port != "":
	case strings.EqualFold(u.Scheme, "https"):
		port = "443"
	default:
		port = "80"
	}
	return strings.ToLower(u.Hostname()) + " " + port
}

// offerNonce gives the client the nonce for its next proof.
func (p *proofs) offerNonce(header http.Header) {
	if p.nonces == nil {
		return
	}
	header["Dpop-Nonce"] = []string{p.nonces.current(time.Now())}
	header["Access-Control-Expose-Headers"] = exposed(header["Access-Control-Expose-Headers"])
}

// exposed adds the nonce to what pages may read, where they may read anything.
func exposed(lines []string) []string {
	if len(lines) == 0 || slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, "DPoP-Nonce") }) {
		return lines
	}
	return append(slices.Clone(lines), "DPoP-Nonce")
}

// equal compares secrets, and what depends on them, in constant time.
func equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
