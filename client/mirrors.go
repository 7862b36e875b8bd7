package client

import (
	"bytes"
	"encoding/json"
	"iter"
	"math/big"
	"strconv"
	"strings"
	"sync"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/internal/negotiate"
	"github.com/rialto-mcp/rialto/internal/schema"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// mirrors is what a client knows of the arguments that headers repeat: the x-mcp-header declarations of the tools that it
// has seen listed. Only a connection of the modern era over HTTP has one. Its methods may be called concurrently. Spec
// 2026-07-28, basic/transports/streamable-http, "Custom Headers".
type mirrors struct {
	mu    sync.Mutex
	tools map[string]declared // those that declare something
	bytes int                 // of all of them
	epoch int                 // grows when the server says that its tools have changed
}

// declared is what one tool declares. It is used whatever its epoch is: a declaration that may be old is better than none,
// and the server refuses the call if it is wrong.
type declared struct {
	params []schema.HeaderParam
	bytes  int
	epoch  int
}

// mostDeclared bounds what is kept of the declarations of a server, in bytes. A tool for which there is no room costs an
// extra round trip at each call.
const mostDeclared = 4 << 20

// take keeps what one page of tools/list declares, and answers false where there was no room for all of it.
func (m *mirrors) take(page json.RawMessage) bool {
	marked := marks(page)
	room := true
	for name, input := range inputs(page) {
		var params []schema.HeaderParam
		if marked && marks(input) {
			params, _ = schema.HeaderParams(input) // nothing is mirrored of wrong ones; lists say what is wrong
		}
		room = m.keep(name, params) && room
	}
	return room
}

// keep replaces what is known of one tool.
func (m *mirrors) keep(name string, params []schema.HeaderParam) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.drop(name)
	if len(params) == 0 {
		return true
	}
	size := sizeOf(name, params)
	if m.bytes+size > mostDeclared {
		m.dropStale()
	}
	if m.bytes+size > mostDeclared {
		return false
	}
	if m.tools == nil {
		m.tools = make(map[string]declared)
	}
	m.tools[name] = declared{params, size, m.epoch}
	m.bytes += size
	return true
}

func (m *mirrors) drop(name string) {
	m.bytes -= m.tools[name].bytes
	delete(m.tools, name)
}

// dropStale makes room at the cost of tools that the server has not listed since it said that they have changed.
func (m *mirrors) dropStale() {
	for name, d := range m.tools {
		if d.epoch != m.epoch {
			m.drop(name)
		}
	}
}

// stale marks all that is known as what may have changed. A nil m knows nothing.
func (m *mirrors) stale() {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.epoch++
}

// of answers what is known of a tool: nil where it declares nothing, or was never listed.
func (m *mirrors) of(name string) []schema.HeaderParam {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.tools[name].params
}

// sizeOf estimates the memory that declarations take.
func sizeOf(name string, params []schema.HeaderParam) int {
	const each = 64 // headers of slices and strings
	size := each + len(name)
	for _, p := range params {
		size += each + len(p.Name)
		for _, step := range p.Path {
			size += each + len(step)
		}
	}
	return size
}

// marks tells whether JSON may hold the keyword: as it is, or spelled with an escape. Most lists do not, and are not parsed.
func marks(raw []byte) bool {
	return bytes.Contains(raw, []byte("x-mcp-header")) || bytes.Contains(raw, []byte(`\u`))
}

// inputs yields the names and input schemas of a page of tools/list.
func inputs(page json.RawMessage) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		tools, _ := jsonrpc.Member(page, "tools")
		for tool := range jsonrpc.Elements(tools) {
			raw, _ := jsonrpc.Member(tool, "name")
			input, _ := jsonrpc.Member(tool, "inputSchema")
			if name, ok := jsonrpc.Text(raw); ok && !yield(name, input) {
				return
			}
		}
	}
}

// withoutWrong leaves out the tools whose declarations are invalid: the specification forbids calling them over HTTP.
func (c *Client) withoutWrong(tools []mcp.Tool) []mcp.Tool {
	good := tools[:0]
	for _, tool := range tools {
		if err := checkInput(tool.InputSchema); err != nil {
			c.opts.OnError(c.named("left out tool %q, which cannot be called over HTTP: %w", tool.Name, err))
			continue
		}
		good = append(good, tool)
	}
	return good
}

// CheckTool says why a tool of a raw list, given as it stands there, cannot be called on this connection: over HTTP on the
// modern era its x-mcp-header declarations have to be valid. [Client.ListTools] leaves such tools out by itself.
func (c *Client) CheckTool(tool json.RawMessage) error {
	if c.now().mirrors == nil {
		return nil
	}
	input, _ := jsonrpc.Member(tool, "inputSchema")
	return checkInput(input)
}

func checkInput(input json.RawMessage) error {
	if !marks(input) {
		return nil
	}
	_, err := schema.HeaderParams(input)
	return err
}

// headersOf gives the headers that repeat arguments of a call; none for those that are absent, null or no single value. It
// fails for an integer that the specification calls out of range.
func headersOf(declared []schema.HeaderParam, params json.RawMessage) ([][2]string, error) {
	if len(declared) == 0 {
		return nil, nil
	}
	args, _ := jsonrpc.Member(params, "arguments")
	var out [][2]string
	for _, d := range declared {
		raw, ok := d.In(args)
		if !ok {
			continue
		}
		value, ok, err := headerValue(d, raw)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, [2]string{era.HeaderParam + d.Name, value})
		}
	}
	return out, nil
}

// headerValue is the form of one argument in its header; false when it has none. A value of another type than the declared
// one goes out as it is: it is the server that refuses it.
func headerValue(d schema.HeaderParam, raw json.RawMessage) (value string, ok bool, err error) {
	switch raw[0] {
	case '"':
		text, ok := jsonrpc.Text(raw)
		if !ok {
			return "", false, mcp.InvalidParams("the argument %q is no valid text", strings.Join(d.Path, "."))
		}
		return negotiate.EncodeHeader(text), true, nil
	case 'n', '{', '[':
		return "", false, nil
	case 't', 'f':
		return string(raw), true, nil
	}
	value = string(raw)
	if d.Type != "integer" {
		return value, true, nil
	}
	if value, ok = decimal(value); !ok {
		return "", false, mcp.InvalidParams("the argument %q is beyond ±(2^53-1), and the header %s%s that repeats it takes no larger integers",
			strings.Join(d.Path, "."), era.HeaderParam, d.Name)
	}
	return value, true, nil
}

// largest is the largest integer that a header may hold: 2^53-1.
const largest = 1<<53 - 1

// decimal writes an integer without fraction and exponent; false when it is out of range. A number that is no integer stays
// as it is.
func decimal(number string) (string, bool) {
	if n, err := strconv.ParseInt(number, 10, 64); err == nil {
		return strconv.FormatInt(n, 10), -largest <= n && n <= largest
	}
	if !isShort(number) {
		return "", false
	}
	r, ok := new(big.Rat).SetString(number)
	switch {
	case !ok || !r.IsInt():
		return number, true
	case !r.Num().IsInt64():
		return "", false
	}
	return decimal(r.Num().String())
}

// isShort tells whether the exact form of a number takes little room: an exponent of nine digits makes a gigabyte.
func isShort(number string) bool {
	if at := strings.IndexAny(number, "eE"); at >= 0 {
		exponent, err := strconv.Atoi(number[at+1:])
		if err != nil || exponent < -64 || exponent > 64 {
			return false
		}
	}
	return len(number) <= 64
}
