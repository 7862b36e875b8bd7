package upstream

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/manager"
)

// How long a child may take to end by itself, and after it was asked to: together less than the gateway has for stopping.
const (
	closeWait = 600 * time.Millisecond
	termWait  = 500 * time.Millisecond
)

// Dial opens a connection to a server of a configuration, whatever its transport. opts is completed with the headers of
// the entry. It fails with *UnsupportedError for transports that this version does not have.
func Dial(ctx context.Context, s manager.Server, opts client.Options) (*client.Client, error) {
	switch s.Transport {
	case manager.Stdio:
		command, err := Command(s)
		if err != nil {
			return nil, err
		}
		return client.DialStdio(ctx, command, opts)
	case manager.HTTP, manager.SSE:
		unix := s.Transport == manager.HTTP && strings.HasPrefix(s.URL, "unix:///")
		if !unix && !strings.HasPrefix(s.URL, "http://") && !strings.HasPrefix(s.URL, "https://") {
			return nil, &UnsupportedError{"of addresses only http:// and https:// are supported, and unix:/// for Streamable HTTP"}
		}
		opts.Headers = opts.Headers.Clone()
		for name, value := range s.Headers {
			if opts.Headers == nil {
				opts.Headers = make(http.Header)
			}
			opts.Headers.Set(name, value)
		}
		if s.Transport == manager.SSE {
			return client.DialSSE(ctx, s.URL, opts)
		}
		return client.DialHTTP(ctx, s.URL, opts)
	}
	return nil, &UnsupportedError{fmt.Sprintf("the transport %q is not known", s.Transport)}
}

// Command is how the child process of a stdio entry is started. Variables of its envFile come before those of env.
func Command(s manager.Server) (client.Command, error) {
	var env []string
	if s.EnvFile != "" {
		lines, err := readEnvFile(s.EnvFile)
		if err != nil {
			return client.Command{}, err
		}
		env = lines
	}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		env = append(env, name+"="+s.Env[name])
	}
	return client.Command{
		Path: s.Command, Args: s.Args, Env: env, Dir: s.Dir, CloseWait: closeWait, TermWait: termWait,
	}, nil
}

// Dialing makes a Dialer of Dial. What a connection finds out about the era of a server is kept for the next one to it, so
// that a restart does not probe again. callTimeout is for entries without a timeout of their own; zero means the client's.
func Dialing(opts client.Options, callTimeout, totalTimeout time.Duration) Dialer {
	known := &verdicts{byName: make(map[string]client.Verdict)}
	return func(ctx context.Context, s manager.Server) (Conn, error) {
		o := opts
		o.CallTimeout, o.TotalTimeout = callTimeout, totalTimeout
		o.Restart.Attempts = -1 // the set opens lost connections again, and shows where each stands
		if s.Timeout > 0 {
			o.CallTimeout = s.Timeout
		}
		if v, ok := known.take(s.Name); ok {
			o.Verdict = &v
		}
		return Open(o, func(o client.Options) (*client.Client, error) {
			c, err := Dial(ctx, s, o)
			if err != nil && o.Verdict != nil && ctx.Err() == nil {
				o.Verdict = nil // it may no longer hold
				c, err = Dial(ctx, s, o)
			}
			if err != nil {
				if cause := context.Cause(ctx); cause != nil && errors.Is(err, context.DeadlineExceeded) {
					err = errors.Join(cause, err)
				}
				return nil, err
			}
			if o.Verdict == nil { // seen now, not believed: a server may have changed its era since
				known.put(s.Name, c.Verdict())
			}
			return c, nil
		})
	}
}
