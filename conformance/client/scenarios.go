package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/rialto-mcp/rialto/auth/oauth"
	"github.com/rialto-mcp/rialto/client"
)

// scenario does what one scenario asks for. The error is that the server did not do its part, or got away with what it
// must not.
type scenario func(ctx context.Context, s *scene) error

// scenarios are those that ask for more than useAll.
var scenarios = map[string]scenario{
	"http-custom-headers":              callGiven,
	"json-schema-2020-12-preservation": echoSchema,
	"json-schema-ref-no-deref":         listTools,

	"sep-2640-client-no-prefetch":        listSkills,
	"sep-2640-client-verify-digest":      openTampered,
	"sep-2640-client-verify-size":        openTampered,
	"sep-2640-client-verify-frontmatter": openTampered,

	"auth/metadata-default":                     signedIn,
	"auth/metadata-var1":                        signedIn,
	"auth/metadata-var2":                        signedIn,
	"auth/metadata-var3":                        signedIn,
	"auth/basic-cimd":                           signedIn,
	"auth/scope-from-www-authenticate":          signedIn,
	"auth/scope-from-scopes-supported":          signedIn,
	"auth/scope-omitted-when-undefined":         signedIn,
	"auth/scope-step-up":                        signedIn,
	"auth/token-endpoint-auth-basic":            signedIn,
	"auth/token-endpoint-auth-post":             signedIn,
	"auth/token-endpoint-auth-none":             signedIn,
	"auth/offline-access-scope":                 signedIn,
	"auth/offline-access-not-supported":         signedIn,
	"auth/authorization-server-migration":       signedIn,
	"auth/iss-supported":                        signedIn,
	"auth/iss-not-advertised":                   signedIn,
	"auth/dpop":                                 signedIn,
	"auth/dpop-nonce":                           signedIn,
	"auth/pre-registration":                     signedInAs(known),
	"auth/client-credentials-basic":             signedInAs(program),
	"auth/client-credentials-jwt":               signedInAs(programWithKey),
	"auth/enterprise-managed-authorization":     signedInAs(employee),
	"auth/wif-jwt-bearer":                       signedInAs(workload),
	"auth/2025-03-26-oauth-metadata-backcompat": signedInAs(oldDiscovery),
	"auth/2025-03-26-oauth-endpoint-fallback":   signedInAs(oldDiscovery),
	"auth/scope-retry-limit":                    refused(client.ErrUnauthorized),
	"auth/resource-mismatch":                    refused(oauth.ErrResource),
	"auth/iss-supported-missing":                refused(oauth.ErrIssuer),
	"auth/iss-wrong-issuer":                     refused(oauth.ErrIssuer),
	"auth/iss-unexpected":                       refused(oauth.ErrIssuer),
	"auth/iss-normalized":                       refused(oauth.ErrIssuer),
	"auth/metadata-issuer-mismatch":             refused(oauth.ErrIssuer),
}

// useAll connects and uses whatever the server offers.
func useAll(ctx context.Context, s *scene) error {
	return s.dial(ctx, answering(), func(c *client.Client) error { return use(ctx, c) })
}

// listTools reads the list of tools; the server has nothing that could be called.
func listTools(ctx context.Context, s *scene) error {
	return s.dial(ctx, answering(), func(c *client.Client) error {
		_, err := c.ListTools(ctx, nil)
		return err
	})
}

// callGiven lists the tools and makes the calls that the scenario gives.
func callGiven(ctx context.Context, s *scene) error {
	return s.dial(ctx, answering(), func(c *client.Client) error {
		if _, err := c.ListTools(ctx, nil); err != nil {
			return err
		}
		for _, call := range s.given.ToolCalls {
			if _, err := c.CallTool(ctx, call.Name, call.Arguments); err != nil {
				return err
			}
		}
		return nil
	})
}

// echoSchema sends the input schema of one tool back, as it came, as an argument of another.
func echoSchema(ctx context.Context, s *scene) error {
	return s.dial(ctx, answering(), func(c *client.Client) error {
		for tool, err := range c.Tools(ctx) {
			if err != nil {
				return err
			}
			if tool.Name != "json_schema_2020_12_tool" {
				continue
			}
			_, err := c.CallTool(ctx, "json_schema_echo", map[string]json.RawMessage{"schema": tool.InputSchema})
			return err
		}
		return errors.New("the server has no tool json_schema_2020_12_tool")
	})
}

// refused is the scenario of a server that has to be turned down, for a reason.
func refused(reason error) scenario {
	return func(ctx context.Context, s *scene) error {
		switch err := signedIn(ctx, s); {
		case err == nil:
			return fmt.Errorf("the server was accepted; expected is: %w", reason)
		case !errors.Is(err, reason):
			return fmt.Errorf("refused for another reason than expected (%w): %w", reason, err)
		}
		return nil
	}
}
