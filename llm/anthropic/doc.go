// Package anthropic writes tools, calls and results in the shapes of Anthropic's Messages API. Definitions, calls and
// results are the same in the API versions 2023-06-01 and 2026-10-21.
//
// The model's own messages must be sent back as they came, thinking and its signatures included, so keep them as raw JSON.
//
// [Stream] joins a streamed answer. [ReadTools] and [ReadMessages] go the other way: what is in these shapes becomes tools and
// messages of MCP.
package anthropic
