// Package llm gives the tools of MCP servers to a model as functions it can call, and carries its calls and their results
// back and forth.
//
//	set, err := llm.Tools(ctx, llm.Client(c), llm.Options{Profile: openai.Chat()})
//	request["tools"] = openai.ChatTools(set)                // definitions out
//	calls, err := openai.ChatCalls(message)                 // calls in, parallel ones too
//	results := set.InvokeAll(ctx, calls)                    // one result for each call, in order
//	messages = append(messages, openai.ChatResults(results)...) // results out
//
// This package is neutral: a [Source] of tools, the [Set] that is bound to one API by a [Profile], [Call], [Result] and
// [Part]. The packages below it hold the shapes of one vendor each: llm/openai (Chat Completions, Responses, and endpoints
// that are compatible with the former), llm/anthropic (Messages), llm/gemini (generateContent). None of them needs a
// vendor's library: the shapes are JSON. llm/portable brings schemas into the form that each API takes.
//
// [Endpoint.Stream] and [Text] show a streamed answer as it comes, and join it into what would have come at once.
// [Definitions] and [History] are the way back: what a program has in the shapes of an API becomes tools and messages of MCP.
//
// # What a set promises
//
//   - Names fit the API, are stable, and are found again through a table, never by taking them apart: see [Profile].
//   - A tool that the API would refuse is left out with a reason ([Set.Skipped]), so that it does not sink all others; what
//     a schema loses is in [Tool.Edits].
//   - Arguments are checked here against the schema that the server listed, whatever the model was told.
//   - Every call has exactly one result. An unknown tool, broken arguments, a failed tool and a lost connection are results
//     with an error that the model can read.
//   - Equal lists give equal bytes, in the order of the servers, so that prompt caches hold. A set never changes; see
//     [Follow] for lists that do.
//
// The same tools answer the other direction too: a server that asks the client's model for a message is answered by
// openai.Sampler, anthropic.Sampler and gemini.Sampler.
package llm
