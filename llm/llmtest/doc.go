// Package llmtest plays the endpoints of model APIs, for tests and for trying things out without a key.
//
// What they say comes from a [Script]. What they are sent is judged as the real ones judge it: names, schemas, the order of
// calls and results, and the kinds of content are refused with status 400 and the vendor's form of an error where the real
// endpoint is known to refuse them. That makes them stricter than most imitations, and no proof that the real ones are not
// stricter still.
//
// A request that asks for a streamed answer gets the same answer in small pieces, calls by turns, with the events that say
// nothing that the real ones send in between.
package llmtest
