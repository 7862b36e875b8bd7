package examples

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"sync"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// socket is a wire of one's own: one frame a line over a network connection.
type socket struct {
	net.Conn
	lines *bufio.Reader // has one reader
	mu    sync.Mutex    // one frame is written at a time
}

func newSocket(conn net.Conn) *socket { return &socket{Conn: conn, lines: bufio.NewReader(conn)} }

// Read returns the next frame. When ctx ends the connection is closed, which is all that this wire can do to stop.
func (s *socket) Read(ctx context.Context) ([]byte, error) {
	defer context.AfterFunc(ctx, func() { s.Close() })()
	line, err := s.lines.ReadBytes('\n')
	return bytes.TrimSpace(line), err
}

// Write sends one frame.
func (s *socket) Write(ctx context.Context, frame []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer context.AfterFunc(ctx, func() { s.Close() })()
	_, err := s.Conn.Write(append(bytes.Clone(frame), '\n'))
	return err
}

// Server and client run on any wire that can read and write frames.
func Example_transport() {
	s := server.New(mcp.Implementation{Name: "hello", Version: "1.0.0"}, server.Options{})
	server.AddTool(s, mcp.Tool{Name: "hello"}, func(context.Context, *server.Request, struct{}) (string, error) { return "hi", nil })

	ctx := context.Background()
	near, far := net.Pipe() // or what net.Dial and a net.Listener give
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, newSocket(far)) }()

	c, err := client.Connect(ctx, newSocket(near), client.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := c.CallTool(ctx, "hello", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Text(), "by", c.ProtocolVersion())
	fmt.Println(c.Close(), <-ended)
	// Output:
	// hi by 2026-07-28
	// <nil> <nil>
}
