package transport

import (
	"context"
	"time"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// Exchange is one incoming message and the way back for all that belongs to it. A binding makes it; nothing of it
// outlives the answer.
type Exchange interface {
	Sink

	// Message is what came in.
	Message() *jsonrpc.Message

	// Codec speaks the revision the message belongs to.
	Codec() era.Codec

	// Peer is the process or session it belongs to; nil for a stateless exchange.
	Peer() Peer

	// Header returns an HTTP header, several lines joined by ", ". Off HTTP nothing is present.
	Header(name string) (value string, present bool)

	// OverHTTP tells whether headers mean anything.
	OverHTTP() bool

	// Principal is who sent it, or nil.
	Principal() *mcp.Principal

	// RemoteAddr is the sender's network address, or "".
	RemoteAddr() string

	// Related is the id of the request of ours on whose stream the message came, where the wire says so; else zero.
	Related() jsonrpc.ID
}

// Sink takes the frames that belong to one exchange. Frames are not kept after the call. Its methods may be called
// concurrently; what is sent goes out in the order of the calls.
type Sink interface {
	// Send delivers a notification, or on the legacy era a request of this side, ahead of the answer. It fails with
	// ErrUndeliverable when there is no way for it (a client that takes no stream, say): nothing was sent.
	Send(ctx context.Context, frame []byte) error

	// Answer delivers the answer; nothing follows it. Row and code pick the HTTP status where there is one.
	Answer(ctx context.Context, frame []byte, row int, code int64) error

	// Drop ends the exchange without an answer: a notification that was taken, or a request that its sender cancelled.
	Drop()
}

// Peer is a process, a session, or the other end of a connection, as the engine sees it. Its methods may be called
// concurrently.
type Peer interface {
	// Close settles all that waits for the peer and cancels all that runs for it, and returns when the last of it has
	// ended. err is what the waiting calls get; what runs is answered with an [*EndError] and dropped with any other.
	Close(err error)

	// Idle tells whether nothing runs and nothing waits.
	Idle() bool

	// Drain ends the peer's listens with their final result and waits until every other request has been answered, or ctx
	// ends.
	Drain(ctx context.Context)

	// Restore gives the peer the state that is kept of it elsewhere, in place of what it has.
	Restore(state PeerState)

	// Codec is what the handshake has settled on; nil before it.
	Codec() era.Codec
}

// Outlet carries frames of this side to a peer outside any exchange: unsolicited notifications and requests.
type Outlet interface {
	// Send delivers a frame, or fails with ErrUndeliverable.
	Send(ctx context.Context, frame []byte) error
}

// PeerSpec is what a binding knows when a peer appears.
type PeerSpec struct {
	Codec     era.Codec // of the handshake; nil while none has happened
	Outlet    Outlet
	SessionID string // HTTP session, or ""
	Principal *mcp.Principal
	IDPrefix  string     // put before the ids of requests to this peer; "" leaves that to the receiver
	State     *PeerState // of a session that was opened elsewhere; nil for a new one
}

// Receiver stands above a binding; the engine implements it. Its methods may be called concurrently.
type Receiver interface {
	// Open begins a peer, and fails when no more are taken or the receiver is shut down.
	Open(spec PeerSpec) (Peer, error)

	// Receive takes one message and returns when the exchange has been answered or dropped. ctx ends with the exchange's
	// connection.
	Receive(ctx context.Context, x Exchange)

	// Deliver takes one message and does not wait for its answer: for a reader, which hands over frames in their order and
	// must not stop. What needs time runs on a goroutine of the receiver's.
	Deliver(ctx context.Context, x Exchange)
}

// Counter is a Receiver that counts the stateless requests it is serving, those that stay open by design apart.
type Counter interface{ Running() int }

// AwaitRunning waits until no stateless request is being served, or ctx ends.
func AwaitRunning(ctx context.Context, c Counter) {
	const look = 5 * time.Millisecond // counting at each request would cost more
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	for c.Running() > 0 {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// Parker is an Exchange whose stream can go on after Receive has returned, so that an idle stream holds no goroutine of
// the receiver's.
type Parker interface {
	// Park keeps the exchange's stream open. gone is called at most once, when the peer has closed it or cannot be
	// reached any more. Afterwards Send and Answer work as before, and their contexts are the caller's own. It answers
	// false where the wire cannot do it: the receiver then holds the exchange until ctx ends.
	Park(gone func()) bool
}

// Pauser is an Exchange whose connection can end before the answer, which then comes on another one.
type Pauser interface {
	// Pause ends the connection and tells the client to come back for the rest after retry, or when it likes where that is
	// not positive. It answers false where the client or the wire does not know that: nothing changes then.
	Pause(retry time.Duration) bool
}

// Inline marks an exchange of a reader that lets a request run on its own goroutine. Waking another goroutine for each short
// request costs more than the request.
type Inline interface {
	// Inline is called inside Deliver, on the reader's goroutine, as soon as what follows (the handler, the writing of an
	// answer) may take long and nothing of it depends on the order of the frames any more. If it does take long, the
	// reading goes on elsewhere.
	Inline()
}

// Ender is an Outlet whose connection ends with its peer. End is called once, when the peer has been closed, and does not
// wait.
type Ender interface{ End() }
