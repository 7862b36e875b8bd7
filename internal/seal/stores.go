package seal

import (
	"context"
	"encoding/base64"
	"errors"
	"time"
)

// StateStore keeps states that are too large to travel. What it is given is sealed, so it may be a shared cache; it needs no
// protection but against loss. Replicas behind one address share one store. All methods may be called concurrently.
// The contract is tested by sealtest.Stores.
type StateStore interface {
	// Put keeps sealed under an id until expiry at least; a second Put under one id replaces the first. It must not hold
	// on to the slice. An error means that the state is not kept.
	Put(ctx context.Context, id string, sealed []byte, expiry time.Time) error

	// Get answers what Put kept, in a slice of the caller's own, and found false, without an error, for an id it does not
	// know or whose time is over. Reading does not remove.
	Get(ctx context.Context, id string) (sealed []byte, found bool, err error)
}

// Consumer remembers which tokens have been used. Replicas behind one address share one. It may be called concurrently.
// The contract is tested by sealtest.Stores.
type Consumer interface {
	// Consume answers first true to exactly one of all calls with one nonce until expiry has passed; afterwards the nonce
	// may be forgotten. On an error nobody knows, and the token must not be used.
	Consume(ctx context.Context, nonce string, expiry time.Time) (first bool, err error)
}

// ErrFull says that a bounded store has no room until something in it expires. What is in it is never pushed out: a state
// that was handed out is needed, and a nonce forgotten early would be good for a second use.
var ErrFull = errors.New("the store is full; try again later, or give it more room")

// storeIDSize is the size of the random id of a stored state, in bytes.
const storeIDSize = 16

func storeID(id []byte) string { return base64.RawURLEncoding.EncodeToString(id) }
