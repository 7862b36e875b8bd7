// Package transport holds the seam between wires and everything above them: what a binding gives and takes.
package transport

import "context"

// Conn is a two-way stream of frames: standard input and output, the in-memory pair, or a wire of the user's own
// (a WebSocket, say). One frame is one JSON text: a message, or an array of messages where the revision has batches.
//
// Read and Write may be called at the same time, and Write by several goroutines at once; Read is called by one.
// Close ends both directions, unblocks Read and Write, and may be called twice and from anywhere.
type Conn interface {
	// Read returns the next frame, without its line end. The slice belongs to the caller: no later call touches it.
	// It fails with io.EOF when the peer has closed its side. A frame that is over the limit fails with *FrameError;
	// reading may go on after it.
	Read(ctx context.Context) ([]byte, error)

	// Write sends one frame. The frame holds no line break and is not kept after Write returns.
	Write(ctx context.Context, frame []byte) error

	// Close releases the wire and waits for what it started.
	Close() error
}

// Gatherer is a Conn that can hold answers back while more requests have arrived, so that the answers to all of them leave
// together. Its methods may be called by several goroutines at once.
type Gatherer interface {
	Conn

	// Gather sends a frame like Write, or holds it back while a further frame can be read without waiting, though not for
	// more than about a millisecond from one Gather to the next. What is held leaves, in order, with the next frame that is
	// not, with Flush, or with Close.
	Gather(ctx context.Context, frame []byte) error

	// Due tells whether something is held that no arrived frame speaks for any more. Whoever reads asks before each Read
	// and calls Flush then.
	Due() bool

	// Flush sends what is held.
	Flush(ctx context.Context) error
}

// FrameError reports one frame that could not be taken while the stream as a whole goes on.
type FrameError struct {
	Limit int64  // the limit that was broken, in bytes; 0 where it is another fault
	Text  string // what is wrong, fit for the peer
	Start []byte // the first bytes of the frame (at most 256), for logs
	End   []byte // the last bytes of the frame (at most 256); nil where they are not known
}

// Error implements error.
func (e *FrameError) Error() string { return e.Text }
