package rows

import (
	"net/http"

	"github.com/rialto-mcp/rialto/bench/internal/bare"
	"github.com/rialto-mcp/rialto/bench/internal/echo"
	"github.com/rialto-mcp/rialto/bench/internal/gosdk"
	"github.com/rialto-mcp/rialto/bench/internal/mcpgo"
	"github.com/rialto-mcp/rialto/bench/internal/rialto"
)

// Peer is one column of the table.
type Peer struct {
	Name    string
	server  string // package of the server, inside this module
	front   string // package of what stands in front of another server; empty where it has none
	client  *echo.Dialer
	handler func(stateful bool) (http.Handler, error)
}

// Names of the peers that the table knows more about than their column.
const (
	bareName   = "bare"
	againName  = "bare again"
	mcpgoName  = "mcp-go"
	rialtoName = "rialto"
)

// Peers lists the columns. The bare limit stands there twice, as two processes: their difference is the noise.
func Peers() []Peer {
	return []Peer{
		{Name: bareName, server: "server/bare", front: "server/proxy", handler: bare.Handler},
		{Name: againName, server: "server/bare", front: "server/proxy", handler: bare.Handler},
		{Name: "go-sdk", server: "server/gosdk", handler: gosdk.Handler,
			client: &echo.Dialer{HTTP: gosdk.DialHTTP, Stdio: gosdk.DialStdio}},
		{Name: mcpgoName, server: "server/mcpgo", handler: mcpgo.Handler,
			client: &echo.Dialer{HTTP: mcpgo.DialHTTP, Stdio: mcpgo.DialStdio}},
		{Name: rialtoName, server: "server", front: "server/gateway", handler: rialto.Handler,
			client: &echo.Dialer{HTTP: rialto.DialHTTP, Stdio: rialto.DialStdio}},
	}
}
