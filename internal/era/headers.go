package era

// Names of HTTP headers that the protocol defines, in the form net/http keeps them in. What the client sends with a message
// a codec says (CallHeaders, NoticeHeaders); the session belongs to the HTTP bindings alone.
const (
	HeaderVersion = "Mcp-Protocol-Version" // both eras, from 2025-06-18 on
	HeaderMethod  = "Mcp-Method"           // 2026-07-28, basic/transports/streamable-http
	HeaderName    = "Mcp-Name"             // likewise
	HeaderParam   = "Mcp-Param-"           // 2026-07-28, likewise, "Custom Headers": the beginning of the names
)

// Headers lets codecs and the server read the HTTP headers of an exchange. Several lines of one header are joined by
// ", ". A nil Headers means that the exchange did not come over HTTP.
type Headers interface {
	Header(name string) (value string, present bool)
}
