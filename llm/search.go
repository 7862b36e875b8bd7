package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/rialto-mcp/rialto/mcp"
)

// Search finds tools by words in their names, titles, descriptions and parameters, the best first, at most so many. Words
// are compared without case, parted also in snake_case and camelCase. It covers the tools that WithSearch keeps out of sight
// and those that the API has no room for; they can be called in a set made by WithSearch.
func (s *Set) Search(query string, most int) (out []Tool) {
	found := s.index().Search(query)
	for _, i := range found[:min(len(found), max(most, 0))] {
		out = append(out, s.all[i].Tool)
	}
	return out
}

// The tools of a set made by WithSearch.
const (
	SearchTool = "search_tools"
	CallTool   = "call_tool"
)

// WithSearch is a set for lists that are too large to be sent whole: the model gets two tools instead, one that finds tools
// by words and one that calls what was found, and the tools that fit one of the patterns of keep (see Options.Allow) as
// before. The definitions stay the same whatever is found, so that prompt caches hold.
//
// Everything in the set can be called, by CallTool or by its name, and that includes the tools that [Tools] has skipped
// because the API takes no more. A tool of a server with the name of one of the two gets another, with a digest.
func (s *Set) WithSearch(keep ...string) *Set {
	out := &Set{opts: s.opts, source: s.source, byName: map[string]*bound{}, skipped: slices.Clone(s.skipped), search: true}
	own := []*bound{
		out.own(SearchTool, "Finds tools by words. Returns names, descriptions and the schemas of their arguments; call them with "+CallTool+".",
			`{"type":"object","properties":{"query":{"type":"string","description":"What the tool should do, in a few words"},"limit":{"type":"integer","minimum":1,"maximum":20,"description":"How many tools to return, 5 if absent"}},"required":["query"]}`, out.answerSearch),
		out.own(CallTool, "Calls a tool that "+SearchTool+" has found.",
			`{"type":"object","properties":{"name":{"type":"string","description":"The tool's name"},"arguments":{"type":"object","description":"What the tool's schema asks for","properties":{},"additionalProperties":true}},"required":["name"]}`, out.relay),
	}
	for _, b := range s.all {
		out.keep(b, keep)
	}
	for _, b := range own {
		if b != nil {
			out.listed = append(out.listed, b.Tool)
		}
	}
	out.finish()
	return out
}

// own makes a tool that is answered here; nil where the profile takes not even that.
func (s *Set) own(name, description, input string, run func(ctx context.Context, call Call, args json.RawMessage) Result) *bound {
	l := Listed{Tool: mcp.Tool{Name: name, Description: description, InputSchema: json.RawMessage(input)}}
	b, err := s.opts.bind(l, s.opts.Profile.Name("", name), false)
	if err != nil {
		s.skip("", name, err)
		return nil
	}
	b.own, b.ReturnDirect = run, false
	s.byName[b.Name] = b
	return b
}

// keep takes a tool over into a set with a search, listed where a pattern fits and there is room.
func (s *Set) keep(b *bound, patterns []string) {
	if taken := s.byName[b.Name]; taken != nil {
		other := *b
		other.Name = s.opts.Profile.marked(b.Server, b.Original)
		other.Tokens = other.estimate()
		if b = &other; s.byName[b.Name] != nil {
			s.skip(b.Server, b.Original, errors.New("its name is needed for the search"))
			return
		}
	}
	s.byName[b.Name] = b
	s.all = append(s.all, b)
	most := s.opts.Profile.ToolsMax
	switch {
	case !Fits(patterns, b.Server, b.Original):
	case most > 0 && len(s.listed) >= most-2:
		s.over = append(s.over, Skipped{b.Server, b.Original, fmt.Errorf("the API takes %d tools at most; it can be found by a search", most)})
	default:
		s.listed = append(s.listed, b.Tool)
	}
}

type found struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Arguments   json.RawMessage `json:"arguments"`
}

// answerSearch runs SearchTool.
func (s *Set) answerSearch(_ context.Context, call Call, args json.RawMessage) Result {
	in := struct {
		Query string `json:"query"`
		Limit int    `json:"limit"`
	}{Limit: 5}
	if err := json.Unmarshal(args, &in); err != nil {
		return s.failed(call, "The query must be a text and the limit a whole number.", nil)
	}
	all := []found{}
	for _, t := range s.Search(in.Query, in.Limit) {
		all = append(all, found{t.Name, t.Description, t.Input})
	}
	for len(all) > 0 {
		raw, err := json.Marshal(map[string]any{"tools": all})
		if err != nil {
			return s.failed(call, "The tools cannot be written down.", err)
		}
		if len(raw) <= s.opts.MaxTextBytes || s.opts.MaxTextBytes < 0 {
			return s.result(call, mcp.TextResult(string(raw)))
		}
		all = all[:len(all)-1] // the last is the least fitting
	}
	return s.result(call, mcp.TextResult("No tool fits these words. Try others, or fewer."))
}

// relay runs the tool that CallTool names, as if it had been called itself.
func (s *Set) relay(ctx context.Context, call Call, args json.RawMessage) Result {
	var in struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if err := json.Unmarshal(args, &in); err != nil {
		return s.failed(call, "The name must be a text and the arguments an object.", nil)
	}
	if b := s.byName[in.Name]; b != nil && b.own != nil {
		return s.failed(call, "The name must be that of a tool that was found.", nil)
	}
	r := s.Invoke(ctx, Call{Name: in.Name, Args: in.Arguments})
	r.ID, r.Name = call.ID, call.Name
	return r
}
