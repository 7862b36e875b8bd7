package web

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"
)

// Client returns what requests are sent with: a copy of the client that is given, or where none is, one with connections
// of its own. Those are own, nil where a client was given; its idle ones are for the caller to close.
func Client(given *http.Client) (c *http.Client, own *http.Transport) {
	if given != nil {
		copied := *given
		return &copied, nil
	}
	own = &http.Transport{}
	if standard, ok := http.DefaultTransport.(*http.Transport); ok {
		own = standard.Clone()
	}
	own.MaxIdleConnsPerHost = 64 // calls run side by side, and each has a connection
	return &http.Client{Transport: own}, own
}

// Bare takes the address, which may hold secrets, out of an error of net/http.
func Bare(err error) error {
	var of *url.Error
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}

// Discard reads what nobody wants of a response for a short while, so that the connection can be used again, and then calls
// done, which is to end the request and may be called twice. It does not wait: spawn runs a function on a goroutine that its
// owner waits for, or answers false where that is closed.
func Discard(resp *http.Response, spawn func(func()) bool, done func()) {
	const patience, most = time.Second, 64 << 10
	finish := func() {
		resp.Body.Close()
		done()
	}
	if resp.ContentLength == 0 || resp.Body == http.NoBody {
		finish()
		return
	}
	drained := spawn(func() { // ends within patience
		timer := time.AfterFunc(patience, done)
		defer timer.Stop()
		if _, err := io.CopyN(io.Discard, resp.Body, most); err != nil && !errors.Is(err, io.EOF) {
			done() // the connection is not used again
		}
		finish()
	})
	if !drained {
		finish()
	}
}
