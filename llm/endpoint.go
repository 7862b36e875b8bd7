package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/rialto-mcp/rialto/mcp"
)

// Endpoint is where a model answers. It is used by the samplers of the vendors' packages.
type Endpoint struct {
	// BaseURL is the address up to and with the version: "https://api.openai.com/v1", "http://127.0.0.1:11434/v1". Empty means
	// the vendor's own.
	BaseURL string

	// Key is the API key. It goes into one header and nowhere else: errors and the printed form of an Endpoint do not hold it.
	Key string `json:"-"`

	// Header goes with every request.
	Header http.Header

	// Timeout bounds one request. Zero means 5 minutes; negative means no bound.
	Timeout time.Duration

	// MaxBytes bounds one answer. Zero means 10 MiB; negative means no bound.
	MaxBytes int64

	// HTTPClient does the requests. Nil means one of its own. Redirects are never followed, since the key would go with them.
	HTTPClient *http.Client
}

// String names the address without what is secret.
func (e Endpoint) String() string {
	at, err := url.Parse(e.BaseURL)
	if err != nil {
		return "endpoint"
	}
	return "endpoint " + at.Host
}

// GoString is String.
func (e Endpoint) GoString() string { return e.String() }

// LogValue is String.
func (e Endpoint) LogValue() slog.Value { return slog.StringValue(e.String()) }

// EndpointError is an answer of a model's endpoint that is none.
type EndpointError struct {
	Status  int           // of HTTP; 0 where none came
	Message string        // what the endpoint says, the key taken out; at most 500 bytes
	Wait    time.Duration // how long the endpoint asks to wait; 0 where it does not say
	err     error
}

// Error implements error. It holds neither the key nor the whole address.
func (e *EndpointError) Error() string {
	switch {
	case e.Status == 0:
		return "the model's endpoint: " + e.Message
	case e.Message == "":
		return fmt.Sprintf("the model's endpoint answers with HTTP status %d", e.Status)
	}
	return fmt.Sprintf("the model's endpoint answers with HTTP status %d: %s", e.Status, e.Message)
}

// Unwrap answers the cause where it is the context's.
func (e *EndpointError) Unwrap() error { return e.err }

// Post sends JSON and returns the answer's body. auth is the header that holds the key. It fails with [*EndpointError].
func (e Endpoint) Post(ctx context.Context, path string, auth http.Header, body []byte) (json.RawMessage, error) {
	ctx, cancel := e.bounded(ctx)
	defer cancel()
	resp, err := e.send(ctx, path, auth, body, "application/json")
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return e.read(ctx, resp)
}

// bounded is a context that ends when the request has taken too long.
func (e Endpoint) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if e.Timeout == 0 {
		e.Timeout = 5 * time.Minute
	}
	if e.Timeout < 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, e.Timeout)
}

// send does the request. The body of the response is the caller's to close.
func (e Endpoint) send(ctx context.Context, path string, auth http.Header, body []byte, accept string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(e.BaseURL, "/")+path, bytes.NewReader(body))
	if err != nil {
		return nil, &EndpointError{Message: "the address is none that can be used"}
	}
	for _, header := range []http.Header{e.Header, auth} {
		for name, values := range header {
			req.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", accept)
	web := http.Client{}
	if e.HTTPClient != nil {
		web = *e.HTTPClient
	}
	web.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := web.Do(req)
	if err != nil {
		return nil, e.unreachable(ctx, err)
	}
	return resp, nil
}

// unreachable keeps of an error of the network what says why, and leaves out the address, which may hold a key.
func (e Endpoint) unreachable(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return &EndpointError{Message: "no answer came: " + cause.Error(), err: cause}
	}
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err
	}
	return &EndpointError{Message: e.clean(err.Error())}
}

func (e Endpoint) read(ctx context.Context, resp *http.Response) (json.RawMessage, error) {
	most := e.MaxBytes
	if most == 0 {
		most = 10 << 20
	}
	from := io.Reader(resp.Body)
	if most > 0 {
		from = io.LimitReader(resp.Body, most+1)
	}
	body, err := io.ReadAll(from)
	switch {
	case err != nil:
		return nil, e.unreachable(ctx, err)
	case most > 0 && int64(len(body)) > most:
		return nil, &EndpointError{Status: resp.StatusCode, Message: fmt.Sprintf("the answer has more than %d bytes", most)}
	case resp.StatusCode != http.StatusOK:
		wait, _ := time.ParseDuration(resp.Header.Get("Retry-After") + "s")
		return nil, &EndpointError{Status: resp.StatusCode, Message: e.clean(complaint(body)), Wait: max(wait, 0)}
	case !json.Valid(body):
		return nil, &EndpointError{Status: resp.StatusCode, Message: "the answer is no JSON"}
	}
	return body, nil
}

// complaint finds the words of an error in the forms that the vendors and their imitators use.
func complaint(body []byte) string {
	if !json.Valid(body) {
		return "" // a page of a proxy, say
	}
	raw, ok := mcp.Member(body, "error")
	if !ok {
		raw = body
	}
	for _, name := range []string{"message", "error", "detail"} {
		if text, ok := mcp.Meta(raw).Text(name); ok {
			return text
		}
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return ""
}

func (e Endpoint) clean(text string) string {
	if e.Key != "" {
		text = strings.ReplaceAll(text, e.Key, "(key)")
	}
	return cut(strings.ToValidUTF8(text, "\uFFFD"), 500)
}
