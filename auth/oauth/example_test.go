package oauth_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/rialto-mcp/rialto/auth/oauth"
	"github.com/rialto-mcp/rialto/client"
)

// A person signs in with a browser, once; the tokens are kept in a folder for the next time.
func Example() {
	office := openOffice(nil)
	defer office.close()
	address, ctx := office.address, context.Background()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)

	// [browser]
	store, err := oauth.OpenFiles(filepath.Join(dir, "tokens")) // in a folder of the user's own
	if err != nil {
		panic(err)
	}
	auth, err := oauth.New(address, oauth.Options{
		Flow:       oauth.Browser{Open: agree}, // without Open the system's browser is used
		ClientName: "Notes on a train",
		Store:      store,
	})
	if err != nil {
		panic(err)
	}
	defer auth.Close()
	if err := auth.Login(ctx); err != nil { // waits for the person; a dial has 15 seconds
		panic(err)
	}
	c, err := client.DialHTTP(ctx, address, client.Options{HTTPClient: auth.Client()})
	// [end]
	if err != nil {
		panic(err)
	}
	defer c.Close()
	result, err := c.CallTool(ctx, "read", nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(result.Text())
	// Output: notes of Ada
}

// A program works by itself, with credentials that it was given.
func ExampleClientCredentials() {
	office := openOffice(nil)
	defer office.close()
	address, issuer, ctx := office.address, office.login, context.Background()

	// [machine]
	auth, err := oauth.New(address, oauth.Options{
		Flow:        oauth.ClientCredentials{},
		Credentials: []oauth.Credentials{{Issuer: issuer, ClientID: "nightly-report", Secret: "from your vault"}},
	})
	// [end]
	if err != nil {
		panic(err)
	}
	defer auth.Close()
	c, err := client.DialHTTP(ctx, address, client.Options{HTTPClient: auth.Client()})
	if err != nil {
		panic(err)
	}
	defer c.Close()
	result, err := c.CallTool(ctx, "write", nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(result.Text(), "by", office.granted())
	// Output: written by client_credentials client_credentials
}
