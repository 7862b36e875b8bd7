// Package oauth gets and keeps the tokens that a client needs at an MCP server which wants authorization.
//
// An [Authorizer] stands between a client and one server. It sends what the client sends, and when the server answers 401
// it finds out who gives tokens for the server, gets one, and sends the request once more:
//
//	auth, err := oauth.New("https://example.com/mcp", oauth.Options{Flow: oauth.Browser{}})
//	...
//	defer auth.Close()
//	c, err := client.DialHTTP(ctx, "https://example.com/mcp", client.Options{HTTPClient: auth.Client()})
//
// A dial has 15 seconds by default, and a person in front of a browser needs more: a program with a person calls
// [Authorizer.Login] first, which waits as long as its context allows.
//
// # Flows
//
// How a token is got is the [Flow]: [Browser] (a person, and a browser on this machine), [Redirect] (a person, and a web
// application of yours), [Device] (a person with another device), [ClientCredentials] (a program by itself), [Enterprise]
// (a person whose company decides, by an identity assertion), [Exchange] (a program that acts for who has called it),
// [Workload] (a program with an identity of its platform). [Stored] only uses and refreshes what others have stored.
//
// # What is checked
//
// The resource that the server publishes covers the address asked for; the metadata of an authorization server names
// itself; PKCE is offered; the answer to a login carries the state sent and the issuer expected; credentials go to no
// other issuer than their own. Addresses that a server names are reached over TLS only, and never further inside than the
// server is itself: in a private network, or on this machine. A token goes to the origin of the server and nowhere else. A
// request that has an Authorization header already is sent as it is, and nothing is looked up for it.
//
// # Tokens
//
// They are kept in a [Store]: in memory by default, [OpenFiles] keeps them in a folder that several processes share. One
// process at a time refreshes or logs in; the others wait and use what it has got. No error and no log record contains a
// token, a code or a secret.
//
// Spec 2026-07-28, basic/authorization; 2025-11-25, basic/authorization; extensions oauth-client-credentials and
// enterprise-managed-authorization.
package oauth
