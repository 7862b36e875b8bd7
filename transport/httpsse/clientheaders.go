package httpsse

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

const (
	typeJSON   = "application/json"
	typeEvents = "text/event-stream"
)

// ownHeaders are set by this package alone, or have no meaning on this wire.
var ownHeaders = []string{
	"Accept", "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Last-Event-Id", "Mcp-Method", "Mcp-Name",
	"Mcp-Protocol-Version", "Mcp-Session-Id", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

// baseHeaders are those of the user that go with every request, with canonical names. The user and password of an address
// become one of them, so that they stay on the way and out of errors.
func baseHeaders(given http.Header, user *url.Userinfo) http.Header {
	base := http.Header{}
	for name, values := range given {
		if name = http.CanonicalHeaderKey(name); !slices.Contains(ownHeaders, name) {
			base[name] = append(base[name], values...)
		}
	}
	if user != nil && base["Authorization"] == nil {
		password, _ := user.Password()
		base["Authorization"] = []string{"Basic " + base64.StdEncoding.EncodeToString([]byte(user.Username()+":"+password))}
	}
	return base
}

// request makes the GET of the stream, where frame is nil, or the POST of a frame.
func (c *Conn) request(ctx context.Context, method string, to *url.URL, frame []byte) *http.Request {
	req := (&http.Request{
		Method: method, URL: to, Host: to.Host, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: c.base.Clone(),
	}).WithContext(ctx)
	if host := req.Header["Host"]; len(host) > 0 {
		req.Host = host[0]
	}
	if frame == nil {
		req.Header["Accept"] = []string{typeEvents}
		req.Header["Cache-Control"] = []string{"no-store"}
		return req
	}
	req.Header["Content-Type"] = []string{typeJSON}
	if revision := c.revision.Load(); revision != nil {
		req.Header["Mcp-Protocol-Version"] = []string{*revision}
	}
	req.ContentLength = int64(len(frame))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(frame)), nil }
	req.Body = io.NopCloser(bytes.NewReader(frame))
	return req
}

// stayAtHome follows redirects that keep the method and the origin, the step of one host from http to https included. The
// caller gets any other as a status.
func stayAtHome(next func(*http.Request, []*http.Request) error) func(*http.Request, []*http.Request) error {
	return func(req *http.Request, via []*http.Request) error {
		const most = 5
		if from := via[0]; len(via) > most || req.Method != from.Method || !atHome(from.URL, req.URL) {
			return http.ErrUseLastResponse
		}
		req.Host = via[0].Host // a name of the user's own
		if next != nil {
			return next(req, via)
		}
		return nil
	}
}

func atHome(from, to *url.URL) bool {
	upgrade := from.Scheme == "http" && to.Scheme == "https" && strings.EqualFold(from.Hostname(), to.Hostname()) && from.Port() == "" && to.Port() == ""
	return originOf(from) == originOf(to) || upgrade
}

// originOf is scheme, host and port of an address, in one spelling.
func originOf(u *url.URL) string {
	host := strings.ToLower(u.Host)
	switch u.Scheme {
	case "http":
		host = strings.TrimSuffix(host, ":80")
	case "https":
		host = strings.TrimSuffix(host, ":443")
	}
	return u.Scheme + "://" + host
}

// resolve finds the endpoint that an event names, seen from the address that the stream came from.
func (c *Conn) resolve(stream *url.URL, named string) (*url.URL, error) {
	if named = strings.TrimSpace(named); named == "" {
		return nil, fmt.Errorf("the endpoint event of %s is empty: it must hold the address that messages are posted to", c.where)
	}
	const longest = 8 << 10 // what servers take in the first line of a request
	endpoint, err := stream.Parse(named[:min(len(named), longest+1)])
	if err != nil || endpoint.Host == "" || len(named) > longest {
		return nil, errors.New("the endpoint event of " + c.where + " holds no address that messages could be posted to")
	}
	if originOf(endpoint) != originOf(stream) {
		return nil, fmt.Errorf("the endpoint event of %s names another origin, %.100s, which would get the same credentials; such a server is not used",
			originOf(stream), originOf(endpoint))
	}
	endpoint.User, endpoint.Fragment, endpoint.RawFragment = nil, "", "" // credentials are those that were dialled with
	return endpoint, nil
}

// essence is the media type of a response without its parameters.
func essence(h http.Header) string {
	name, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	return strings.ToLower(strings.TrimSpace(name))
}
