package interop

import "encoding/json"

// Plan is what a driver does once it is connected. The Node drivers read it as JSON from their standard input.
type Plan struct {
	// Era restricts the negotiation: "auto" (the same as empty), "legacy" or "modern".
	Era string `json:"era,omitempty"`

	// Answers are what the client gives to a server that asks. A client without them declares that it can be asked nothing.
	Answers *Answers `json:"answers,omitempty"`

	// Token is sent with every request over Streamable HTTP, as an access token. The drivers on the official TypeScript SDK
	// and ours know it.
	Token string `json:"token,omitempty"`

	// Login signs a person in where the server wants to know who calls, by the metadata that it names. The same drivers know it,
	// and that for HTTP+SSE on the SDK 1.x.
	Login bool `json:"login,omitempty"`

	// Steps run one after another. A step that fails does not stop the ones behind it.
	Steps []Step `json:"steps"`
}

// Answers are a client's: the user accepts every form with the same content, the model always says the same.
type Answers struct {
	Form  map[string]any `json:"form"`
	Text  string         `json:"text"`
	Model string         `json:"model"`
	Roots []string       `json:"roots"`
}

// Step is one request, or one list with all its pages.
type Step struct {
	// Do is "list", "call", "read", "prompt", "complete" or, for the legacy era, "ping".
	Do string `json:"do"`

	// Kind says what to list: "tools", "resources", "templates" or "prompts".
	Kind string `json:"kind,omitempty"`

	// Name is the tool to call or the prompt to get.
	Name string `json:"name,omitempty"`

	// URI is the resource to read.
	URI string `json:"uri,omitempty"`

	// Arguments go to the tool or the prompt. A prompt takes strings only.
	Arguments map[string]any `json:"arguments,omitzero"`

	// Progress is the number of progress notifications a call is expected to give. Zero asks for none. The driver
	// waits up to ten seconds after the answer for those that its library delivers late, and reports all it saw.
	Progress int `json:"progress,omitempty"`

	// Ref and Argument say what to complete.
	Ref      *Ref      `json:"ref,omitempty"`
	Argument *Argument `json:"argument,omitempty"`
}

// Ref names a prompt or a resource template in a completion.
type Ref struct {
	Type string `json:"type"` // "ref/prompt" with a name, "ref/resource" with a URI
	Name string `json:"name,omitempty"`
	URI  string `json:"uri,omitempty"`
}

// Argument is the argument to complete and what has been typed so far.
type Argument struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Report is what a driver saw.
type Report struct {
	Driver string `json:"driver"`

	// Version is the revision both sides agreed on.
	Version string `json:"version"`

	// Server and Capabilities are what the server said of itself, as JSON objects.
	Server       json.RawMessage `json:"server,omitempty"`
	Capabilities json.RawMessage `json:"capabilities,omitempty"`

	// Error is set when the connection failed; then there are no steps.
	Error *Failure `json:"error,omitempty"`

	// Steps has one outcome for each step of the plan, in its order.
	Steps []Outcome `json:"steps"`
}

// Outcome is what one step gave.
type Outcome struct {
	// Names are the names of tools and prompts, the addresses of resources, the patterns of templates.
	Names []string `json:"names,omitempty"`

	// Items are the listed objects themselves, in the order of Names.
	Items []json.RawMessage `json:"items,omitempty"`

	// Result is the result of every step but a list. That of a ping is {}.
	Result json.RawMessage `json:"result,omitempty"`

	// Progress has one entry for each progress notification of a call, in the order in which they came.
	Progress []Progress `json:"progress,omitempty"`

	// Error is set when the step failed.
	Error *Failure `json:"error,omitempty"`
}

// Progress is one progress notification. A zero total means that none was given.
type Progress struct {
	Progress float64 `json:"progress"`
	Total    float64 `json:"total,omitempty"`
	Message  string  `json:"message,omitempty"`
}

// Failure is an error with its JSON-RPC code, which is zero where the library gives none.
type Failure struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// ToolResult is the part of a tool call's result that checks look at.
type ToolResult struct {
	Content           []Content       `json:"content"`
	StructuredContent json.RawMessage `json:"structuredContent"`
	IsError           bool            `json:"isError"`
}

// Content is one content block, or one item of a resource that was read.
type Content struct {
	Type string `json:"type"`
	URI  string `json:"uri"`
	Text string `json:"text"`
}

// ReadResult is the part of a resource's content that checks look at.
type ReadResult struct {
	Contents []Content `json:"contents"`
}

// PromptResult is the part of a prompt that checks look at.
type PromptResult struct {
	Messages []struct {
		Role    string  `json:"role"`
		Content Content `json:"content"`
	} `json:"messages"`
}

// CompleteResult is the part of a completion that checks look at.
type CompleteResult struct {
	Completion struct {
		Values []string `json:"values"`
	} `json:"completion"`
}
