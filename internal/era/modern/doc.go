// Package modern speaks the stateless era: one [Codec] for each revision, of which there is one, 2026-07-28.
//
// Every request carries who sends it (envelope.go), over HTTP a few headers repeat what the body says (headers.go), and
// every result is stamped with what kind of result it is, how long it keeps and who made it (stamp.go). What the revision
// has stands in table.go and traits.go.
package modern
