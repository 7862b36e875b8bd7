package transport

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/rialto-mcp/rialto/jsonrpc"
)

// Outbound is one message on its way to the other side.
type Outbound struct {
	Frame   []byte       // not kept after Exchange returns
	Kind    jsonrpc.Kind // what the frame is
	ID      jsonrpc.ID   // of a request
	Method  string       // of a request or notification
	Headers [][2]string  // HTTP headers that go with it; a pipe ignores them
	Opening bool         // a request that opens the connection
}

// Exchanger sends the messages of one side and hands what comes back to the receiver it was made with. Its methods may
// be called concurrently.
type Exchanger interface {
	// Exchange sends one message.
	//
	// On a pipe it returns once the frame is written, with elsewhere true: the answer comes on the shared stream. Where
	// each exchange has its own stream (HTTP) it returns when that stream is over, having handed over every frame that
	// came; elsewhere then tells whether the answer may still come on another stream. The end of ctx ends the exchange,
	// which on such a wire is how it is cancelled.
	//
	// It fails with *StatusError for an HTTP status that is no success.
	Exchange(ctx context.Context, out Outbound) (elsewhere bool, err error)

	// Shared tells whether all exchanges share one stream, so that a cancellation must be written.
	Shared() bool

	// Close ends the connection and waits for what it started. It may be called twice.
	Close() error
}

// StatusError is an HTTP answer that is no success.
type StatusError struct {
	Status  int
	Header  func(name string) string // of the answer
	Body    []byte                   // its first bytes (at most 4 KiB), for people
	Message *jsonrpc.Message         // the JSON-RPC error in the body, where its id is that of the request or absent; else nil

	// SessionGone says that the request named a session and the server does not know it: it has not begun the request.
	SessionGone bool

	// Authorized says that the request carried an Authorization header of the user's own.
	Authorized bool
}

// Error implements error. It ends with the error message of the server, or else with the beginning of the body.
func (e *StatusError) Error() string {
	if e.Message != nil && e.Message.Error != nil {
		return fmt.Sprintf("HTTP status %d: %.1000s", e.Status, e.Message.Error.Message)
	}
	if len(e.Body) == 0 {
		return fmt.Sprintf("HTTP status %d", e.Status)
	}
	const most = 200
	return fmt.Sprintf("HTTP status %d: %.*q", e.Status, most, e.Body)
}

// Refused tells whether the server wants to know first who asks, which says nothing about what was asked.
func (e *StatusError) Refused() bool { return e.Status == 401 || e.Status == 403 }

// ReachError is a request over HTTP that no answer has come to: no connection came about, or it broke.
type ReachError struct {
	Where string // scheme and host
	Err   error
}

// Error implements error.
func (e *ReachError) Error() string { return "cannot reach " + e.Where + ": " + e.Why() }

// Why is the error without the name of the server.
func (e *ReachError) Why() string {
	if e.Err == io.EOF || e.Err == io.ErrUnexpectedEOF { //nolint:errorlint // what wraps one has said what it means
		return fmt.Sprintf("the server closed the connection without an answer: %v", e.Err)
	}
	return e.Err.Error()
}

// Unwrap answers what went wrong.
func (e *ReachError) Unwrap() error { return e.Err }

// Errors of sinks and exchangers.
var (
	// ErrUndeliverable says that the client has opened no way for such a message.
	ErrUndeliverable = errors.New("there is no stream on which this message can reach the client")

	// ErrClosed says that the connection was closed on this side.
	ErrClosed = errors.New("the connection is closed")

	// ErrCut says that the stream of a request ended without its answer.
	ErrCut = errors.New("the stream ended without an answer")
)
