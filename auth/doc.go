// Package auth protects an MCP server over HTTP as an OAuth resource server: who calls is found out from an access token,
// and a client without a good one is told where to get it.
//
//	guarded := auth.Bearer(auth.Options{
//		Resource:             "https://mcp.example.com/mcp",
//		AuthorizationServers: []string{"https://login.example.com"},
//		Verifier:             tokens,
//	})(s.Handler())
//
// [Bearer] is the middleware and [Metadata] the document that clients look for (RFC 9728). A [Verifier] says whose a token
// is: [NewJWT] for signed tokens, [NewIntrospection] for those that the authorization server has to be asked about,
// [StaticTokens] for keys in a file, [AnyOf] for several, or a function of yours.
//
// A request that passes carries an [mcp.Principal], which server.Request.Principal returns, and to which legacy sessions
// belong by issuer, subject and client: a fresh token of the same user goes on with a session, and the token of another
// finds none. The token itself ends here. It is in no log, no error and no context, and the headers that carry it are taken
// off before the server sees the request, so nothing can pass it on.
//
// Spec 2026-07-28, basic/authorization. The client's side is the package auth/oauth.
package auth
