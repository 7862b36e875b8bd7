package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// clean takes out of a server's text what could steer a terminal.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, text)
}

// brief is the first line of a text, cut to a width.
func brief(text string) string {
	const width = 90
	line, _, _ := strings.Cut(strings.TrimSpace(clean(text)), "\n")
	line = strings.ReplaceAll(line, "\t", " ")
	if runes := []rune(line); len(runes) > width {
		return string(runes[:width-3]) + "..."
	}
	return line
}

func (e *environment) print(text string) error {
	_, err := fmt.Fprintln(e.stdout, strings.TrimRight(text, "\n"))
	return err
}

// raw writes a JSON text as one line.
func (e *environment) raw(text json.RawMessage) error {
	_, err := e.stdout.Write(append(jsonrpc.AppendRaw(nil, text), '\n'))
	return err
}

func (e *environment) json(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return e.raw(text)
}

// table writes aligned columns. Without rows it says so on standard error, so that standard output stays data.
func (e *environment) table(rows [][]string, none string) error {
	for _, row := range rows {
		for i := range row {
			row[i] = brief(row[i])
		}
	}
	return e.columns(rows, none)
}

// columns is table for texts of one line, which are shown whole.
func (e *environment) columns(rows [][]string, none string) error {
	if len(rows) == 0 {
		_, err := fmt.Fprintln(e.stderr, none)
		return err
	}
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		_, _ = fmt.Fprintln(w, strings.Join(row, "\t")) // into memory
	}
	_ = w.Flush()
	for line := range strings.Lines(text.String()) {
		if err := e.print(strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}

func text(obj json.RawMessage, name string) string {
	raw, _ := jsonrpc.Member(obj, name)
	s, _ := jsonrpc.Text(raw)
	return s
}

func (e *environment) tools(l *upstream.Lists) error {
	var rows [][]string
	for _, t := range l.Tools {
		schema, _ := jsonrpc.Member(t.Raw, "inputSchema")
		rows = append(rows, []string{t.Key, parameters(schema), text(t.Raw, "description")})
	}
	return e.table(rows, "the server lists no tools")
}

// parameters lists the properties of a schema, those that may be left out in brackets.
func parameters(schema json.RawMessage) string {
	var required []string
	raw, _ := jsonrpc.Member(schema, "required")
	_ = json.Unmarshal(raw, &required) // absent or malformed: none is required
	needed := make(map[string]bool)
	for _, name := range required {
		needed[name] = true
	}
	properties, _ := jsonrpc.Member(schema, "properties")
	var words []string
	for _, name := range propertyNames(properties) {
		if !needed[name] {
			name = "[" + name + "]"
		}
		words = append(words, name)
	}
	return strings.Join(words, " ")
}

func (e *environment) resources(l *upstream.Lists) error {
	var rows [][]string
	for _, items := range [][]upstream.Item{l.Resources, l.Templates} {
		for _, r := range items {
			rows = append(rows, []string{r.Key, text(r.Raw, "name"), text(r.Raw, "mimeType"), text(r.Raw, "description")})
		}
	}
	return e.table(rows, "the server lists no resources")
}

func (e *environment) prompts(l *upstream.Lists) error {
	var rows [][]string
	for _, p := range l.Prompts {
		var args []struct {
			Name     string `json:"name"`
			Required bool   `json:"required"`
		}
		raw, _ := jsonrpc.Member(p.Raw, "arguments")
		_ = json.Unmarshal(raw, &args) // absent or malformed: none is shown
		var words []string
		for _, a := range args {
			if !a.Required {
				a.Name = "[" + a.Name + "]"
			}
			words = append(words, a.Name)
		}
		rows = append(rows, []string{p.Key, strings.Join(words, " "), text(p.Raw, "description")})
	}
	return e.table(rows, "the server lists no prompts")
}

// listsJSON shows lists as the server wrote their entries.
func listsJSON(l *upstream.Lists, kinds upstream.Kinds) json.RawMessage {
	out := []byte{'{'}
	add := func(kind upstream.Kinds, name string, items []upstream.Item) {
		if kinds&kind == 0 {
			return
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(jsonrpc.AppendString(out, name), `:[`...)
		for i, it := range items {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(out, it.Raw...)
		}
		out = append(out, ']')
	}
	add(upstream.Tools, "tools", l.Tools)
	add(upstream.Resources, "resources", l.Resources)
	add(upstream.Templates, "resourceTemplates", l.Templates)
	add(upstream.Prompts, "prompts", l.Prompts)
	return append(out, '}')
}

func (e *environment) discovered(a about) error {
	rows := [][]string{
		{"server", strings.TrimSpace(a.Info.DisplayName() + " " + a.Info.Version)},
		{"revision", a.Version},
		{"capabilities", capabilities(a.Capabilities)},
	}
	if a.Instructions != "" {
		rows = append(rows, []string{"instructions", a.Instructions})
	}
	return e.table(rows, "")
}

func capabilities(c mcp.ServerCapabilities) string {
	var words []string
	for _, x := range []struct {
		has  bool
		name string
	}{
		{c.Tools != nil, "tools"}, {c.Resources != nil, "resources"}, {c.Prompts != nil, "prompts"},
		{c.Completions != nil, "completions"}, {c.Logging != nil, "logging"},
	} {
		if x.has {
			words = append(words, x.name)
		}
	}
	for name := range c.Extensions {
		words = append(words, name)
	}
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, ", ")
}
