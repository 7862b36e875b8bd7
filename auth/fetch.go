package auth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"time"
)

// maxDocument bounds what an authorization server may answer, in bytes.
const maxDocument = 1 << 20

const fetchTimeout = 10 * time.Second

// clientFor returns the client for requests to an authorization server: that of the options, else one that follows no
// redirects, since the addresses are configured and credentials go with some of them.
func clientFor(own *http.Client) *http.Client {
	if own != nil {
		return own
	}
	return &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// statusError is an answer that is none.
type statusError struct {
	url  string
	code int
}

func (e *statusError) Error() string { return fmt.Sprintf("%s answers %d", e.url, e.code) }

// fetchJSON sends a request and returns the body of its answer, which must be 200 and JSON. Bodies and queries are never part of
// errors.
func fetchJSON(client *http.Client, req *http.Request) ([]byte, error) {
	req.Header.Set("Accept", "application/json, application/jwk-set+json")
	where := plainAddress(req.URL)
	res, err := client.Do(req)
	if err != nil {
		if in, ok := errors.AsType[*url.Error](err); ok {
			err = in.Err // it has the whole address in it
		}
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, &statusError{where, res.StatusCode}
	}
	switch kind, _, err := mime.ParseMediaType(res.Header.Get("Content-Type")); {
	case err != nil:
		return nil, fmt.Errorf("%s does not say what its answer is: %w", where, err)
	case kind == "text/html":
		return nil, fmt.Errorf("%s answers with a page", where)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxDocument+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", where, err)
	case len(body) > maxDocument:
		return nil, fmt.Errorf("%s answers with more than %d bytes", where, maxDocument)
	}
	return body, nil
}

// plainAddress is an address as it may be told: without what may hold a secret.
func plainAddress(u *url.URL) string { return u.Scheme + "://" + u.Host + u.EscapedPath() }

// get fetches a document.
func get(ctx context.Context, client *http.Client, address string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	return fetchJSON(client, req)
}

// isMissing tells whether an error says that there is no such document, so that the next place may have it.
func isMissing(err error) bool {
	var status *statusError
	return errors.As(err, &status) && status.code >= 300 && status.code < 500
}
