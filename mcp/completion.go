package mcp

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// Kinds of [CompletionRef].
const (
	RefPrompt   = "ref/prompt"
	RefResource = "ref/resource"
)

// MaxCompletionValues is how many values one answer may carry.
const MaxCompletionValues = 100

// CompleteParams are the parameters of completion/complete.
type CompleteParams struct {
	Ref      CompletionRef      `json:"ref"`
	Argument CompletionArgument `json:"argument"`
	Context  *CompletionContext `json:"context,omitzero"` // from 2025-06-18 on
	Meta     Meta               `json:"_meta,omitzero"`
	Extra    jsontext.Value     `json:",embed"`
}

// CompletionRef points to the prompt (Name) or the resource template (URI) whose argument is completed.
type CompletionRef struct {
	Type  string         `json:"type"` // RefPrompt or RefResource
	Name  string         `json:"name,omitzero"`
	Title string         `json:"title,omitzero"`
	URI   string         `json:"uri,omitzero"`
	Extra jsontext.Value `json:",embed"`
}

// PromptRef points to a prompt.
func PromptRef(name string) CompletionRef { return CompletionRef{Type: RefPrompt, Name: name} }

// ResourceRef points to a resource template.
func ResourceRef(uri string) CompletionRef { return CompletionRef{Type: RefResource, URI: uri} }

// Check says why a reference points nowhere.
func (r CompletionRef) Check() error {
	switch {
	case r.Type == RefPrompt && r.Name == "":
		return fmt.Errorf("a reference of type %q needs a name", RefPrompt)
	case r.Type == RefResource && r.URI == "":
		return fmt.Errorf("a reference of type %q needs a uri", RefResource)
	case r.Type != RefPrompt && r.Type != RefResource:
		return fmt.Errorf("reference type %q is unknown; use %q or %q", r.Type, RefPrompt, RefResource)
	}
	return nil
}

// CompletionArgument is the argument being typed and what stands there so far.
type CompletionArgument struct {
	Name  string         `json:"name"`
	Value string         `json:"value"`
	Extra jsontext.Value `json:",embed"`
}

// CompletionContext holds the arguments that are settled already.
type CompletionContext struct {
	Arguments map[string]string `json:"arguments,omitzero"`
	Extra     jsontext.Value    `json:",embed"`
}

// CompleteResult answers completion/complete.
type CompleteResult struct {
	Completion Completion     `json:"completion"`
	Meta       Meta           `json:"_meta,omitzero"`
	Extra      jsontext.Value `json:",embed"`
}

// Completion is a list of suggestions, at most [MaxCompletionValues].
type Completion struct {
	Values  []string       `json:"values"`
	Total   *int64         `json:"total,omitzero"`   // how many there are in all; 0 is written
	HasMore *bool          `json:"hasMore,omitzero"` // absent means unknown
	Extra   jsontext.Value `json:",embed"`
}

// NewCompletion cuts values to what one answer may carry and counts the rest.
func NewCompletion(values []string) Completion {
	total, more := int64(len(values)), len(values) > MaxCompletionValues
	if more {
		values = values[:MaxCompletionValues]
	}
	return Completion{Values: values, Total: &total, HasMore: &more}
}
