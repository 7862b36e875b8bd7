package client

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"sync"
	"unicode"

	"github.com/rialto-mcp/rialto/mcp"
)

// ElicitURLRequest asks the user to visit a page. This package opens no page by itself: the handler shows the whole URL,
// lets the user decide, and only then opens it. It never fetches the page beforehand.
//
// Spec 2025-11-25 and 2026-07-28, client/elicitation, "Safe URL Handling".
type ElicitURLRequest struct {
	Message string

	// URL is the whole address, http or https, to be shown as it is. Host is the part of it to point out to the user:
	// where the page really is.
	URL, Host string

	// ElicitationID is the server's name for the visit, on 2025-11-25; "" elsewhere.
	ElicitationID string

	Origin Origin

	completed <-chan struct{}
}

// Completed is closed when the server has told that the work on the page is done. Not all servers do, and those of the
// modern era never: it is nil then, which blocks for ever.
func (r *ElicitURLRequest) Completed() <-chan struct{} { return r.completed }

// mostURL bounds the address of a page.
const mostURL = 8 << 10

// readURL checks that an address is one to show to a user: http or https, and nothing in it that hides where it leads.
func readURL(raw string) (*url.URL, error) {
	odd := func(r rune) bool { return r <= ' ' || r == '\\' || !unicode.IsPrint(r) }
	u, err := url.Parse(raw)
	switch {
	case len(raw) > mostURL:
		return nil, errors.New("the URL is too long")
	case err != nil || strings.IndexFunc(raw, odd) >= 0:
		return nil, errors.New("the URL is none")
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return nil, errors.New("the URL must begin with http:// or https:// and name a host")
	case u.User != nil:
		return nil, errors.New("the URL names a user before the host, which hides where it leads")
	}
	return u, nil
}

// elicitURL offers a page to the user.
func (c *Client) elicitURL(ctx context.Context, params json.RawMessage, from Origin) (json.RawMessage, error) {
	var asked mcp.ElicitURLParams
	if err := readQuestion(mcp.MethodElicit, params, &asked); err != nil {
		return nil, err
	}
	result, err := c.visit(ctx, &asked, from)
	if err != nil {
		return nil, err
	}
	return encode(result)
}

// errVisited ends a handler that still shows a page whose work is done.
var errVisited = errors.New("the server says that the work on the page is done")

// visit runs the handler of pages. A page whose work is done while it is shown counts as accepted.
func (c *Client) visit(ctx context.Context, asked *mcp.ElicitURLParams, from Origin) (*mcp.ElicitResult, error) {
	u, err := readURL(asked.URL)
	if err != nil {
		return nil, mcp.InvalidParams("elicitation in url mode: %w", err)
	}
	req := &ElicitURLRequest{
		Message: asked.Message, URL: asked.URL, Host: u.Host, ElicitationID: asked.ElicitationID, Origin: from,
		completed: c.visits.expect(asked.ElicitationID),
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if req.completed != nil {
		over := make(chan struct{})
		defer func() { <-over }()
		go func() { // ends with this function
			defer close(over)
			select {
			case <-req.completed:
				cancel(errVisited)
			case <-ctx.Done():
			}
		}()
		defer cancel(nil) // before the wait
	}
	result, err := c.opts.ElicitURL(ctx, req)
	if errors.Is(context.Cause(ctx), errVisited) {
		return &mcp.ElicitResult{Action: mcp.ElicitAccept}, nil
	}
	if err == nil {
		err = checkAction(result)
	}
	if err != nil {
		return nil, err
	}
	answer := *result
	answer.Content = nil // of forms alone
	return &answer, nil
}

// mostVisits bounds the pages whose end may still be told; the oldest are forgotten.
const mostVisits = 1000

// visits are the pages that a server may still tell the end of, by their elicitation id.
type visits struct {
	mu    sync.Mutex
	byID  map[string]chan struct{}
	order []string
}

// expect returns what is closed when the visit is over; nil for one without an id.
func (v *visits) expect(id string) <-chan struct{} {
	if id == "" {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if ch, ok := v.byID[id]; ok {
		return ch
	}
	if v.byID == nil {
		v.byID = make(map[string]chan struct{})
	}
	if len(v.order) >= mostVisits {
		delete(v.byID, v.order[0])
		v.order = v.order[1:]
	}
	ch := make(chan struct{})
	v.byID[id] = ch
	v.order = append(v.order, id)
	return ch
}

// complete takes notifications/elicitation/complete. One about an unknown visit, or told twice, is nothing.
func (v *visits) complete(params json.RawMessage) {
	id, _ := mcp.Meta(params).Text("elicitationId")
	v.mu.Lock()
	defer v.mu.Unlock()
	ch, ok := v.byID[id]
	if !ok {
		return
	}
	select {
	case <-ch:
	default:
		close(ch)
	}
}
