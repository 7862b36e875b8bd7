// Package openai writes tools, calls and results in the shapes of OpenAI's Chat Completions and Responses, and of endpoints
// that are compatible with the former.
//
// Every function that writes returns JSON for one member of a request; every function that reads takes one member of an
// answer. Members of the model's own messages and items that this package does not know must be sent back as they came, so
// keep those as raw JSON and do not rebuild them.
//
// [ChatStream] and [ResponseStream] join streamed answers. [ReadTools], [ReadChat] and [ReadResponses] go the other way: what
// is in these shapes becomes tools and messages of MCP.
package openai
