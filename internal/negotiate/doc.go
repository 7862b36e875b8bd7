// Package negotiate is the only one that names both eras: it turns revisions into codecs, and bytes that have just come
// in into a codec or a refusal.
//
// On a server, [Set.Classify] judges what is posted over HTTP, [Set.ClassifyFrame] what comes over a pipe, and
// [Set.ClassifyBatch] arrays on both; [Set.Handshake] picks the revision of a session. On a client, [Set.Discover] and
// [Set.Initialize] are the two openings, and [Set.Judge] says after the first which era the server is of. All of them
// are pure functions: they touch nothing and may be called concurrently.
package negotiate
