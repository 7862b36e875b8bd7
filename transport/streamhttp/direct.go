package streamhttp

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"
)

// direct posts to one address over plain HTTP/1.1 on the caller's own goroutine: one Write for the request, and the answer
// is read where it is wanted. net/http's Transport hands every exchange to two goroutines instead, which on one machine
// costs more than the rest of a call. It serves only what [direct.takes] answers true for; all else goes through net/http
// (decision 0016). Its methods may be called concurrently.
type direct struct {
	address string        // to dial
	head    []byte        // request line and the headers of every request
	names   []string      // of headers that a message may not add
	asked   *http.Request // what proxy is asked about
	proxy   func(*http.Request) (*url.URL, error)
	dial    func(ctx context.Context, network, address string) (net.Conn, error)
	pool    pool
	blind   atomic.Bool // the dialer is the program's own, and what it returns cannot be probed
}

const (
	// mostDirect bounds a request. One write must not wait for a server that has answered early and reads no more.
	mostDirect = 64 << 10

	// mostHead bounds the head of an answer, those of 1xx before it included. net/http allows 10 MiB.
	mostHead = 1 << 20

	mostIdle = 64
	idleLife = 90 * time.Second // this and the next as in http.DefaultTransport
	dialTime = 30 * time.Second // to connect, and between the probes that keep the connection
	earlyEnd = time.Second      // for an answer that a server gave before it had read the request
)

// newDirect returns nil where the address, a header or the transport wants something that only net/http does.
func newDirect(u *url.URL, base http.Header, own *http.Transport) *direct {
	if !canProbe || u.Scheme != "http" || u.User != nil || !standard(own) {
		return nil
	}
	asked := &http.Request{Method: http.MethodPost, URL: u, Host: u.Host, Header: base}
	d := &direct{asked: asked, proxy: own.Proxy, dial: own.DialContext}
	if d.head, d.names = baseHead(u, base); d.head == nil {
		return nil
	}
	port := u.Port()
	if port == "" {
		port = "80"
	}
	d.address = net.JoinHostPort(u.Hostname(), port)
	if d.dial == nil {
		d.dial = (&net.Dialer{Timeout: dialTime, KeepAlive: dialTime}).DialContext
	}
	d.pool.most, d.pool.life = mostIdle, idleLife
	if own.IdleConnTimeout > 0 {
		d.pool.life = own.IdleConnTimeout
	}
	return d
}

// standard tells whether a transport asks for nothing that direct would leave undone. It is a copy of
// http.DefaultTransport, which a program may have changed.
func standard(t *http.Transport) bool {
	dials := t.Dial != nil //nolint:staticcheck // deprecated, but net/http honours it
	return !dials && !t.DisableKeepAlives && t.ResponseHeaderTimeout == 0 && t.MaxConnsPerHost == 0 &&
		t.MaxResponseHeaderBytes == 0 && (t.Protocols == nil || t.Protocols.HTTP1())
}

// takes tells whether a request may go this way. headers have canonical names, each once.
func (d *direct) takes(ctx context.Context, headers [][2]string, frame []byte) bool {
	size := len(d.head) + len(frame)
	for _, pair := range headers {
		if !d.fits(pair[0], pair[1]) {
			return false
		}
		size += len(pair[0]) + len(pair[1]) + len(": \r\n")
	}
	if size > mostDirect || d.blind.Load() || httptrace.ContextClientTrace(ctx) != nil {
		return false
	}
	if d.proxy == nil {
		return true
	}
	by, err := d.proxy(d.asked)
	return by == nil && err == nil
}

// post sends a frame and returns the answer once its head is there. The body has to be read to its end or closed. frame
// is not used after it returns.
func (d *direct) post(ctx context.Context, headers [][2]string, frame []byte) (*http.Response, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if w := d.pool.take(); w != nil {
		resp, err := d.exchange(ctx, w, headers, frame)
		if !errors.Is(err, errUntouched) {
			return resp, err
		}
	}
	conn, err := d.dial(ctx, "tcp", d.address)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	w := newWire(conn)
	if w.alive == nil {
		d.blind.Store(true) // it serves this request; net/http, which keeps such connections too, the next
	}
	return d.exchange(ctx, w, headers, frame)
}

// errUntouched marks the failure of a connection that has taken no byte of the request. Only then may a POST be sent
// again: a server that closes without an answer may have acted on what it had read. (net/http decides likewise.)
var errUntouched = errors.New("the connection was closed before anything was sent")

// exchange sends a request on a connection that is this call's alone, and reads the head of its answer.
func (d *direct) exchange(ctx context.Context, w *wire, headers [][2]string, frame []byte) (*http.Response, error) {
	stop := context.AfterFunc(ctx, w.interrupt)
	resp, err := w.roundTrip(d.request(w.out[:0], headers, frame))
	if err != nil {
		stop()
		w.conn.Close()
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	b := &answerBody{src: resp.Body, ctx: ctx, stop: stop, wire: w, pool: &d.pool, last: resp.Close || !resp.ProtoAtLeast(1, 1)}
	if resp.Body == http.NoBody {
		b.end(true)
	} else {
		resp.Body = b
	}
	return resp, nil
}

// request writes a whole request.
func (d *direct) request(out []byte, headers [][2]string, frame []byte) []byte {
	out = append(out, d.head...)
	for _, pair := range headers {
		out = appendHeader(out, pair[0], textproto.TrimString(pair[1]))
	}
	out = append(out, "Content-Length: "...)
	out = strconv.AppendInt(out, int64(len(frame)), 10)
	out = append(out, "\r\n\r\n"...)
	return append(out, frame...)
}
