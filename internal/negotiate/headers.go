package negotiate

import "github.com/rialto-mcp/rialto/internal/era/modern"

// EncodeHeader returns a value in the form in which a header mirrors it. Spec 2026-07-28,
// basic/transports/streamable-http, "Value Encoding".
func EncodeHeader(value string) string { return modern.EncodeHeader(value) }

// DecodeHeader reads a mirrored value, in the plain or the encoded form; false for an encoded form that is broken.
func DecodeHeader(value string) (string, bool) { return modern.DecodeHeader(value) }
