// Package pieces joins JSON that arrives in pieces: the messages of a model, as the streams of its API tell them.
//
// Members keep the order in which they came, and strings grow in place, so that an answer of a hundred thousand pieces
// costs as much as its size and not its square. Nothing here is safe for concurrent use.
package pieces

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/rialto-mcp/rialto/jsonrpc"
)

// DefaultMax is how many bytes a Room has when it is told nothing else: 10 MiB.
const DefaultMax = 10 << 20

// perValue is what a value costs beside its bytes, so that a great many empty ones find an end too.
const perValue = 64

// Room bounds what is kept of one answer. Once it is full, nothing more is kept, and Err says so.
type Room struct {
	Max  int64 // bytes. Zero means DefaultMax; negative means no bound
	used int64
	err  error
}

func (r *Room) take(n int) bool {
	most := r.Max
	if most == 0 {
		most = DefaultMax
	}
	if r.err == nil && most > 0 && r.used+int64(n) > most {
		r.err = fmt.Errorf("the answer has more than %d bytes", most)
	}
	if r.err != nil {
		return false
	}
	r.used += int64(n)
	return true
}

// Close says that an answer is refused for another reason. The first one counts.
func (r *Room) Close(why error) {
	if r.err == nil {
		r.err = why
	}
}

// Err is why an answer is refused: it is too large, or closed. Nil while it is not.
func (r *Room) Err() error { return r.err }

// Forget gives back what an object takes that is not kept any longer.
func (r *Room) Forget(o *Object) { r.used -= o.cost() }

// value is a raw value, a text that grows, an Object or a List.
type value interface {
	append(dst []byte) []byte
	cost() int64 // at most what was taken for it
}

type raw json.RawMessage

func (v raw) append(dst []byte) []byte { return append(dst, v...) }

func (v raw) cost() int64 { return int64(len(v)) }

type text struct{ said []byte }

func (v *text) cost() int64 { return int64(len(v.said)) }

func (v *text) append(dst []byte) []byte { return jsonrpc.AppendString(dst, string(v.said)) }

// Object is an object that grows.
type Object struct {
	room   *Room
	names  []string
	values []value
	places map[string]int // of the names, once there are many
}

// many is from how many members on a table pays.
const many = 16

// New is an object without members.
func (r *Room) New() *Object { return &Object{room: r} }

// Read is an object with the members of a valid JSON value; none where that is no object.
func (r *Room) Read(from []byte) *Object {
	o := r.New()
	for name, v := range jsonrpc.Members(from) {
		o.Set(name, v)
	}
	return o
}

func (o *Object) place(name string) int {
	if o.places == nil {
		return slices.Index(o.names, name)
	}
	if i, ok := o.places[name]; ok {
		return i
	}
	return -1
}

func (o *Object) find(name string) value {
	if i := o.place(name); i >= 0 {
		return o.values[i]
	}
	return nil
}

func (o *Object) put(name string, v value) {
	if i := o.place(name); i >= 0 {
		o.values[i] = v
		return
	}
	if !o.room.take(perValue + len(name)) {
		return
	}
	o.names, o.values = append(o.names, name), append(o.values, v)
	if o.places != nil {
		o.places[name] = len(o.names) - 1
	} else if len(o.names) > many {
		o.number()
	}
}

func (o *Object) number() {
	o.places = make(map[string]int, len(o.names))
	for i, name := range o.names {
		o.places[name] = i
	}
}

// Has tells whether a member is there.
func (o *Object) Has(name string) bool { return o.find(name) != nil }

// IsList tells whether a member is a list that grows.
func (o *Object) IsList(name string) bool {
	_, ok := o.find(name).(*List)
	return ok
}

// Get is the value of a member as it stands; nil where there is none.
func (o *Object) Get(name string) json.RawMessage {
	v := o.find(name)
	if v == nil {
		return nil
	}
	return v.append(nil)
}

// Text is the value of a member that is a string; "" for all else.
func (o *Object) Text(name string) string {
	switch v := o.find(name).(type) {
	case *text:
		return string(v.said)
	case raw:
		said, _ := jsonrpc.Text(v)
		return said
	}
	return ""
}

// Len is how many bytes the text of a member has; 0 where it is none.
func (o *Object) Len(name string) int {
	if t, ok := o.find(name).(*text); ok {
		return len(t.said)
	}
	return len(o.Text(name))
}

// Set gives a member a value, in its old place or at the end.
func (o *Object) Set(name string, v json.RawMessage) {
	v = slices.Clone(v)
	o.release(name) // what is said anew in every piece (counts of tokens, say) costs once
	if o.room.take(len(v)) {
		o.put(name, raw(v))
	}
}

// release gives back what the value of a member takes, before another takes its place.
func (o *Object) release(name string) {
	if i := o.place(name); i >= 0 {
		o.room.used -= o.values[i].cost()
		o.values[i] = raw(nil)
	}
}

// SetText gives a member a string.
func (o *Object) SetText(name, said string) { o.Set(name, jsonrpc.AppendString(nil, said)) }

// Add adds to a string. A member that is none yet, or no string, becomes one.
func (o *Object) Add(name, piece string) {
	t, ok := o.find(name).(*text)
	if !ok {
		t = &text{[]byte(o.Text(name))}
		o.release(name)
		if !o.room.take(len(t.said)) {
			return
		}
		o.put(name, t)
	}
	if o.room.take(len(piece)) {
		t.said = append(t.said, piece...)
	}
}

// Object is a member that is an object which grows.
func (o *Object) Object(name string) *Object {
	switch v := o.find(name).(type) {
	case *Object:
		return v
	case raw:
		o.release(name)
		inner := o.room.Read(v)
		o.put(name, inner)
		return inner
	}
	o.release(name)
	inner := o.room.New()
	o.put(name, inner)
	return inner
}

// List is a member that is a list which grows.
func (o *Object) List(name string) *List {
	if l, ok := o.find(name).(*List); ok {
		return l
	}
	l := &List{room: o.room}
	v, ok := o.find(name).(raw)
	o.release(name)
	if ok {
		for item := range jsonrpc.Elements(v) {
			l.Append(item)
		}
	}
	o.put(name, l)
	return l
}

// Drop takes a member out.
func (o *Object) Drop(name string) {
	i := o.place(name)
	if i < 0 {
		return
	}
	o.room.used -= perValue + int64(len(name)) + o.values[i].cost()
	o.names, o.values = slices.Delete(o.names, i, i+1), slices.Delete(o.values, i, i+1)
	if o.places != nil {
		o.number()
	}
}

func (o *Object) append(dst []byte) []byte {
	dst = append(dst, '{')
	for i, name := range o.names {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(jsonrpc.AppendString(dst, name), ':')
		dst = o.values[i].append(dst)
	}
	return append(dst, '}')
}

func (o *Object) cost() (sum int64) {
	for i, name := range o.names {
		sum += perValue + int64(len(name)) + o.values[i].cost()
	}
	return sum
}

// JSON is the object as it stands.
func (o *Object) JSON() json.RawMessage { return o.append(nil) }

// NewList is a list without items.
func (r *Room) NewList() *List { return &List{room: r} }

// List is a list that grows.
type List struct {
	room    *Room
	items   []value
	indexed map[int]int // where the items are that have an "index"
}

// Len is how many items there are.
func (l *List) Len() int { return len(l.items) }

// Append adds an item.
func (l *List) Append(item json.RawMessage) {
	if !l.room.take(perValue + len(item)) {
		return
	}
	if n := Index(item, "index"); n >= 0 {
		if l.indexed == nil {
			l.indexed = map[int]int{}
		}
		l.indexed[n] = len(l.items)
	}
	l.items = append(l.items, raw(slices.Clone(item)))
}

// At is an item that is an object which grows; nil where there is none.
func (l *List) At(i int) *Object {
	if i < 0 || i >= len(l.items) {
		return nil
	}
	if o, ok := l.items[i].(*Object); ok {
		return o
	}
	v, _ := l.items[i].(raw)
	l.room.used -= v.cost()
	o := l.room.Read(v)
	l.items[i] = o
	return o
}

func (l *List) cost() (sum int64) {
	for _, item := range l.items {
		sum += perValue + item.cost()
	}
	return sum
}

// JSON is the list as it stands.
func (l *List) JSON() json.RawMessage { return l.append(nil) }

func (l *List) append(dst []byte) []byte {
	dst = append(dst, '[')
	for i, item := range l.items {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = item.append(dst)
	}
	return append(dst, ']')
}

// Index reads a member that is a whole number from 0 on; -1 for all else.
func Index(from []byte, name string) int {
	if !jsonrpc.IsObject(from) {
		return -1
	}
	v, _ := jsonrpc.Member(from, name)
	n, err := strconv.Atoi(string(v))
	if err != nil || n < 0 {
		return -1
	}
	return n
}
