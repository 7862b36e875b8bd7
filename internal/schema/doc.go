// Package schema is the only importer of a JSON Schema library in this module. It compiles the schemas of tools and
// forms, checks raw JSON against them, infers schemas from Go types and carries values of those types over the wire.
//
// # Checking
//
// [Compile] accepts the dialects 2020-12 (also when none is declared), 2019-09, draft-07 and draft-06 (read as
// draft-07). Each schema is compiled alone: two schemas with one $id never see each other, and a reference that leaves
// the document is an error, never a fetch. Depth, the number of subschemas and the work of a check are bounded.
//
// The common subset of keywords becomes a plan that reads the raw bytes once and allocates nothing; see plan.go for
// the list. A schema with any other keyword is left to the library. A plan only ever says "yes" or "ask the library":
// the library has the last word and writes the messages. A differential fuzz test holds the two together.
//
// # Libraries
//
// github.com/santhosh-tekuri/jsonschema/v6 validates: it passes the official suite, takes exact numbers, its loaders
// can be closed, and it was twice as fast as github.com/google/jsonschema-go when measured. The latter's inference
// was considered and not taken: it refuses recursive types, which become $defs here, and its nullable slices and
// numeric durations differ from what the codec of this package writes. Inference is therefore our own.
//
// # Go types
//
// [ForType] and [Codec] follow the same rules, so that a value that passes the inferred schema decodes, and an encoded
// value passes it:
//
//   - A struct is an object without additional members. Members are named by the json tag, else by the Go name, and
//     match exactly. Embedded structs are flattened. An embedded map or jsontext.Value (option embed) keeps unknown
//     members and opens the object.
//   - A member is required unless it has omitempty, omitzero, a default, or a pointer type. A pointer may be null.
//   - omitempty leaves out what encoding/json leaves out: false, 0, nil, and empty strings, slices and maps.
//   - A nil slice is [], a nil map {}; map keys are written in order. Map keys are strings, or integers as strings.
//   - time.Duration is a string like "1m30s", at most 2,499,999 hours either way, its units in descending order.
//   - time.Time is a string of format date-time. A []byte is a base64 string.
//   - json.RawMessage, jsontext.Value and any stand for any value; so does a type with its own JSON methods, unless
//     it says what it takes with a method JSONSchema() json.RawMessage. A type with text methods is a string.
//   - An integer may be written 1.0 or 1e0. Sized integers carry their bounds.
//   - A type that meets itself becomes a $ref into $defs.
//
// What a schema cannot promise is told by Decode as a [*ValidationError] too: a number beyond 64 bits or a sum of
// units beyond the longest duration (rule "range"), and what a type's own method refuses (rule "type").
//
// The tag `jsonschema` describes a field. A text is its description. A text that begins with WORD= is a list of
// settings, see [ForType].
package schema
