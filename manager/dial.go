package manager

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/rialto-mcp/rialto/client"
)

// How long a child may take to end by itself, and after it was asked to.
const (
	closeWait = 600 * time.Millisecond
	termWait  = 500 * time.Millisecond
)

// UnsupportedError is a server that this version cannot talk to at all, so that trying again is no use.
type UnsupportedError struct{ Text string }

func (e *UnsupportedError) Error() string { return e.Text }

// Dial opens a connection to a server of a configuration, whatever its transport. opts is completed with the headers of
// the entry. It fails with *UnsupportedError for transports and addresses that this version does not have.
func Dial(ctx context.Context, s Server, opts client.Options) (*client.Client, error) {
	switch s.Transport {
	case Stdio:
		command, err := Command(s)
		if err != nil {
			return nil, err
		}
		return client.DialStdio(ctx, command, opts)
	case HTTP, SSE:
		unix := s.Transport == HTTP && strings.HasPrefix(s.URL, "unix:///")
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
		if s.Transport == SSE {
			return client.DialSSE(ctx, s.URL, opts)
		}
		return client.DialHTTP(ctx, s.URL, opts)
	}
	return nil, &UnsupportedError{fmt.Sprintf("the transport %q is not known", s.Transport)}
}

// Command is how the child process of a stdio entry is started. Variables of its envFile come before those of env.
func Command(s Server) (client.Command, error) {
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
