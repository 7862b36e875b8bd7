// Package observe tells what passes through the gateway: one line of the audit log and one log record for each request that
// goes to a server or is refused, and the trace context that goes on to the server.
//
// An [Observer] stands at two places of one request. Its middleware is outermost at the front: it sees each request once, and
// its answer as the client gets it. Its step is the first in the bridge: it knows where the request goes, and what was asked
// on the way. What others decide about a request they say with [Decide].
//
// Nothing here holds a credential: of clients the log has the names that an authorization layer has found out, of sessions a
// digest of the id, of arguments and results what [AuditOptions] say, with what looks like a secret hidden.
package observe
