// Command client is the everything-client for the official conformance suite: it does what one scenario asks of a client,
// and finds out the era of the server by itself.
//
// Usage: go run ./conformance/client URL
//
// The suite names the scenario in the environment variable MCP_CONFORMANCE_SCENARIO, and gives what belongs to it as a JSON
// object in MCP_CONFORMANCE_CONTEXT. A name that is not in the table, or none, uses whatever the server offers.
//
// The exit code is 0 when the server did as the scenario says, which for some is that it had to be refused; 1 when not; 2
// when the command line is wrong.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
)

// limit ends a scenario before the suite does, which kills without asking what was waited for.
const limit = 25 * time.Second

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "client: say the URL of the server, and nothing else")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	s := scene{url: os.Args[1], name: os.Getenv("MCP_CONFORMANCE_SCENARIO")}
	if err := s.run(ctx, os.Getenv("MCP_CONFORMANCE_CONTEXT")); err != nil {
		fmt.Fprintln(os.Stderr, "client:", err)
		os.Exit(1)
	}
}

// scene is one scenario on its way.
type scene struct {
	url, name string
	given     given
}

// given is what scenarios come with; each uses some of it.
type given struct {
	ToolCalls []struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"toolCalls"`

	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	PrivateKey   string `json:"private_key_pem"`
	Algorithm    string `json:"signing_algorithm"`

	ProviderClientID string `json:"idp_client_id"`
	ProviderToken    string `json:"idp_id_token"`
	Provider         string `json:"idp_issuer"`
	ProviderEndpoint string `json:"idp_token_endpoint"`

	WorkloadToken string `json:"valid_jwt"`
}

func (s *scene) run(ctx context.Context, given string) error {
	if given != "" {
		if err := json.Unmarshal([]byte(given), &s.given); err != nil {
			return fmt.Errorf("MCP_CONFORMANCE_CONTEXT cannot be read: %w", err)
		}
	}
	do, ok := scenarios[s.name]
	if !ok {
		do = useAll
	}
	return do(ctx, s)
}

// dial connects to the server and leaves it when the scenario is done.
func (s *scene) dial(ctx context.Context, opts client.Options, use func(c *client.Client) error) error {
	opts.Info = mcp.Implementation{Name: "rialto-conformance-client", Version: "1.0.0"}
	opts.OnError = func(err error) { fmt.Fprintln(os.Stderr, "client: fault outside any call:", err) }
	c, err := client.DialHTTP(ctx, s.url, opts)
	if err != nil {
		return err
	}
	return errors.Join(use(c), c.Close())
}
