// Package web is what the handlers of Streamable HTTP and HTTP+SSE have in common: the table of their sessions, and the
// plain answers to requests that are refused before there is JSON-RPC.
package web
