package era

// Traits is what the core may know about a peer: the answers of one revision. The packages legacy and modern
// give them, each in its traits.go. The core asks for behaviour and never sees a date.
type Traits struct {
	Handshake            bool // opens with initialize; the session carries identity, capabilities and log level
	ServerMayCall        bool // the server may send requests while it serves one
	Unsolicited          bool // the server may send notifications that belong to no request
	Sessions             bool // over HTTP: session ids, GET streams, DELETE
	Resumable            bool // a broken stream can be continued from an event id
	PrimesStreams        bool // the server sends a priming event and retry, and may close a stream early
	CancelsByClose       bool // over HTTP a lost connection cancels the request, and that is how a client cancels
	Batches              bool // arrays of messages are taken
	ErrorIDOptional      bool // an error may come without id
	CancelIDOptional     bool // notifications/cancelled may come without requestId
	PerRequestLevel      bool // the log level rides in each request; absent means no logs
	InputErrorsAsResults bool // arguments that break a tool's schema make an isError result, not an error
	StructuredContent    bool // results may hold structuredContent, tools an outputSchema
	AnyOutputSchema      bool // structured content may be any JSON value
	Completions          bool // completion is a capability of its own
	Elicitation          bool // forms can be asked
	URLElicitation       bool // URLs can be asked
	SamplingTools        bool // sampling requests may hold tools
	InputRounds          bool // questions ride in input_required results and are answered by a retry
	Listen               bool // change notices come on subscriptions/listen
	Tasks                bool // the experimental tasks of the core
	TaskResults          bool // the result of a task is fetched by tasks/result, which waits and carries the task's questions
	FinalTasks           bool // to cancel a task that has ended is an error
	Extensions           bool // capabilities have an extensions member by the schema
	CacheHints           bool // complete results carry ttlMs and cacheScope
	HeaderMirrors        bool // over HTTP, headers mirror the method, the name and marked parameters
}
