package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/llm"
	"github.com/rialto-mcp/rialto/mcp"
)

// tokenCosts is what the definitions of tools cost a model that is shown them.
type tokenCosts struct {
	Tools []tokenCost `json:"tools"`  // the most expensive first
	Total int         `json:"tokens"` // of all together
}

type tokenCost struct {
	Name   string `json:"name"`
	Tokens int    `json:"tokens"` // estimated; name, description and input schema count
}

// costs shows what each tool costs, as package llm would offer it.
func (c *toolsCommand) costs(ctx context.Context, e *environment) error {
	s, err := c.open(ctx, e)
	if err != nil {
		return err
	}
	defer s.close()
	lists, err := s.read(ctx, e, upstream.Tools)
	if err != nil {
		return err
	}
	costs, skipped, err := costsOf(ctx, lists.Tools)
	if err != nil {
		return err
	}
	for _, line := range skipped {
		_, _ = fmt.Fprintln(e.stderr, "rialto: "+clean(line))
	}
	if c.JSON {
		return e.json(costs)
	}
	var rows [][]string
	for _, t := range costs.Tools {
		rows = append(rows, []string{strconv.Itoa(t.Tokens), t.Name})
	}
	if len(rows) > 0 {
		rows = append(rows, []string{strconv.Itoa(costs.Total), "together, by estimate"})
	}
	return e.table(rows, "the server lists no tools")
}

// costsOf estimates the costs of tools, and says which of them no model can be shown, and why.
func costsOf(ctx context.Context, items []upstream.Item) (costs tokenCosts, skipped []string, err error) {
	var tools []mcp.Tool
	for _, item := range items {
		var tool mcp.Tool
		if err := json.Unmarshal(item.Raw, &tool); err != nil {
			skipped = append(skipped, fmt.Sprintf("tool %q is left out, since its definition cannot be read: %v", item.Key, err))
			continue
		}
		tools = append(tools, tool)
	}
	set, err := llm.Tools(ctx, llm.List(tools...), llm.Options{})
	if err != nil {
		return costs, nil, err
	}
	costs.Tools = []tokenCost{}
	for _, t := range set.Tools() {
		costs.Tools = append(costs.Tools, tokenCost{t.Original, t.Tokens})
		costs.Total += t.Tokens
	}
	for _, s := range set.Skipped() {
		skipped = append(skipped, fmt.Sprintf("tool %q is left out, since no model can be shown it: %s", s.Tool, s.Reason))
	}
	slices.SortStableFunc(costs.Tools, func(a, b tokenCost) int { return cmp.Compare(b.Tokens, a.Tokens) })
	return costs, skipped, nil
}
