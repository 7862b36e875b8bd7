// Package mcp is the neutral model of the Model Context Protocol: what both eras talk about, without what only one of
// them writes. It does no I/O and starts no goroutine.
//
// Types are shaped like the newest revision. Members that belong to one era's envelope (resultType, ttlMs, cacheScope,
// requestState in parameters, the io.modelcontextprotocol keys of `_meta`) are added and lifted by that era's codec.
//
// # Map
//
//	Revisions and methods   version.go       names of revisions, best first; era by name
//	                        method.go        names of requests and notifications
//	Who                     implementation.go Implementation, Icon, Role, Annotations
//	                        capabilities.go  ClientCapabilities, ServerCapabilities
//	                        discover.go      DiscoverResult, InitializeParams, InitializeResult
//	                        principal.go     Principal: for whom a request acts
//	Offers                  tools.go         Tool, CallToolParams, CallToolResult, ListToolsResult
//	                        resources.go     Resource, ResourceTemplate, ResourceContents and their results
//	                        prompts.go       Prompt, GetPromptParams, GetPromptResult
//	                        completion.go    CompleteParams, CompleteResult
//	Content                 content.go       Content: TextContent, ImageContent, ... UnknownContent
//	Questions to the client elicitation.go   ElicitFormParams, ElicitURLParams, ElicitResult
//	                        form.go          FormSchema: the schema of a form
//	                        sampling.go      CreateMessageParams, CreateMessageResult
//	                        roots.go         Root, ListRootsResult
//	                        input.go         InputRequired, InputRequests, InputResponses
//	Around a call           meta.go          Meta: the raw `_meta` object and its keys
//	                        token.go         Token: progress tokens and request ids as sent
//	                        progress.go      ProgressParams, CancelledParams
//	                        logging.go       Level, LoggingMessageParams
//	                        paging.go        Cursor, ListParams, Params, Result
//	                        cache.go         CacheHint
//	                        subscriptions.go SubscriptionFilter, ListenParams
//	Beyond the core         extension.go     Extension: more vocabulary as a plain value
//	Errors                  code.go          Code: numbers and sentinels
//	                        errors.go        Error and its constructors
//	                        errors_data.go   readers for the data of named errors
//	JSON                    json.go, append.go, lists.go, wire*.go; broken.go: lists with broken elements
//
// # JSON
//
// Every wire type works with encoding/json and with json v2 alike. Names match exactly, duplicate names and invalid
// UTF-8 are refused, and unknown members survive in the field Extra, which [Member] reads. Nil lists are written as [],
// a null list is read as an empty one, null elements of lists are skipped. A Go string that is not UTF-8 is repaired
// with U+FFFD when it is written. Raw members (json.RawMessage) are checked when written and keep their tokens.
//
// A value is copied freely and safe to read from several goroutines as long as nobody changes it.
package mcp
