package seal

import (
	"errors"
	"fmt"
)

// ErrInvalid is what every refused token is, whatever the cause. Its text is fit for the peer. What the log may know besides
// stands in [ReasonOf].
var ErrInvalid = errors.New("the request state is invalid or has expired; send the call again without it")

// Reason says why a token was refused, in one stable word for logs and counters. It must not reach the peer.
type Reason string

// The reasons. Those that begin with "bound" mean that the token is sound but was made for something else.
const (
	ReasonMalformed Reason = "malformed"       // not the form of a token
	ReasonTooLarge  Reason = "too_large"       // longer than a token of this server can be
	ReasonKey       Reason = "unknown_key"     // sealed under a key that is not in the ring: another replica's, or an old one
	ReasonAltered   Reason = "altered"         // changed since it was sealed
	ReasonExpired   Reason = "expired"         // its life is over
	ReasonServer    Reason = "bound_server"    // made by a server of another identity
	ReasonPrincipal Reason = "bound_principal" // made for somebody else
	ReasonMethod    Reason = "bound_method"    // made for another method
	ReasonArguments Reason = "bound_arguments" // made for another name or uri, or other arguments
	ReasonGone      Reason = "gone"            // the state store no longer has its content
	ReasonUsed      Reason = "used"            // it was good for one use, and that has been
)

// refusal is ErrInvalid with its reason. Its text is that of ErrInvalid, so that no careless log line or answer tells more.
type refusal struct{ reason Reason }

func (refusal) Error() string        { return ErrInvalid.Error() }
func (refusal) Is(target error) bool { return target == ErrInvalid }

// ReasonOf tells why a token was refused; "" for an error that is no refusal.
func ReasonOf(err error) Reason {
	var r refusal
	if errors.As(err, &r) {
		return r.reason
	}
	return ""
}

// TooLargeError says that a state does not fit. It comes before anything is sent, and is meant for the author of the handler.
type TooLargeError struct {
	Size, Limit int  // in bytes, sealed
	Stored      bool // the limit is that of the store, not that of the token
}

func (e *TooLargeError) Error() string {
	if e.Stored {
		return fmt.Sprintf("the state of this call takes %d bytes and the store takes at most %d; keep less in it, such as the id of a record of your own", e.Size, e.Limit)
	}
	return fmt.Sprintf("the state of this call takes %d bytes sealed and at most %d may travel through the client; keep less in it, raise the limit, or set a state store", e.Size, e.Limit)
}
