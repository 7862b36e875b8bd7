package llm

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/rialto-mcp/rialto/jsonrpc"
)

// Index finds tools by words in their names, titles, descriptions and parameters, and in the names of their servers: BM25, where
// a word of the name counts three times. Words are compared without case, parted also in snake_case and camelCase. It is not
// changed; its methods may be called concurrently.
type Index struct {
	lengths []float64 // words of each tool, with their weights
	mean    float64
	places  map[string][]place // where a word is
}

// place is a tool that has a word, and how much of it.
type place struct {
	tool int
	n    float64
}

// The constants of BM25 as they are commonly set.
const (
	saturation = 1.2
	lengthPart = 0.75
)

// NewIndex makes an index of tools, which are not kept.
func NewIndex(tools []Listed) *Index {
	x := &Index{places: map[string][]place{}}
	total := 0.0
	for i, l := range tools {
		t := l.Tool
		counts := map[string]float64{}
		length := 0.0
		add := func(text string, weight float64) {
			for _, term := range terms(text) {
				counts[term] += weight
				length += weight
			}
		}
		add(t.Name, 3)
		add(l.Server, 1)
		if t.Title != t.Name {
			add(t.Title, 2)
		}
		add(t.Description, 1)
		properties, _ := jsonrpc.Member(t.InputSchema, "properties")
		for name := range jsonrpc.Members(properties) {
			add(name, 1)
		}
		for term, n := range counts {
			x.places[term] = append(x.places[term], place{i, n})
		}
		x.lengths = append(x.lengths, length)
		total += length
	}
	x.mean = max(total/float64(max(len(tools), 1)), 1)
	return x
}

// Search gives the places of the tools that fit a query, in what the index was made of, the best first. Equal queries give equal
// places. It costs as much as the words of the query are common.
func (x *Index) Search(query string) []int {
	wanted := terms(query) // in their order, so that equal queries add up to equal scores
	slices.Sort(wanted)
	scores := map[int]float64{}
	for _, term := range slices.Compact(wanted) {
		places := x.places[term]
		in := float64(len(places))
		rare := math.Log(1 + (float64(len(x.lengths))-in+0.5)/(in+0.5))
		for _, p := range places {
			scores[p.tool] += rare * p.n * (saturation + 1) / (p.n + saturation*(1-lengthPart+lengthPart*x.lengths[p.tool]/x.mean))
		}
	}
	return slices.SortedFunc(maps.Keys(scores), func(a, b int) int {
		return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(a, b))
	})
}

// terms splits a text into words: at everything that is no letter, mark or digit, and where capital letters begin a word in
// camel case. Scripts that do not part words give their characters two by two, and single ones where they stand alone.
func terms(text string) []string {
	var out []string
	var word []rune
	end := func() {
		if len(word) > 0 {
			out = append(out, stem(strings.ToLower(string(word))))
			word = word[:0]
		}
	}
	runes := []rune(text)
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		switch {
		case unparted(r):
			end()
			from := i
			for i+1 < len(runes) && (unparted(runes[i+1]) || unicode.IsMark(runes[i+1])) {
				i++
			}
			out = append(out, pairs(runes[from:i+1])...)
			continue
		case !unicode.IsLetter(r) && !unicode.IsDigit(r) && !(unicode.IsMark(r) && len(word) > 0):
			end()
			continue
		case unicode.IsUpper(r) && len(word) > 0 && (!unicode.IsUpper(word[len(word)-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			end() // fileName, S3Upload; HTTPServer before its S
		}
		word = append(word, r)
	}
	end()
	return out
}

// unparted tells whether a character is of a script that has no spaces between words.
func unparted(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

func pairs(run []rune) []string {
	if len(run) == 1 {
		return []string{string(run)}
	}
	var out []string
	for i := range len(run) - 1 {
		out = append(out, string(run[i:i+2]))
	}
	return out
}

// stem takes the commonest endings of English off, so that "files" finds "file".
func stem(word string) string {
	for _, ending := range []struct{ old, fresh string }{{"ies", "y"}, {"sses", "ss"}, {"ing", ""}, {"s", ""}} {
		if len(word) > len(ending.old)+2 && strings.HasSuffix(word, ending.old) && !strings.HasSuffix(word, "ss") {
			return strings.TrimSuffix(word, ending.old) + ending.fresh
		}
	}
	return word
}
