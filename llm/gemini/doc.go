// Package gemini writes tools, calls and results in the shapes of Google's generateContent.
//
// The model's own contents must be sent back as they came, thought signatures included, so keep them as raw JSON.
//
// [Stream] joins a streamed answer. [ReadTools] and [ReadContents] go the other way: what is in these shapes becomes tools and
// messages of MCP.
package gemini
