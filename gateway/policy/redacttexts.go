package policy

import (
	"encoding/json"
	"slices"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// texts says which texts of a message are looked at. The zero value is all that are values; names of members never are.
type texts struct {
	but   []string // members whose text is left, since a program goes by it
	lists []string // members whose lists of texts are left for that
	free  []string // members in which everything is looked at
}

var (
	// ofBlocks are contents: of results, and of messages to and from a model. What is in pictures and files is not looked at.
	ofBlocks = texts{
		but:  append([]string{"type", "mimeType", "uri", "data", "blob", "role", "id", "toolUseId", "name"}, noWords...),
		free: []string{"structuredContent", "input"},
	}

	ofResult = texts{
		but:  append([]string{"type", "mimeType", "uri", "data", "blob", "role", "nextCursor"}, noWords...),
		free: []string{"structuredContent"},
	}

	// ofDefinition is what a list says of a tool or a prompt, and schemas.
	ofDefinition = texts{
		but: slices.Concat([]string{"name", "src", "mimeType", "taskSupport"}, ofSchema, noWords),
		// What a model or a user chooses from has to be what the server knows.
		lists: []string{"enum", "required", "type", "audience", "sizes"},
	}

	// ofResource is what a list says of a resource or a template. Its name is for people: programs go by the address.
	ofResource = texts{
		but:   append([]string{"uri", "uriTemplate", "mimeType", "src"}, noWords...),
		lists: []string{"audience", "sizes"},
	}

	// ofNotice is progress and logs.
	ofNotice = texts{but: []string{mcp.MetaProgressToken, "level", "taskId"}, free: []string{"data"}}

	// ofMeta are the metadata of a question, and of a task.
	ofMeta = texts{but: []string{mcp.MetaProgressToken, "taskId"}}
)

// ofSchema are members of schemas that are no words.
var ofSchema = []string{"type", "format", "pattern", "const", "contentEncoding", "contentMediaType", "x-mcp-header", "$schema", "$id", "$ref", "$anchor", "$dynamicRef", "$dynamicAnchor"}

// noWords are members that many things have: when it was changed, and the address of a tool's page in metadata, under each of its
// names; see package bridge.
var noWords = []string{"lastModified", "resourceUri", "ui/resourceUri", "openai/outputTemplate"}

// values masks the texts of a JSON value. All other tokens, white space and the names of members stay as they are.
func (w *redaction) values(raw json.RawMessage, of texts) json.RawMessage {
	out := make([]byte, 0, len(raw))
	var inside []byte // the containers that are open
	var name []byte   // the member that a value is of
	free := 0         // the depth of a member in which everything is looked at; 0 outside
	key := false
	for i := 0; i < len(raw); {
		c := raw[i]
		switch c {
		case '{', '[':
			inside = append(inside, c)
			if key = c == '{'; free == 0 && named(name, of.free) {
				free = len(inside)
			}
		case '}', ']':
			if len(inside) == free {
				free = 0
			}
			inside = inside[:max(len(inside)-1, 0)]
			key, name = false, nil
		case ',':
			key = isIn(inside, '{')
		case ':':
			key = false
		case '"':
			end := pastString(raw, i)
			token := raw[i:end]
			switch {
			case key:
				name = token
			case free == 0 && (isIn(inside, '{') && named(name, of.but) || isIn(inside, '[') && named(name, of.lists)):
			default:
				token = w.token(token)
			}
			out = append(out, token...)
			i = end
			continue
		}
		out = append(out, c)
		i++
	}
	return out
}

// isIn tells what is open innermost.
func isIn(inside []byte, c byte) bool { return len(inside) > 0 && inside[len(inside)-1] == c }

func named(token []byte, names []string) bool {
	if len(names) == 0 {
		return false
	}
	name, _ := jsonrpc.Text(token)
	return slices.Contains(names, name)
}

// token masks one text.
func (w *redaction) token(token []byte) []byte {
	text, ok := jsonrpc.Text(token)
	if !ok {
		return token
	}
	if now := w.text(text); now != text {
		return jsonrpc.AppendString(nil, now)
	}
	return token
}

// pastString is the place behind a string that begins at i.
func pastString(raw []byte, i int) int {
	for i++; i < len(raw); i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(raw)
}

// members masks the members of an object, each in its own way. An edit answers what it is given where nothing is to change, so
// that all other bytes stay. What should be an object and is none is looked at as a whole.
func (w *redaction) members(obj json.RawMessage, edit func(name string, value json.RawMessage) json.RawMessage) json.RawMessage {
	if len(obj) > 0 && !jsonrpc.IsObject(obj) {
		return w.values(obj, texts{})
	}
	out := obj
	for name, value := range jsonrpc.Members(obj) {
		if now := edit(name, value); string(now) != string(value) {
			out = jsonrpc.With(nil, out, name, now)
		}
	}
	return out
}

// fault masks an error. One that demands pages is a question; see [questions.pages].
func (w *redaction) fault(f *mcp.Error) *mcp.Error {
	var of texts
	if _, missing := f.ResourceData(); missing {
		of.but = []string{"uri"}
	}
	shown := *f
	shown.Message, shown.Data = w.text(f.Message), w.values(f.Data, of)
	if len(w.found) == 0 {
		return f
	}
	return &shown
}
