package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// index finds tools by words: BM25 over name, title, description and the names of parameters, where a word of the name
// counts three times.
type index struct {
	tools   []Tool
	counts  []map[string]float64
	lengths []float64
	mean    float64
	in      map[string]int // how many tools have a word
}

// The constants of BM25 as they are commonly set.
const (
	saturation = 1.2
	lengthPart = 0.75
)

func newIndex(tools []Tool) *index {
	x := &index{tools: tools, in: map[string]int{}}
	total := 0.0
	for _, t := range tools {
		counts := map[string]float64{}
		length := 0.0
		add := func(text string, weight float64) {
			for _, term := range terms(text) {
				counts[term] += weight
				length += weight
			}
		}
		add(t.Original, 3)
		add(t.Server, 1)
		if t.Title != t.Original {
			add(t.Title, 2)
		}
		add(t.Description, 1)
		properties, _ := jsonrpc.Member(t.Input, "properties")
		for name := range jsonrpc.Members(properties) {
			add(name, 1)
		}
		for term := range counts {
			x.in[term]++
		}
		x.counts, x.lengths = append(x.counts, counts), append(x.lengths, length)
		total += length
	}
	x.mean = max(total/float64(max(len(tools), 1)), 1)
	return x
}

// terms splits a text into words: at everything that is no letter or digit, and between small and capital letters.
func terms(text string) []string {
	var out []string
	var word []rune
	end := func() {
		if len(word) > 0 {
			out = append(out, stem(strings.ToLower(string(word))))
			word = word[:0]
		}
	}
	for _, r := range text {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			end()
			continue
		case unicode.IsUpper(r) && len(word) > 0 && unicode.IsLower(word[len(word)-1]):
			end()
		}
		word = append(word, r)
	}
	end()
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

func (x *index) search(query string, most int) []Tool {
	wanted := terms(query)
	slices.Sort(wanted)
	wanted = slices.Compact(wanted)
	scores := map[int]float64{}
	for i, counts := range x.counts {
		for _, term := range wanted {
			n := counts[term]
			if n == 0 {
				continue
			}
			rare := math.Log(1 + (float64(len(x.tools))-float64(x.in[term])+0.5)/(float64(x.in[term])+0.5))
			scores[i] += rare * n * (saturation + 1) / (n + saturation*(1-lengthPart+lengthPart*x.lengths[i]/x.mean))
		}
	}
	found := slices.SortedFunc(maps.Keys(scores), func(a, b int) int {
		return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(a, b))
	})
	var out []Tool
	for _, i := range found[:min(len(found), max(most, 0))] {
		out = append(out, x.tools[i])
	}
	return out
}

// Search finds tools by words in their names, titles, descriptions and parameters, the best first. It covers the tools that
// WithSearch keeps out of sight too.
func (s *Set) Search(query string, most int) []Tool { return s.index().search(query, most) }

// The tools of a set made by WithSearch.
const (
	SearchTool = "search_tools"
	CallTool   = "call_tool"
)

// WithSearch is a set for lists that are too large to be sent whole: the model gets two tools instead, one that finds tools
// by words and one that calls what was found, and the tools that fit one of the patterns of keep (see Options.Allow) as
// before. The definitions stay the same whatever is found, so that prompt caches hold.
//
// Everything in the set can be called, by CallTool or by its name.
func (s *Set) WithSearch(keep ...string) *Set {
	out := &Set{opts: s.opts, source: s.source, byName: maps.Clone(s.byName), skipped: s.skipped}
	for _, t := range s.listed {
		if fits(keep, t.Server, t.Original) {
			out.listed = append(out.listed, t)
		}
	}
	out.own(SearchTool, "Finds tools by words. Returns names, descriptions and the schemas of their arguments; call them with "+CallTool+".",
		`{"type":"object","properties":{"query":{"type":"string","description":"What the tool should do, in a few words"},"limit":{"type":"integer","minimum":1,"maximum":20,"description":"How many tools to return, 5 if absent"}},"required":["query"]}`, s.find)
	out.own(CallTool, "Calls a tool that "+SearchTool+" has found.",
		`{"type":"object","properties":{"name":{"type":"string","description":"The tool's name"},"arguments":{"type":"object","description":"What the tool's schema asks for","properties":{},"additionalProperties":true}},"required":["name"]}`, nil)
	out.finish()
	out.index = s.index
	return out
}

// own adds a tool that is answered here. Its name wins over that of a listed one, which can be found all the same.
func (s *Set) own(name, description, input string, run func(ctx context.Context, args json.RawMessage) *mcp.CallToolResult) {
	l := Listed{Tool: mcp.Tool{Name: name, Description: description, InputSchema: json.RawMessage(input)}}
	o := s.opts
	o.Aliases, o.Strict = nil, nil
	b, err := o.bind(l, false)
	if err != nil { // a profile of a user's own that takes not even this
		s.skip("", name, err)
		return
	}
	if hidden := s.byName[b.Name]; hidden != nil {
		s.listed = slices.DeleteFunc(s.listed, func(t Tool) bool { return t.Name == b.Name })
		s.skip(hidden.Server, hidden.Original, fmt.Errorf("its name is needed for the search"))
	}
	if name == CallTool {
		run = s.relay
	}
	b.own = run
	s.byName[b.Name] = b
	s.listed = append(s.listed, b.Tool)
}

type found struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Arguments   json.RawMessage `json:"arguments"`
}

func (s *Set) find(_ context.Context, args json.RawMessage) *mcp.CallToolResult {
	in := struct {
		Query string `json:"query"`
		Limit int    `json:"limit"`
	}{Limit: 5}
	if err := json.Unmarshal(args, &in); err != nil {
		return mcp.ErrorResult("query must be a text and limit a whole number")
	}
	all := []found{}
	for _, t := range s.Search(in.Query, in.Limit) {
		all = append(all, found{t.Name, t.Description, t.Input})
	}
	if len(all) == 0 {
		return mcp.TextResult("No tool fits these words. Try others, or fewer.")
	}
	raw, err := json.Marshal(map[string]any{"tools": all})
	if err != nil {
		return mcp.ErrorResult("the tools cannot be written down")
	}
	return mcp.TextResult(string(raw))
}

// relay runs the tool that call_tool names.
func (s *Set) relay(ctx context.Context, args json.RawMessage) *mcp.CallToolResult {
	var in struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if err := json.Unmarshal(args, &in); err != nil || in.Name == CallTool || in.Name == SearchTool {
		return mcp.ErrorResult("name must be the name of a tool that was found")
	}
	r := s.Invoke(ctx, Call{Name: in.Name, Args: in.Arguments})
	if r.Full != nil {
		return r.Full
	}
	return mcp.ErrorResult(r.Text())
}
