package seal

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// Limits where the options name none.
const (
	DefaultMaxBytes  = 48 << 10         // of a token
	DefaultMaxStored = 4 << 20          // of one sealed content in a store
	DefaultLife      = 10 * time.Minute // of a token
)

// Options configures a Sealer. The zero value is ready to use.
type Options struct {
	// Ring seals and opens. Nil means a random key, which only this process knows.
	Ring *Ring

	// Server names the server tokens are made by, the same on all its replicas and for as long as tokens of an older
	// release may come back; so leave its version out.
	Server string

	// MaxBytes bounds one token as it travels. Zero means DefaultMaxBytes; negative means no bound.
	MaxBytes int

	// Store takes what is larger. Nil means that it is refused.
	Store StateStore

	// MaxStored bounds what one state takes in the store, in bytes. Zero means DefaultMaxStored; negative means no bound.
	MaxStored int
}

// Sealer makes and opens tokens. It may be used concurrently.
type Sealer struct {
	ring      *Ring
	server    [tagSize]byte
	store     StateStore
	maxBytes  int
	maxStored int
}

// New builds a Sealer. It fails only where the machine offers no key.
func New(o Options) (*Sealer, error) {
	if o.Ring == nil {
		ring, err := NewRing()
		if err != nil {
			return nil, err
		}
		o.Ring = ring
	}
	return &Sealer{
		ring: o.Ring, server: tag(o.Server), store: o.Store,
		maxBytes: bound(o.MaxBytes, DefaultMaxBytes), maxStored: bound(o.MaxStored, DefaultMaxStored),
	}, nil
}

func bound(n, ifZero int) int {
	switch {
	case n == 0:
		return ifZero
	case n < 0:
		return int(^uint(0) >> 1)
	}
	return n
}

// Binding is what the call must have in common with the one a token was made for.
type Binding struct {
	Principal string // [mcp.Principal.Key]; "" is the anonymous one
	Method    string
	Arguments Digest
}

// ChainID names the runs of one call, from its first round to its answer. It is random and not zero.
type ChainID [16]byte

// NewChain makes the id of a call that begins.
func NewChain() ChainID {
	var id ChainID
	rand.Read(id[:])
	return id
}

// String writes the id for logs and idempotency keys, 22 characters of base64url.
func (id ChainID) String() string { return base64.RawURLEncoding.EncodeToString(id[:]) }

// Link is what a token carries about its place: the chain of runs it belongs to, and the round. The caller knows neither
// before the token is opened, so they are authenticated and handed back.
type Link struct {
	Chain ChainID
	Round uint16
}

// The parts of a token; doc.go shows the whole.
const (
	prefix      = "rs1."
	labelStored = "rs1 stored " // before the id

	tagSize     = 16
	fixedSize   = 1 + 8 + 2 + 16 + 3*tagSize + sha256.Size // of the content, before the payload
	sealedExtra = headSize + aeadSize + fixedSize
)

// kind says what the payload of a content is.
type kind byte

const (
	kindInline    kind = 1 // the state itself
	kindReference kind = 2 // the id under which the store has a content with the state itself
)

var encoding = base64.RawURLEncoding.Strict()

// tag is what stands for a name in a content.
func tag(name string) [tagSize]byte {
	var room [128]byte // on the stack
	sum := sha256.Sum256(append(room[:0], name...))
	return [tagSize]byte(sum[:tagSize])
}

// Seal makes a token that holds payload and opens for the same binding until life has passed; a life of zero or less means
// DefaultLife. The token is base64url with a prefix. ctx and the store are used only for what is larger than a token may be.
//
// It fails with [*TooLargeError] before anything is stored or sent, and with what the store answers.
func (s *Sealer) Seal(ctx context.Context, b Binding, at Link, payload []byte, now time.Time, life time.Duration) (string, error) {
	if life <= 0 {
		life = DefaultLife
	}
	c := content{kind: kindInline, expiry: now.Add(life), at: at, binding: b, payload: payload}
	if size := tokenSize(len(payload)); size > s.maxBytes {
		if s.store == nil {
			return "", &TooLargeError{Size: size, Limit: s.maxBytes}
		}
		return s.keep(ctx, c)
	}
	return s.token(c)
}

// ErrNoStore says that a payload was to stay in a store, and there is none.
var ErrNoStore = errors.New("there is no store for the states of calls")

// Keep makes a token like [Sealer.Seal] does, whose payload stays in the store however small it is. It fails with
// [ErrNoStore] where there is none.
func (s *Sealer) Keep(ctx context.Context, b Binding, at Link, payload []byte, now time.Time, life time.Duration) (string, error) {
	if s.store == nil {
		return "", ErrNoStore
	}
	if life <= 0 {
		life = DefaultLife
	}
	return s.keep(ctx, content{expiry: now.Add(life), at: at, binding: b, payload: payload})
}

// Keeps tells whether there is a store.
func (s *Sealer) Keeps() bool { return s.store != nil }

// keep puts a content into the store and makes a token that refers to it.
func (s *Sealer) keep(ctx context.Context, c content) (string, error) {
	c.kind = kindInline
	id, err := s.put(ctx, c)
	if err != nil {
		return "", err
	}
	c.kind, c.payload = kindReference, id
	return s.token(c)
}

// token seals a content.
func (s *Sealer) token(c content) (string, error) {
	sealed, err := s.ring.seal(make([]byte, 0, sealedExtra+len(c.payload)), prefix, s.append(make([]byte, 0, fixedSize+len(c.payload)), c))
	if err != nil {
		return "", err
	}
	return string(encoding.AppendEncode(append(make([]byte, 0, tokenSize(len(c.payload))), prefix...), sealed)), nil
}

// tokenSize is how long a token with so many bytes of payload is.
func tokenSize(payload int) int { return len(prefix) + encoding.EncodedLen(sealedExtra+payload) }

// content is what is sealed.
type content struct {
	kind    kind
	expiry  time.Time
	at      Link
	binding Binding
	payload []byte
}

func (s *Sealer) append(dst []byte, c content) []byte {
	dst = append(dst, byte(c.kind))
	dst = binary.BigEndian.AppendUint64(dst, uint64(c.expiry.UnixMilli()))
	dst = binary.BigEndian.AppendUint16(dst, c.at.Round)
	dst = append(dst, c.at.Chain[:]...)
	principal, method := tag(c.binding.Principal), tag(c.binding.Method)
	dst = append(dst, s.server[:]...)
	dst = append(dst, principal[:]...)
	dst = append(dst, method[:]...)
	dst = append(dst, c.binding.Arguments[:]...)
	return append(dst, c.payload...)
}

// put moves a state into the store and answers its id.
func (s *Sealer) put(ctx context.Context, c content) ([]byte, error) {
	if size := sealedExtra + len(c.payload); size > s.maxStored {
		return nil, &TooLargeError{Size: size, Limit: s.maxStored, Stored: true}
	}
	id := randomBytes(storeIDSize)
	sealed, err := s.ring.seal(nil, labelStored+string(id), s.append(make([]byte, 0, fixedSize+len(c.payload)), c))
	if err != nil {
		return nil, err
	}
	if err := s.store.Put(ctx, storeID(id), sealed, c.expiry); err != nil {
		return nil, fmt.Errorf("put the state of a call into the store: %w", err)
	}
	return id, nil
}
