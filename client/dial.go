package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/internal/pipe"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
	"github.com/rialto-mcp/rialto/transport/stdio"
)

// Command says how to start a server as a child process. See [stdio.Command].
type Command = stdio.Command

// Connect opens a connection over a wire that stands already: the in-memory pair, or one of the caller's own. The client
// closes it, also when opening fails. Whether its server is a modern one is found out as on standard input and output.
func Connect(ctx context.Context, conn transport.Conn, opts Options) (*Client, error) {
	taken := false
	c, err := dial(ctx, target{name: "server", open: func(_ context.Context, c *Client) (*wire, error) {
		taken = true
		return c.pipe("server", conn, nil)
	}}, opts)
	if !taken {
		err = errors.Join(err, conn.Close())
	}
	return c, err
}

// DialStdio starts a server as a child process and opens a connection over its standard input and output.
//
// A server that stays silent on the modern opening for Options.ProbeTimeout is opened with initialize, and asked once more when it
// refuses that; one that ends on it is started once more and opened with initialize. One that ends later is started again as Options.Restart says: calls that
// it had not answered fail, those that come meanwhile wait for the first attempt. The error of a child that has exited names its exit code and the
// last of what it wrote to standard error, and errors.As finds the [*stdio.ExitError].
func DialStdio(ctx context.Context, command Command, opts Options) (*Client, error) {
	name := fmt.Sprintf("%q", strings.Join(append([]string{command.Path}, command.Args...), " "))
	if len(command.Args) == 0 {
		name = fmt.Sprintf("%q", command.Path)
	}
	return dial(ctx, target{name: name, key: keyOf(append([]string{"stdio", command.Dir, command.Path}, command.Args...)...), restart: true, sibling: true, open: func(ctx context.Context, c *Client) (*wire, error) {
		child, err := stdio.Start(ctx, command)
		if err != nil {
			return nil, err
		}
		w, err := c.pipe(name, child, child)
		if err != nil {
			return nil, err
		}
		w.kill = child.Kill
		return w, nil
	}}, opts)
}

// pipe puts a wire around a Conn. child is the process at its end, if it is one.
func (c *Client) pipe(name string, conn transport.Conn, child *stdio.Child) (*wire, error) {
	w := newWire(name)
	link, peer, err := pipe.Dial(conn, c.engine, pipe.Options{
		OnError: c.faults.report,
		Explain: func(err error) error {
			w.ending.Store(true) // what is called from now on waits to hear the reason
			why := c.farewell(err, child)
			w.lose(why) // first, so that whoever sees a call fail finds the wire lost
			return w.why
		},
	})
	if err != nil {
		return nil, err
	}
	w.via, w.peer = link, peer.(*engine.Peer)
	return w, nil
}

// farewell says why a pipe has ended, for the calls that wait.
func (c *Client) farewell(err error, child *stdio.Child) error {
	if c.usable() != nil {
		return closedHere(err)
	}
	if child != nil {
		timer := time.NewTimer(stdio.LastWords)
		defer timer.Stop()
		select {
		case <-child.Done():
			return mcp.Errorf(mcp.CodeConnectionClosed, "%w", child.ExitError())
		case <-timer.C:
			return mcp.Errorf(mcp.CodeConnectionClosed, "connection closed: the server process closed its standard output, and still runs").Because(err)
		}
	}
	if errors.Is(err, transport.ErrClosed) { // which stands for the end of the input
		return mcp.Errorf(mcp.CodeConnectionClosed, "connection closed by the server").Because(err)
	}
	return mcp.Errorf(mcp.CodeConnectionClosed, "the connection broke: %w", err)
}
