// Package portable rewrites JSON Schema into what the tool interfaces of model APIs take, and says what it cost.
//
//	made, err := portable.Make(tool.InputSchema, portable.Gemini)
//	for _, edit := range made.Edits { ... }      // everything the model is no longer told, or told differently
//	args, err := made.Restore(argumentsOfTheModel) // keys and values as the first schema names them
//
// A schema that one API refuses sinks the whole request there, so [Make] errs on the side of what is certain to be taken:
// references are written out where they end, draft-04 and draft-07 forms become those of 2020-12, keywords that no dialect
// reads go, and what a dialect has no word for moves into the description where a model can read it.
//
// Two kinds of edit lose something. A [Widened] schema accepts more than the first one: harmless where arguments are
// checked against the first schema before they are used, as package llm does. A [Narrowed] one makes the model write
// less, or something else, which [Schema.Restore] turns back. Where no edit widens, what the new schema accepts is, once
// restored, valid under the first one; where no edit narrows, it accepts whatever the first one does. Tests hold both over
// many schemas.
//
// Order of members is kept, and equal schemas give equal bytes, so that prompt caches hold.
package portable
