package era

import "encoding/json"

// Positions in the table of names that are lifted out of every message (package negotiate builds it from BodyNames and
// MetaNames). Both codecs and the engine read spans by these positions and never parse a message again.
const (
	LiftName = iota
	LiftURI
	LiftTaskID
	LiftArguments
	LiftProtocolVersion
	LiftRequestID
	LiftProgressToken // of notifications/progress
	LiftInputResponses
	LiftRequestState
	LiftResultType
	LiftTTL
	LiftCacheScope
	LiftInputRequests
	LiftMeta
	LiftStructured
)

// BodyNames are the members of params or result that are lifted, by position.
var BodyNames = []string{
	LiftName: "name", LiftURI: "uri", LiftTaskID: "taskId", LiftArguments: "arguments",
	LiftProtocolVersion: "protocolVersion", LiftRequestID: "requestId", LiftProgressToken: "progressToken",
	LiftInputResponses: "inputResponses", LiftRequestState: "requestState", LiftResultType: "resultType",
	LiftTTL: "ttlMs", LiftCacheScope: "cacheScope", LiftInputRequests: "inputRequests", LiftMeta: "_meta",
	LiftStructured: "structuredContent",
}

// Positions in MetaNames.
const (
	MetaClaim = iota
	MetaClientInfo
	MetaClientCapabilities
	MetaLogLevel
	MetaServerInfo
	MetaSubscriptionID
	MetaProgressToken
)

// MetaNames are the members of _meta that are lifted, by position.
var MetaNames = []string{
	MetaClaim:              "io.modelcontextprotocol/protocolVersion",
	MetaClientInfo:         "io.modelcontextprotocol/clientInfo",
	MetaClientCapabilities: "io.modelcontextprotocol/clientCapabilities",
	MetaLogLevel:           "io.modelcontextprotocol/logLevel",
	MetaServerInfo:         "io.modelcontextprotocol/serverInfo",
	MetaSubscriptionID:     "io.modelcontextprotocol/subscriptionId",
	MetaProgressToken:      "progressToken",
}

// Envelope is what a modern request says of its sender, as raw values; nil where absent. On the legacy era it is filled
// from the handshake by the engine.
type Envelope struct {
	ClientInfo         json.RawMessage
	ClientCapabilities json.RawMessage
	LogLevel           json.RawMessage
}
