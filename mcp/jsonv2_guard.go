//go:build goexperiment.jsonv2 && !go1.27

package mcp

// Under GOEXPERIMENT=jsonv2 of Go 1.26 and older the JSON module is an alias of the standard experiment, whose tags are
// an earlier draft: it does not know "embed" and would write Extra as a member. The undefined name below stops the
// build, which beats wrong bytes on the wire.
var _ = build_without_GOEXPERIMENT_jsonv2_or_with_Go_1_27
