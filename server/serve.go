package server

import (
	"context"
	"net/http"
	"os"
	"strings"

	"github.com/rialto-mcp/rialto/internal/pipe"
	"github.com/rialto-mcp/rialto/transport"
	"github.com/rialto-mcp/rialto/transport/stdio"
	"github.com/rialto-mcp/rialto/transport/streamhttp"
)

// Handler returns the HTTP handler of the server: both eras on one address, legacy ones in sessions. It serves whatever
// path it is mounted at. Each call makes a handler with sessions of its own; Shutdown ends them all.
func (s *Server) Handler() http.Handler {
	o := s.opts.HTTP.binding()
	o.MaxBatch, o.OnError = s.opts.MaxBatch, s.report
	o.Bus, o.Topic = s.opts.Bus, s.topic()
	s.engine.Begin()
	h := streamhttp.New(s.engine, s.set, o)
	s.mu.Lock()
	s.handlers = append(s.handlers, h)
	s.mu.Unlock()
	return h
}

// binding gives the options to the wire, whose names they have.
func (o HTTPOptions) binding() streamhttp.Options {
	return streamhttp.Options{
		MaxBodyBytes: o.MaxBodyBytes, AllowedHosts: o.AllowedHosts, AllowedOrigins: o.AllowedOrigins, Guard: o.Guard,
		SecurityValidator: o.SecurityValidator, Principal: o.Principal, Sessionless: o.Sessionless, JSONOnly: o.JSONOnly,
		UpgradeAfter: o.UpgradeAfter, KeepAlive: o.KeepAlive, IdleTimeout: o.IdleTimeout, MaxSessions: o.MaxSessions,
		MaxStreams: o.MaxStreams, BodyTimeout: o.BodyTimeout, WriteTimeout: o.WriteTimeout, NoHijack: o.NoHijack,
		EventLog: o.EventLog, NoResume: o.NoResume, Sessions: o.Sessions,
	}
}

// Middleware puts the server into a handler chain that stands already: requests for prefix, with or without a slash at
// the end, are the server's, all others go on to the next handler.
func (s *Server) Middleware(prefix string) func(http.Handler) http.Handler {
	own := s.Handler()
	prefix = "/" + strings.Trim(prefix, "/")
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if path := r.URL.Path; path == prefix || path == prefix+"/" {
				own.ServeHTTP(w, r)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// RunStdio serves standard input and output until the input ends or ctx does. Nothing else may write to standard output
// meanwhile. It returns as Serve does. One frame may have 10 MiB; for another limit give Serve a stdio.Open of your own.
func (s *Server) RunStdio(ctx context.Context) error {
	return s.Serve(ctx, stdio.Open(os.Stdin, os.Stdout, stdio.Options{}))
}

// Serve serves one connection, both eras on it, until it ends or ctx does, and closes it. It returns nil when the other
// side has closed or Shutdown has ended it, and the context's error when that has ended.
func (s *Server) Serve(ctx context.Context, conn transport.Conn) error {
	s.engine.Begin()
	return pipe.Serve(ctx, conn, s.engine, s.set, pipe.Options{MaxBatch: s.opts.MaxBatch, OnError: s.report})
}
