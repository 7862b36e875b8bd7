package llm

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rialto-mcp/rialto/mcp"
)

// PartKind says what a part is.
type PartKind string

// The kinds.
const (
	TextPart  PartKind = "text"
	ImagePart PartKind = "image"
	AudioPart PartKind = "audio"
	FilePart  PartKind = "file" // bytes of another type: a PDF, say
)

// Part is one piece of what a model is shown.
type Part struct {
	Kind PartKind
	Text string // of a text part

	MIME string // of the others: lower case, without parameters
	Data []byte
	Name string // a file name, or what the server calls it; may be empty
	URI  string // where the server has it; may be empty
}

// Placeholder is the line that stands for a part in an API that cannot carry it. It never holds the bytes.
func (p Part) Placeholder(note string) string {
	if p.Kind == TextPart {
		return p.Text
	}
	name := ""
	if p.Name != "" {
		name = p.Name + ", "
	}
	return fmt.Sprintf("[%s%s, %s, %s]", name, p.MIME, size(len(p.Data)), note)
}

func size(n int) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%d KiB", (n+512)>>10)
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}

func textOf(parts []Part) string {
	var lines []string
	for _, p := range parts {
		lines = append(lines, p.Placeholder("not shown"))
	}
	return strings.Join(lines, "\n")
}

// parts turns the content of a result into what a model is shown: content first, structured content where content does not
// say the same in words, and never nothing.
func (o *Options) parts(content []mcp.Content, structured json.RawMessage) []Part {
	var out []Part
	spoken := false
	for _, block := range content {
		for _, p := range o.block(block) {
			if p.Kind == TextPart {
				if strings.TrimSpace(p.Text) == "" {
					continue
				}
				_, isText := block.(*mcp.TextContent)
				spoken = spoken || isText
			}
			out = append(out, p)
		}
	}
	if structured != nil && !spoken {
		out = append(out, Part{Kind: TextPart, Text: compact(structured)})
	}
	out = o.bounded(out)
	if len(out) == 0 {
		out = append(out, Part{Kind: TextPart, Text: "(no output)"})
	}
	return out
}

func compact(raw json.RawMessage) string {
	v := jsontext.Value(slices.Clone(raw))
	if err := v.Compact(); err != nil {
		return string(raw)
	}
	return string(v)
}

// block turns one block into parts.
func (o *Options) block(block mcp.Content) []Part {
	if o.HideUserContent && forUserAlone(block) {
		return nil
	}
	switch c := block.(type) {
	case *mcp.TextContent:
		return words(c.Text)
	case *mcp.ImageContent:
		return []Part{media(c.MIMEType, c.Data, "", "")}
	case *mcp.AudioContent:
		return []Part{media(c.MIMEType, c.Data, "", "")}
	case *mcp.ResourceLink:
		return words(linkText(c))
	case *mcp.EmbeddedResource:
		return contents(&c.Resource)
	case *mcp.UnknownContent:
		if p, ok := readable(c); ok {
			return []Part{p}
		}
		return words(fmt.Sprintf("[content of type %q, %s, not shown]", c.Type, size(len(c.Raw))))
	}
	if block == nil {
		return nil // of a source of a user's own
	}
	return words(fmt.Sprintf("[content of type %q, not shown]", block.ContentType()))
}

func words(text string) []Part {
	return []Part{{Kind: TextPart, Text: strings.ToValidUTF8(text, "\uFFFD")}}
}

func forUserAlone(block mcp.Content) bool {
	var a *mcp.Annotations
	switch c := block.(type) {
	case *mcp.TextContent:
		a = c.Annotations
	case *mcp.ImageContent:
		a = c.Annotations
	case *mcp.AudioContent:
		a = c.Annotations
	case *mcp.ResourceLink:
		a = c.Annotations
	case *mcp.EmbeddedResource:
		a = c.Annotations
	}
	return a != nil && len(a.Audience) == 1 && a.Audience[0] == mcp.RoleUser
}

// linkText names a resource. It is never fetched here: its address may lead anywhere.
func linkText(c *mcp.ResourceLink) string {
	name := c.Title
	if name == "" {
		name = c.Name
	}
	line := fmt.Sprintf("[resource %s: %s", name, c.URI)
	if c.MIMEType != "" {
		line += ", " + c.MIMEType
	}
	if c.Size != nil {
		line += ", " + size(int(*c.Size))
	}
	line += "]"
	if c.Description != "" {
		line += " " + c.Description
	}
	return line
}

// contents turns the contents of a resource into parts: text under its address, bytes as what they are.
func contents(r *mcp.ResourceContents) []Part {
	if r.Blob == nil {
		text, foreign := mcp.Meta(r.Extra).Text("blob")
		if !foreign {
			return words("[resource " + r.URI + "]\n" + r.Text)
		}
		data, ok := foreignBase64(text)
		if !ok {
			return words(fmt.Sprintf("[resource %s, broken, not shown]", r.URI))
		}
		return blob(r, data)
	}
	return blob(r, r.Blob)
}

func blob(r *mcp.ResourceContents, data []byte) []Part {
	p := media(r.MIMEType, data, fileName(r.URI), r.URI)
	if p.Kind == FilePart && isText(p.MIME) && utf8.Valid(data) {
		return words("[resource " + r.URI + "]\n" + string(data))
	}
	return []Part{p}
}

// readable reads a picture or a sound whose base64 is not that of the specification.
func readable(c *mcp.UnknownContent) (Part, bool) {
	if c.Type != mcp.TypeImage && c.Type != mcp.TypeAudio {
		return Part{}, false
	}
	text, _ := mcp.Meta(c.Raw).Text("data")
	data, ok := foreignBase64(text)
	if !ok {
		return Part{}, false
	}
	kind, _ := mcp.Meta(c.Raw).Text("mimeType")
	return media(kind, data, "", ""), true
}

// foreignBase64 reads base64 with line breaks, without padding, or in the alphabet for URLs, all of which servers send.
func foreignBase64(text string) ([]byte, bool) {
	plain := strings.Map(func(r rune) rune {
		switch r {
		case '-':
			return '+'
		case '_':
			return '/'
		case '=', ' ', '\t', '\r', '\n':
			return -1
		}
		return r
	}, text)
	data, err := base64.RawStdEncoding.DecodeString(plain)
	return data, err == nil && len(data) > 0
}

func isText(kind string) bool {
	return strings.HasPrefix(kind, "text/") || kind == "application/json" || strings.HasSuffix(kind, "+json") || kind == "application/xml" || strings.HasSuffix(kind, "+xml") && kind != "image/svg+xml" || kind == "application/yaml"
}

// fileName is the last part of the path of an address, as people write it: "a b.pdf" of file:///x/a%20b.pdf?v=2. It has no
// slashes, whatever is escaped, so that nobody is led out of a folder.
func fileName(uri string) string {
	path, _, _ := strings.Cut(uri, "#")
	path, _, _ = strings.Cut(path, "?")
	name := path[strings.LastIndexByte(path, '/')+1:]
	if plain, err := url.PathUnescape(name); err == nil { // else it is none of an address, and as good as it came
		name = plain[strings.LastIndexAny(plain, `/\`)+1:]
	}
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, ""))
	return cut(name, 100)
}

// mimeType is what a type looks like that is worth believing.
var mimeType = regexp.MustCompile(`^[a-z]{1,20}/[a-z0-9][a-z0-9!#$&^_.+-]{0,99}$`)

// media makes a part of bytes. A type that is missing, or is none, is read off the first bytes.
func media(declared string, data []byte, name, uri string) Part {
	kind, _, err := mime.ParseMediaType(declared)
	if err != nil {
		kind, _, _ = strings.Cut(strings.ToLower(strings.TrimSpace(declared)), ";")
	}
	if kind = strings.TrimSpace(kind); !mimeType.MatchString(kind) {
		kind, _, _ = strings.Cut(http.DetectContentType(data), ";")
	}
	switch kind {
	case "image/jpg":
		kind = "image/jpeg"
	case "audio/mp3":
		kind = "audio/mpeg"
	case "audio/x-wav", "audio/wave", "audio/vnd.wave":
		kind = "audio/wav"
	}
	p := Part{Kind: FilePart, MIME: kind, Data: data, Name: name, URI: uri}
	switch {
	case strings.HasPrefix(kind, "image/"):
		p.Kind = ImagePart
	case strings.HasPrefix(kind, "audio/"):
		p.Kind = AudioPart
	}
	return p
}

// maxMedia bounds how many pictures, sounds and files of one result go to a model: APIs take a hundred or less.
const maxMedia = 100

// bounded cuts what is too much. What was cut is said, once for the text and once for what are too many parts.
func (o *Options) bounded(parts []Part) []Part {
	if o.MaxTextBytes > 0 {
		parts = cutText(parts, o.MaxTextBytes)
	}
	if o.MaxMediaBytes <= 0 {
		return parts
	}
	out, left, seen := parts[:0], o.MaxMediaBytes, 0
	for _, p := range parts {
		if p.Kind == TextPart {
			out = append(out, p)
			continue
		}
		switch seen++; {
		case seen > maxMedia:
			continue
		case len(p.Data) > left:
			p = Part{Kind: TextPart, Text: p.Placeholder("too large, not shown")}
		default:
			left -= len(p.Data)
		}
		out = append(out, p)
	}
	if seen > maxMedia {
		out = append(out, Part{Kind: TextPart, Text: fmt.Sprintf("[%d more pictures, sounds and files, not shown]", seen-maxMedia)})
	}
	return out
}

// cutText keeps so many bytes of text, and says where it has cut how much off.
func cutText(parts []Part, most int) []Part {
	out, at, lost := parts[:0], -1, 0
	for _, p := range parts {
		switch {
		case p.Kind != TextPart:
		case at >= 0:
			lost += len(p.Text)
			continue
		case len(p.Text) > most:
			had := len(p.Text)
			if p.Text = cut(p.Text, most); most == 0 {
				p.Text = ""
			}
			at, lost = len(out), had-len(p.Text)
		default:
			most -= len(p.Text)
		}
		out = append(out, p)
	}
	if at >= 0 {
		out[at].Text += fmt.Sprintf("[cut here: %s more]", size(lost))
	}
	return out
}
