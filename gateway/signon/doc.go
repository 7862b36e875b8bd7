// Package signon says with which credentials the gateway connects to servers that want some.
//
// By default the gateway is one client of a server, with what the entry of the server says: fixed headers, or "oauth", for which
// somebody has signed in once (rialto login). A server may be called for each caller instead ([Settings]): with a token that is
// exchanged for the one the caller has shown, or with tokens of a login that the caller makes at the server. Each caller has
// connections of its own then (see package upstream), and no token of one is ever used for another. The token that a caller has
// shown to the gateway is given to the authorization server that exchanges it, and to nobody else.
package signon
