package openai

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/llm/internal/pieces"
)

// chatCall is a call whose pieces are still to come.
type chatCall struct {
	index   int  // where it stands among the calls
	asked   int  // the index it came under
	moved   bool // that was another's
	id      string
	name    string
	members *pieces.Object // all but index and the two below
	inner   *pieces.Object // of "function", all but the name
}

// maxCalls is how many calls one answer may have; no model makes as many.
const maxCalls = 1000

// chatPiece is a piece of a call.
type chatPiece struct {
	index    int // -1 where none is given
	id, name string
	args     json.RawMessage
}

// call joins a piece of a call.
func (c *chatChoice) call(raw []byte) {
	if !jsonrpc.IsObject(raw) {
		return
	}
	p := chatPiece{index: pieces.Index(raw, "index"), id: memberText(raw, "id")}
	function, _ := jsonrpc.Member(raw, "function")
	if jsonrpc.IsObject(function) {
		p.name = memberText(function, "name")
		p.args, _ = jsonrpc.Member(function, "arguments")
	}
	call := c.find(p)
	if call == nil {
		call = c.begin(p.index)
	}
	if call.id == "" {
		call.id = p.id
	}
	if call.name != p.name { // it comes once, or in pieces before the arguments
		call.name += p.name
	}
	call.members.Merge(jsonrpc.Without(raw, "id", "index", "function"))
	if jsonrpc.IsObject(function) {
		call.inner.Merge(jsonrpc.Without(function, "name", "arguments"))
		call.arguments(p.args)
	}
}

// find says which call a piece belongs to; nil where it begins one. What the index says holds, unless the piece begins a
// call by its looks: some endpoints count none, some count all of them as the first, and some give every piece an id of its
// own.
func (c *chatChoice) find(p chatPiece) *chatCall {
	if len(c.calls) == 0 {
		return nil
	}
	at := slices.IndexFunc(c.calls, func(call *chatCall) bool { return p.id != "" && call.id == p.id })
	if at >= 0 && (p.index < 0 || c.calls[at].index == p.index || c.calls[at].moved) {
		return c.calls[at]
	}
	var call *chatCall
	if p.index < 0 {
		call = c.calls[len(c.calls)-1]
	}
	for _, one := range c.calls {
		if p.index >= 0 && one.asked == p.index {
			call = one // the last of them
		}
	}
	if call != nil && call.endsBefore(p) {
		return nil
	}
	return call
}

// endsBefore tells whether a piece that names a tool begins another call.
func (call *chatCall) endsBefore(p chatPiece) bool {
	switch {
	case p.name == "" || call.name == "":
		return false
	case p.id != "" && call.id != "":
		return p.id != call.id
	case p.name != call.name:
		return call.inner.Len("arguments") > 0
	}
	said, args := call.inner.Text("arguments"), string(unquoted(p.args))
	return complete(said) && args != "" && (p.index < 0 || complete(args) && args != said)
}

func complete(args string) bool {
	return jsonrpc.IsObject([]byte(args)) && jsontext.Value(args).IsValid()
}

func (c *chatChoice) begin(asked int) *chatCall {
	if len(c.calls) == maxCalls {
		c.room.Close(fmt.Errorf("the answer has more than %d calls", maxCalls))
		return c.calls[len(c.calls)-1]
	}
	call := &chatCall{index: asked, asked: asked, members: c.room.New(), inner: c.room.New()}
	for _, one := range c.calls {
		if asked < 0 || one.index == asked {
			call.moved = true
		}
	}
	if call.moved || asked < 0 {
		call.index = 0
		for _, one := range c.calls {
			call.index = max(call.index, one.index+1)
		}
	}
	c.calls = append(c.calls, call)
	return call
}

// arguments joins what a piece says of the arguments: a piece of a string, or an object. An object that is said twice
// counts once.
func (call *chatCall) arguments(args []byte) {
	said, isText := jsonrpc.Text(args)
	switch {
	case jsonrpc.IsObject(args):
		call.inner.SetText("arguments", string(args))
	case !isText:
	case len(said) == call.inner.Len("arguments") && complete(said) && said == call.inner.Text("arguments"):
	default:
		call.inner.Add("arguments", said)
	}
}

// wholeCalls writes the calls in their order.
func wholeCalls(calls []*chatCall, room *pieces.Room) json.RawMessage {
	calls = slices.Clone(calls)
	slices.SortStableFunc(calls, func(a, b *chatCall) int { return a.index - b.index })
	out := room.NewList()
	for _, call := range calls {
		one := room.New()
		if call.id != "" {
			one.SetText("id", call.id)
		}
		one.SetText("type", "function")
		for name, v := range jsonrpc.Members(call.members.JSON()) {
			if string(v) != "null" {
				one.Set(name, v)
			}
		}
		if !one.Has("custom") {
			function := one.Object("function")
			function.SetText("name", call.name)
			function.SetText("arguments", "")
			for name, v := range jsonrpc.Members(call.inner.JSON()) {
				function.Set(name, v)
			}
		}
		out.Append(one.JSON())
	}
	return out.JSON()
}

func memberText(from []byte, name string) string {
	v, _ := jsonrpc.Member(from, name)
	said, _ := jsonrpc.Text(v)
	return said
}
