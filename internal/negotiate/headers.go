package negotiate

import "github.com/rialto-mcp/rialto/internal/era/modern"

// EncodeHeader gives a value the form that it has in a header which mirrors it. Spec 2026-07-28,
// basic/transports/streamable-http, "Value Encoding".
func EncodeHeader(value string) string { return modern.EncodeHeader(value) }

// DecodeHeader reads a value that a header mirrors, in the plain or the encoded form; false for an encoded form that is
// broken. Spec 2026-07-28, basic/transports/streamable-http, "Value Encoding".
func DecodeHeader(value string) (string, bool) { return modern.DecodeHeader(value) }
