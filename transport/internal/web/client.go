package web

import (
	"errors"
	"net/http"
	"net/url"
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
