package transport

import "cmp"

// EndError is an error for [Peer.Close] that the other side hears of: each call that runs for the peer is answered with it, as far as
// the wire still takes an answer. With any other error such calls end without one, and who waits for them would have to find out.
type EndError struct {
	Why string // why the peer ends, fit for the other side: a sentence without its end
	Err error  // what it is on this side; nil means ErrClosed
}

// ErrDismissed ends the peers, and the calls, of those who may not call any more.
var ErrDismissed = &EndError{Why: "this caller may not call any more"}

// Error implements error.
func (e *EndError) Error() string {
	return e.Why + ", so the call was given up; whether it was done is not known"
}

// Unwrap answers Err, or ErrClosed.
func (e *EndError) Unwrap() error { return cmp.Or(e.Err, ErrClosed) }

// CutError is a stream that ended without the answer to its request, and that the server does not go on with.
type CutError struct {
	Why error // what the server said to that
}

// Error implements error.
func (e *CutError) Error() string {
	return ErrCut.Error() + ", and the server does not take it up again: " + e.Why.Error()
}

// Unwrap answers ErrCut, and not Why: a status that tells that the server has not begun what a request asks for tells that of the
// request to go on, and not of the one that was cut.
func (e *CutError) Unwrap() error { return ErrCut }
