package mcp

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// lenientLists says how arrays from a peer are read: null is an empty list, a null element is skipped. Peers whose
// language writes nil lists as null exist, and one hole must not hide a whole list of tools.
var lenientLists = json.JoinUnmarshalers(
	json.UnmarshalFromFunc(readContent),
	listOf[Content](),
	listOf[Tool](),
	listOf[Resource](),
	listOf[ResourceTemplate](),
	listOf[Prompt](),
	listOf[PromptArgument](),
	listOf[PromptMessage](),
	listOf[ResourceContents](),
	listOf[SamplingMessage](),
	listOf[Root](),
	listOf[Icon](),
)

// listOf reads an array of T with the options already set on the decoder.
func listOf[T any]() *json.Unmarshalers {
	return json.UnmarshalFromFunc(func(dec *jsontext.Decoder, out *[]T) error {
		*out = nil
		if dec.PeekKind() != '[' {
			var none []struct{} // null leaves nil; anything else gets the decoder's own error
			return json.UnmarshalDecode(dec, &none)
		}
		if _, err := dec.ReadToken(); err != nil {
			return err
		}
		items := []T{}
		for dec.PeekKind() != ']' {
			if dec.PeekKind() == 'n' {
				if err := dec.SkipValue(); err != nil {
					return err
				}
				continue
			}
			var item T
			if err := json.UnmarshalDecode(dec, &item); err != nil {
				return err
			}
			items = append(items, item)
		}
		*out = items
		_, err := dec.ReadToken()
		return err
	})
}

// innerOptions are decodeOptions for the members of a tool result.
var innerOptions = json.JoinOptions(decodeOptions, json.WithUnmarshalers(json.JoinUnmarshalers(
	json.UnmarshalFromFunc(readInnerContent),
	lenientLists,
)))
