package era

import "github.com/rialto-mcp/rialto/jsonrpc"

// Object appends one JSON object, member by member, and writes the commas. Line breaks of raw values are left out.
type Object struct {
	dst   []byte
	start int
}

// OpenObject begins an object behind dst.
func OpenObject(dst []byte) Object { return Object{dst: append(dst, '{'), start: len(dst) + 1} }

func (o *Object) comma() {
	if len(o.dst) > o.start {
		o.dst = append(o.dst, ',')
	}
}

// Keep copies a member as it stands.
func (o *Object) Keep(f jsonrpc.Field) { o.dst = jsonrpc.AppendRaw(o.KeyOf(f), f.Value) }

// Put writes a member. The name needs no escapes.
func (o *Object) Put(name string, value []byte) {
	o.dst = jsonrpc.AppendRaw(o.Key(name), value)
}

// Pairs copies members given as `"name":value` joined by commas.
func (o *Object) Pairs(pairs []byte) {
	if len(pairs) > 0 {
		o.comma()
		o.dst = append(o.dst, pairs...)
	}
}

// Key writes the name of a member and hands over the bytes so far, for a value that is appended elsewhere; Resume takes
// them back. The name needs no escapes.
func (o *Object) Key(name string) []byte {
	o.comma()
	o.dst = append(append(append(o.dst, '"'), name...), `":`...)
	return o.dst
}

// KeyOf is Key for the name of a member, as it stands.
func (o *Object) KeyOf(f jsonrpc.Field) []byte {
	o.comma()
	o.dst = append(append(o.dst, f.Name...), ':')
	return o.dst
}

// Resume goes on behind a value that was appended to what Key answered.
func (o *Object) Resume(dst []byte) { o.dst = dst }

// Close ends the object and returns everything.
func (o *Object) Close() []byte { return append(o.dst, '}') }
