// Package legacy speaks the revisions of the handshake era, 2024-10-07 to 2025-11-25: one [Codec] for each.
//
// What a revision has stands in table.go (methods) and traits.go (behaviour). The codec never stamps: a result leaves as
// the handler made it, but for structured content and output schemas, which these revisions want to be objects
// (output.go). No member of the modern era is ever added.
package legacy
