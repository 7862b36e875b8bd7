package oauth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// web does the requests to everything but the MCP server.
type web struct {
	guard   *guard
	named   *http.Client // for addresses that a server named
	trusted *http.Client // for addresses that the user configured, which may lie anywhere
	timeout time.Duration
	most    int64 // bytes of an answer
}

const maxRedirects = 3

func newWeb(g *guard, opts Options) *web {
	w := &web{guard: g, timeout: opts.FetchTimeout, most: opts.MaxBodyBytes}
	dialer := &net.Dialer{Timeout: w.timeout, ControlContext: g.control}
	guarded := opts.Transport.Clone()
	if guarded.Proxy == nil { // a proxy is the user's, resolves names itself, and may well be near
		guarded.DialContext, guarded.DialTLSContext = dialer.DialContext, nil
		guarded.DialTLS = nil //nolint:staticcheck // of older programs; it would go past the guard
	}
	w.named = &http.Client{Transport: guarded, CheckRedirect: w.redirect}
	w.trusted = &http.Client{Transport: opts.Transport.Clone(), CheckRedirect: w.redirect}
	return w
}

func (w *web) close() {
	w.named.CloseIdleConnections()
	w.trusted.CloseIdleConnections()
}

// redirect follows a few redirects of documents, under the same rules; a form goes nowhere else than where it was sent.
func (w *web) redirect(next *http.Request, via []*http.Request) error {
	if via[0].Method != http.MethodGet {
		return http.ErrUseLastResponse
	}
	if len(via) > maxRedirects {
		return errRedirects
	}
	return w.guard.permits(next.Context(), next.URL)
}

// get reads a JSON object. The error says what was wrong, for people; status is 0 when there was no answer.
func (w *web) get(ctx context.Context, from endpoint, header http.Header, into any) (status int, err error) {
	u, c, err := w.open(ctx, from)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, w.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return 0, errors.New("it cannot be read as an address")
	}
	for name, values := range header {
		req.Header[name] = values
	}
	req.Header.Set("Accept", "application/json")
	got, err := w.do(c, req)
	if err != nil {
		return 0, err
	}
	if got.status != http.StatusOK {
		return got.status, fmt.Errorf("HTTP status %d", got.status)
	}
	return got.status, readObject(got.body, into)
}

// readObject decodes a JSON object; pages for people and lists are no objects.
func readObject(body []byte, into any) error {
	if jsontext.Value(body).Kind() != '{' {
		return errors.New("the answer is no JSON object")
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("the answer cannot be used: %s", clean(trimJSON(err), 200))
	}
	return nil
}

// trimJSON names the member that is wrong and leaves out the name of the Go type.
func trimJSON(err error) string {
	var bad *json.SemanticError
	if errors.As(err, &bad) && bad.JSONPointer != "" {
		return fmt.Sprintf("member %s has the wrong type", bad.JSONPointer)
	}
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		return fmt.Sprintf("broken JSON at byte %d", syntax.ByteOffset)
	}
	return "broken JSON"
}

// post sends a form, or a JSON document, and reads the answer whatever its status.
func (w *web) post(ctx context.Context, to endpoint, kind string, body string, header http.Header) (*reply, error) {
	u, c, err := w.open(ctx, to)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, w.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), strings.NewReader(body))
	if err != nil {
		return nil, errors.New("it cannot be read as an address")
	}
	for name, values := range header {
		req.Header[name] = values
	}
	req.Header.Set("Content-Type", kind)
	req.Header.Set("Accept", "application/json")
	return w.do(c, req)
}

// reply is an answer that was read to its end.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// do sends a request and reads the bounded answer. The error holds no address: it is shown beside it.
func (w *web) do(c *http.Client, req *http.Request) (*reply, error) {
	resp, err := c.Do(req)
	if err != nil {
		return nil, w.why(req.Context(), err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, w.most+1))
	if err != nil {
		return nil, w.why(req.Context(), err)
	}
	if int64(len(body)) > w.most {
		return nil, fmt.Errorf("the answer is larger than %d bytes", w.most)
	}
	return &reply{resp.StatusCode, resp.Header, body}, nil
}

// why makes the failure of a request fit to be shown.
func (w *web) why(ctx context.Context, err error) error {
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err
	}
	switch {
	case errors.Is(err, ErrGuard), errors.Is(err, errRedirects):
		return err
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return &unreachable{fmt.Errorf("no answer within %v", w.timeout)}
	case ctx.Err() != nil:
		return &unreachable{context.Cause(ctx)}
	}
	return &unreachable{fmt.Errorf("it cannot be reached: %w", err)}
}

// endpoint is where a request goes.
type endpoint struct {
	url     string
	trusted bool // the user configured it
	bare    bool // what it gives is bound to no key
}

// open answers the address of an endpoint and the client for it, or why it must not be used.
func (w *web) open(ctx context.Context, to endpoint) (*url.URL, *http.Client, error) {
	u, err := url.Parse(to.url)
	switch {
	case err != nil:
		return nil, nil, errors.New("it cannot be read as an address")
	case to.trusted:
		return u, w.trusted, nil
	}
	return u, w.named, w.guard.permits(ctx, u)
}
