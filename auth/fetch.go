package auth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
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

// fetchJSON sends a request and returns the body of its answer, which must be 200 and JSON. Bodies are never part of errors.
func fetchJSON(client *http.Client, req *http.Request) ([]byte, error) {
	req.Header.Set("Accept", "application/json, application/jwk-set+json")
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	where := req.URL.Redacted()
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

// get fetches a document.
func get(ctx context.Context, client *http.Client, url string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
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
