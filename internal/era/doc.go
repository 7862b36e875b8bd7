// Package era is the seam between the two eras of the Model Context Protocol and everything that must not know them.
//
// All that differs between eras sits behind [Codec]: one object for each revision, made by package negotiate. On the way
// in a codec turns a message into a [Call] or a [Notice], or says with a [Refusal] why not; on the way out it turns an
// [Outcome], an [Outgoing] request or a [Notice] into bytes. What the core may know of a peer it asks of [Traits].
//
//	wire      -> jsonrpc.Message -> Codec.DecodeCall     -> Call     -> handler
//	handler   -> Outcome         -> Codec.AppendOutcome  -> bytes    -> wire
//	caller    -> Outgoing        -> Codec.AppendCall     -> bytes    -> wire
//	wire      -> jsonrpc.Message -> Codec.DecodeOutcome  -> Outcome  -> caller
//
// Neutral JSON is the wire object without the members that only one era has. Raw values are never changed in place and
// never marshalled again: codecs cut and splice members.
package era
