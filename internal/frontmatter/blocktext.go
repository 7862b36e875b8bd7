package frontmatter

import (
	"strings"

	"github.com/rialto-mcp/rialto/jsonrpc"
)

// blockText reads the lines below a | or >.
func (p *parser) blockText(header string, l line, parent int) error {
	style, keep, err := readHeader(header, l.no)
	if err != nil {
		return err
	}
	lines, err := p.textLines(parent)
	if err != nil {
		return err
	}
	end := len(lines)
	for end > 0 && lines[end-1] == "" {
		end--
	}
	text := strings.Join(lines[:end], "\n")
	if style == '>' {
		text = fold(lines[:end])
	}
	switch {
	case keep == '+':
		text += strings.Repeat("\n", len(lines)-end)
		if end > 0 {
			text += "\n"
		}
	case keep == 0 && end > 0:
		text += "\n"
	}
	p.out = jsonrpc.AppendString(p.out, text)
	return nil
}

// readHeader reads the sign of a block text and what is done with the line breaks at its end: '+', '-' or 0.
func readHeader(header string, no int) (style, keep byte, err error) {
	words, _ := cutComment(header)
	switch {
	case len(words) == 1:
		return words[0], 0, nil
	case len(words) == 2 && (words[1] == '+' || words[1] == '-'):
		return words[0], words[1], nil
	}
	return 0, 0, faultf(no, "behind | or > there may be + or -, and nothing else")
}

// textLines takes the lines of a block text without its indentation, blank ones included.
func (p *parser) textLines(parent int) ([]string, error) {
	var lines []string
	indent, widest := -1, 0
	for ; p.at < len(p.lines); p.at++ {
		l := p.lines[p.at]
		blank := strings.Trim(l.raw, " ") == ""
		if !blank && indent < 0 && l.indent > parent {
			if indent = l.indent; widest > indent {
				return nil, faultf(l.no, "a blank line above has more spaces in front than the text; take them away")
			}
		}
		switch {
		case blank && indent < 0:
			widest = max(widest, len(l.raw))
			lines = append(lines, "")
		case blank:
			lines = append(lines, l.raw[min(indent, len(l.raw)):])
		case indent >= 0 && l.indent >= indent:
			lines = append(lines, l.raw[indent:])
		case l.text == "" || l.text[0] == '\t':
			return nil, faultf(l.no, "a tab cannot indent; use spaces")
		case l.indent > parent && l.text[0] != '#':
			return nil, faultf(l.no, "the line is indented less than the text it belongs to")
		default:
			return lines, nil
		}
	}
	return lines, nil
}

// fold joins lines as > does: a line break becomes a space, a blank line a line break, and lines that are indented
// further keep theirs.
func fold(lines []string) string {
	var text strings.Builder
	blanks, further, begun := 0, false, false
	for _, l := range lines {
		if l == "" {
			blanks++
			continue
		}
		deep := l[0] == ' ' || l[0] == '\t'
		switch {
		case !begun:
			text.WriteString(strings.Repeat("\n", blanks))
		case deep || further:
			text.WriteString(strings.Repeat("\n", blanks+1))
		case blanks > 0:
			text.WriteString(strings.Repeat("\n", blanks))
		default:
			text.WriteByte(' ')
		}
		text.WriteString(l)
		blanks, further, begun = 0, deep, true
	}
	return text.String()
}
