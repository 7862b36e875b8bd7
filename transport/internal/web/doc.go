// Package web is what Streamable HTTP and HTTP+SSE have in common. For handlers: the table of their sessions, and the plain
// answers to requests that are refused before there is JSON-RPC. For clients: what they send requests with.
package web
