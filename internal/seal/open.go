package seal

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"
	"time"
)

// Opened is what a token held.
type Opened struct {
	Payload []byte
	Link    Link      // the chain it belongs to, and the round
	Nonce   string    // names this token and no other, 22 characters
	Expiry  time.Time // the token opens until then, this moment excluded; whole milliseconds
}

// Open reads a token that came back with a call. b is what the call says now, and now must lie before the token's expiry.
// The store is asked only when the token is sound in all respects.
//
// It fails with [ErrInvalid] for any token that must not be used, and with another error when the store or the machine
// failed, which is not the peer's fault.
func (s *Sealer) Open(ctx context.Context, token string, b Binding, now time.Time) (Opened, error) {
	sealed, reason := s.decode(token)
	if reason != "" {
		return Opened{}, refusal{reason}
	}
	kind, opened, err := s.check(prefix, sealed, b, now)
	if err != nil {
		return Opened{}, err
	}
	opened.Nonce = base64.RawURLEncoding.EncodeToString(sealed[keyIDSize:headSize])
	switch kind {
	case kindInline:
		return opened, nil
	case kindReference:
		return s.follow(ctx, opened, b, now)
	}
	return Opened{}, refusal{ReasonMalformed}
}

// decode looks at the form alone, which whoever sent the token knows as well as we do.
func (s *Sealer) decode(token string) ([]byte, Reason) {
	if len(token) > s.maxBytes && len(token) > tokenSize(storeIDSize) {
		return nil, ReasonTooLarge
	}
	text, ok := strings.CutPrefix(token, prefix)
	if !ok || strings.ContainsAny(text, "\r\n") { // the decoder would skip line breaks
		return nil, ReasonMalformed
	}
	sealed, err := encoding.DecodeString(text)
	if err != nil || len(sealed) < sealedExtra {
		return nil, ReasonMalformed
	}
	return sealed, ""
}

// check opens a sealed content and compares all of it before it judges.
func (s *Sealer) check(label string, sealed []byte, b Binding, now time.Time) (kind, Opened, error) {
	plain, reason, err := s.ring.open(label, sealed)
	if err != nil {
		return 0, Opened{}, err
	}
	if reason != "" {
		plain = make([]byte, fixedSize)
	}
	k := kind(plain[0])
	expiry := time.UnixMilli(int64(binary.BigEndian.Uint64(plain[1:])))
	o := Opened{Expiry: expiry, Link: Link{Round: binary.BigEndian.Uint16(plain[9:]), Chain: ChainID(plain[11:27])}, Payload: plain[fixedSize:]}
	principal, method := tag(b.Principal), tag(b.Method)
	rest := plain[27:fixedSize]
	sameServer := subtle.ConstantTimeCompare(rest[:tagSize], s.server[:])
	samePrincipal := subtle.ConstantTimeCompare(rest[tagSize:2*tagSize], principal[:])
	sameMethod := subtle.ConstantTimeCompare(rest[2*tagSize:3*tagSize], method[:])
	sameArguments := subtle.ConstantTimeCompare(rest[3*tagSize:], b.Arguments[:])
	switch {
	case reason != "":
	case sameServer == 0:
		reason = ReasonServer
	case samePrincipal == 0:
		reason = ReasonPrincipal
	case sameMethod == 0:
		reason = ReasonMethod
	case sameArguments == 0:
		reason = ReasonArguments
	case !now.Before(expiry):
		reason = ReasonExpired
	default:
		return k, o, nil
	}
	return 0, Opened{}, refusal{reason}
}

// follow fetches the content a token refers to. The stored content is sealed and bound as the token is, to its id besides,
// so whoever can write to the store can lose a state but not change or exchange one.
func (s *Sealer) follow(ctx context.Context, ref Opened, b Binding, now time.Time) (Opened, error) {
	if s.store == nil || len(ref.Payload) != storeIDSize {
		return Opened{}, refusal{ReasonGone}
	}
	sealed, found, err := s.store.Get(ctx, storeID(ref.Payload))
	if err != nil {
		return Opened{}, fmt.Errorf("get the state of a call from the store: %w", err)
	}
	if !found {
		return Opened{}, refusal{ReasonGone}
	}
	if len(sealed) < sealedExtra {
		return Opened{}, refusal{ReasonAltered}
	}
	_, inner, err := s.check(labelStored+string(ref.Payload), sealed, b, now)
	if err != nil {
		return Opened{}, err
	}
	ref.Payload = inner.Payload
	return ref, nil
}

// skew is how long a consumed nonce is remembered after its token's end, for replicas whose clocks differ.
const skew = time.Minute

// Use makes the token good for one use: it fails with [ErrInvalid] when c has seen it before, and with another error when c
// failed. Call it when everything else about the retry has been checked, right before its effect.
func (o Opened) Use(ctx context.Context, c Consumer) error {
	first, err := c.Consume(ctx, o.Nonce, o.Expiry.Add(skew))
	switch {
	case err != nil:
		return fmt.Errorf("look up whether a request state was used: %w", err)
	case !first:
		return refusal{ReasonUsed}
	}
	return nil
}
