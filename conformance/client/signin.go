package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/rialto-mcp/rialto/auth/oauth"
	"github.com/rialto-mcp/rialto/client"
)

// metadataURL is the client's id where authorization servers read such documents; the suite expects this one.
const metadataURL = "https://conformance-test.local/client-metadata.json"

// signedIn uses a server that wants authorization, as a person with a browser.
func signedIn(ctx context.Context, s *scene) error { return signedInAs(person)(ctx, s) }

// signedInAs uses a server that wants authorization.
func signedInAs(who func(g *given) (oauth.Options, error)) scenario {
	return func(ctx context.Context, s *scene) error {
		opts, err := who(&s.given)
		if err != nil {
			return err
		}
		opts.ClientName = "Rialto conformance client"
		auth, err := oauth.New(s.url, opts)
		if err != nil {
			return err
		}
		with := answering()
		with.HTTPClient = auth.Client()
		err = s.dial(ctx, with, func(c *client.Client) error { return use(ctx, c) })
		return errors.Join(err, auth.Close())
	}
}

// person is somebody with a browser, who agrees to everything at once.
func person(*given) (oauth.Options, error) {
	return oauth.Options{Flow: oauth.Browser{Open: visit}, ClientMetadataURL: metadataURL}, nil
}

// visit is the browser: it goes where it is sent, back to the client in the end.
func visit(ctx context.Context, page string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, page, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the browser ended on a page with HTTP status %d", resp.StatusCode)
	}
	return nil
}

// oldDiscovery is a person at a server of 2025-03-26, which publishes nothing about its authorization server.
func oldDiscovery(g *given) (oauth.Options, error) {
	opts, err := person(g)
	opts.OldDiscovery = true
	return opts, err
}

// known is a person whose client the authorization server knows.
func known(g *given) (oauth.Options, error) {
	opts, err := person(g)
	opts.Credentials = g.credentials()
	return opts, err
}

// program works by itself, with a secret.
func program(g *given) (oauth.Options, error) {
	return oauth.Options{Flow: oauth.ClientCredentials{}, Credentials: g.credentials()}, nil
}

// programWithKey works by itself, and signs who it is.
func programWithKey(g *given) (oauth.Options, error) {
	key, err := oauth.ParseKey([]byte(g.PrivateKey), g.Algorithm, "")
	return oauth.Options{Flow: oauth.ClientCredentials{}, Credentials: []oauth.Credentials{{ClientID: g.ClientID, Key: key}}}, err
}

// employee has signed in at the identity provider of a company.
func employee(g *given) (oauth.Options, error) {
	return oauth.Options{
		Flow: oauth.Enterprise{
			Provider: g.Provider, TokenEndpoint: g.ProviderEndpoint, Client: oauth.Credentials{ClientID: g.ProviderClientID},
			Identity: func(context.Context) (string, error) { return g.ProviderToken, nil },
		},
		Credentials: g.credentials(),
	}, nil
}

// workload has an identity of the platform it runs on.
func workload(g *given) (oauth.Options, error) {
	return oauth.Options{
		Flow:        oauth.Workload{Assertion: func(context.Context, string) (string, error) { return g.WorkloadToken, nil }},
		Credentials: g.credentials(),
	}, nil
}

func (g *given) credentials() []oauth.Credentials {
	return []oauth.Credentials{{ClientID: g.ClientID, Secret: g.ClientSecret}}
}
