// Package bridge serves the lists of all upstreams as one server: the server's door in, the upstreams' connections out.
//
// Requests are looked up in the table of package route, and relayed as raw JSON: of the parameters only the name or the
// address is exchanged, of an answer only the addresses of resources that are shown under another name; every other token
// leaves as it came. Progress comes back under the caller's own token, cancellation goes on by the context, an error of an
// upstream keeps its code and data.
//
// Arguments that a tool marks with x-mcp-header are judged where a client of the modern era repeats them in headers, by the
// definition that is shown; the headers for the server are made anew from the body, by the client that reads its lists.
//
// What a client can do is told to an upstream only where both are of the modern era: there a question comes back as a
// result, which is passed on byte for byte like the answer to it. For every other pairing nothing is declared, so nothing
// is asked that could not be answered.
package bridge
