package frontmatter

import (
	"strings"

	"github.com/rialto-mcp/rialto/jsonrpc"
)

// line is one line of the block. text lacks the indentation and blanks at the end, raw has all.
type line struct {
	no, indent int
	text, raw  string
}

// parser walks over the lines and appends JSON as it goes.
type parser struct {
	lines []line
	at    int
	out   []byte
}

func (p *parser) document() ([]byte, error) {
	first, err := p.peek()
	switch {
	case err != nil:
		return nil, err
	case first == nil:
		return []byte("{}"), nil
	}
	if _, _, ok, err := cutKey(*first); err != nil || !ok || isItem(first.text) {
		if err == nil {
			err = faultf(first.no, "the front matter must be a list of names and values, such as: name: my-skill")
		}
		return nil, err
	}
	if err := p.mapping(first.indent, 1); err != nil {
		return nil, err
	}
	if left, err := p.peek(); err != nil || left != nil {
		if err == nil {
			err = faultf(left.no, "the line does not go on with what stands above it")
		}
		return nil, err
	}
	return p.out, nil
}

// peek returns the next line that is neither blank nor a comment; nil at the end.
func (p *parser) peek() (*line, error) {
	for ; p.at < len(p.lines); p.at++ {
		l := &p.lines[p.at]
		if l.text == "" || l.text[0] == '#' {
			continue
		}
		if l.text[0] == '\t' {
			return nil, faultf(l.no, "a tab cannot indent; use spaces")
		}
		return l, nil
	}
	return nil, nil
}

func isItem(text string) bool {
	return text == "-" || strings.HasPrefix(text, "- ") || strings.HasPrefix(text, "-\t")
}

// mapping reads the names and values that stand at an indentation.
func (p *parser) mapping(indent, depth int) error {
	seen := map[string]bool{}
	p.out = append(p.out, '{')
	for {
		l, err := p.peek()
		if err != nil {
			return err
		}
		if l == nil || l.indent < indent || l.indent == indent && isItem(l.text) {
			p.out = append(p.out, '}')
			return nil
		}
		if l.indent > indent {
			return faultf(l.no, "the line is indented more than the names around it")
		}
		key, rest, ok, err := cutKey(*l)
		switch {
		case err != nil:
			return err
		case !ok:
			return faultf(l.no, "a name, a colon and a space are expected here")
		case seen[key]:
			return faultf(l.no, "%.60q stands here a second time", key)
		case len(seen) > 0:
			p.out = append(p.out, ',')
		}
		seen[key] = true
		p.out = append(jsonrpc.AppendString(p.out, key), ':')
		p.at++
		if err := p.value(rest, *l, indent, depth, true); err != nil {
			return err
		}
	}
}

// sequence reads the items that stand at an indentation.
func (p *parser) sequence(indent, depth int) error {
	p.out = append(p.out, '[')
	for n := 0; ; n++ {
		l, err := p.peek()
		if err != nil {
			return err
		}
		if l == nil || l.indent < indent || l.indent == indent && !isItem(l.text) {
			p.out = append(p.out, ']')
			return nil
		}
		if l.indent > indent {
			return faultf(l.no, "the line is indented more than the items around it")
		}
		if n > 0 {
			p.out = append(p.out, ',')
		}
		if err := p.item(*l, depth); err != nil {
			return err
		}
	}
}

// item reads what stands behind a dash.
func (p *parser) item(l line, depth int) error {
	rest := strings.TrimLeft(l.text[1:], " ")
	if strings.HasPrefix(rest, "\t") {
		return faultf(l.no, "a tab cannot indent; use spaces")
	}
	inner := l
	inner.indent, inner.text = l.indent+len(l.text)-len(rest), rest
	_, _, named, err := cutKey(inner)
	if err != nil {
		return err
	}
	if rest == "" || !named && !isItem(rest) {
		p.at++
		return p.value(rest, l, l.indent, depth, false)
	}
	p.lines[p.at] = inner // the rest of the line is the first of what it holds
	return p.block(inner.indent, depth+1)
}

// block reads the mapping, list or words that begin on the next line.
func (p *parser) block(indent, depth int) error {
	l, err := p.peek()
	if err != nil {
		return err
	}
	if depth > maxDepth {
		return faultf(l.no, "values nest deeper than %d levels", maxDepth)
	}
	if isItem(l.text) {
		return p.sequence(indent, depth)
	}
	_, _, named, err := cutKey(*l)
	if err != nil {
		return err
	}
	if named {
		return p.mapping(indent, depth)
	}
	if l.text[0] == '|' || l.text[0] == '>' {
		return faultf(l.no, "%q must stand on the line of the name it belongs to", l.text[0])
	}
	p.at++
	return p.value(l.text, *l, indent-1, depth, false)
}

// value reads what stands behind a name or a dash, and the lines that belong to it: those indented more than parent. The
// items of a list under a name may stand right below the name.
func (p *parser) value(rest string, l line, parent, depth int, named bool) error {
	if rest == "" || rest[0] == '#' {
		next, err := p.peek()
		switch {
		case err != nil:
			return err
		case next != nil && next.indent > parent:
			return p.block(next.indent, depth+1)
		case next != nil && named && next.indent == parent && isItem(next.text):
			return p.sequence(parent, depth+1)
		}
		p.out = append(p.out, "null"...)
		return nil
	}
	switch rest[0] {
	case '|', '>':
		return p.blockText(rest, l, parent)
	case '"', '\'', '[', '{':
		f := flow{text: rest, no: l.no, out: p.out}
		if err := f.value(depth + 1); err != nil {
			return err
		}
		if err := f.end(); err != nil {
			return err
		}
		p.out = f.out
		return p.nothingMore(l, parent)
	}
	return p.plain(rest, l, parent)
}

// nothingMore refuses lines that would go on with a value that has ended.
func (p *parser) nothingMore(l line, parent int) error {
	next, err := p.peek()
	if err == nil && next != nil && next.indent > parent {
		err = faultf(next.no, "the value of line %d has ended there", l.no)
	}
	return err
}

// plain reads words without quotes, which may go on in the lines below.
func (p *parser) plain(rest string, l line, parent int) error {
	if err := checkStart(rest, l.no); err != nil {
		return err
	}
	first, commented := cutComment(rest)
	if err := checkPlain(first, l.no); err != nil {
		return err
	}
	var words strings.Builder
	words.WriteString(first)
	for blanks := 0; p.at < len(p.lines); p.at++ {
		next := p.lines[p.at]
		if next.text == "" && !strings.Contains(next.raw, "\t") {
			blanks++
			continue
		}
		if next.text == "" {
			return faultf(next.no, "a tab stands on a blank line")
		}
		if next.indent <= parent || next.text[0] == '#' {
			break
		}
		if next.text[0] == '\t' || commented {
			return faultf(next.no, "put quotes around a value that goes on behind a comment or a tab")
		}
		var more string
		more, commented = cutComment(next.text)
		if err := checkPlain(more, next.no); err != nil {
			return err
		}
		if blanks == 0 {
			words.WriteByte(' ')
		}
		words.WriteString(strings.Repeat("\n", blanks))
		words.WriteString(more)
		blanks = 0
	}
	out, err := appendPlain(p.out, words.String(), l.no)
	p.out = out
	if err == nil {
		err = p.nothingMore(l, parent)
	}
	return err
}
